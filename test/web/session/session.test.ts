import { expect, test } from "bun:test";
import { ApiError } from "../../../src/web/api/api-error.ts";
import { Session } from "../../../src/web/session/session.ts";

const FACTS = { app_id: "fleet", key_id: "k_1", permissions: ["read"], view: null, expires: null };

/** A session whose server says what comes next in the list, or fails with it. */
function setUp(...answers: readonly unknown[]) {
  const sent: unknown[] = [];
  const next = async <Body>(method: string, body?: unknown): Promise<Body> => {
    sent.push(body === undefined ? method : [method, body]);
    const answer = answers[sent.length - 1];
    if (answer instanceof Error) throw answer;
    return answer as Body;
  };
  const api = {
    onSignedOut() {},
    get: <Body>() => next<Body>("GET"),
    send: <Body>(method: string, _path: string, body?: unknown) => next<Body>(method, body),
  };
  const states: string[] = [];
  const session = new Session(api, () => states.push(session.state));
  return { session, api, sent, states };
}

test("goes on with the session of the cookie, where there is one", async () => {
  const { session, states } = setUp({ session: FACTS });
  await session.begin(null);
  expect([session.facts?.key_id, session.may("read"), session.may("write")]).toEqual(["k_1", true, false]);
  expect(states).toEqual(["in"]);
  const nobody = setUp({ session: null });
  await nobody.session.begin(null);
  expect([nobody.session.state, nobody.session.fault]).toEqual(["out", null]);
});

test("signs in by what a link has, and says why it did not", async () => {
  const { session, sent } = setUp(new ApiError(401, "the link has been used"), FACTS);
  await session.begin({ code: "c1.x" });
  expect([session.state, session.fault]).toEqual(["out", "the link has been used"]);
  await session.signIn({ key: "wh_x" });
  expect([session.state, session.fault]).toEqual(["in", null]);
  expect(sent).toEqual([
    ["POST", { code: "c1.x" }],
    ["POST", { key: "wh_x" }],
  ]);
});

test("a session that the server ends shows nothing any more, and says so", async () => {
  const { session, api } = setUp({ session: FACTS });
  await session.begin(null);
  api.onSignedOut();
  expect([session.state, session.facts]).toEqual(["out", null]);
  expect(session.fault).toStartWith("You are signed out");
});

test("signing out shows nothing any more, also where the server can't be asked for the cookie", async () => {
  const { session } = setUp({ session: FACTS }, {}, FACTS, new ApiError(0, "The server can't be reached."));
  await session.begin(null);
  await session.signOut();
  expect([session.state, session.fault]).toEqual(["out", null]);
  await session.signIn({ key: "wh_x" });
  await session.signOut();
  expect([session.state, session.facts]).toEqual(["out", null]);
  expect(session.fault).toBe(
    "The server can't be reached. This browser is still signed in: load the page again, and sign out then.",
  );
});

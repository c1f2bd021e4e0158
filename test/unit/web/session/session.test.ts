import { expect, test } from "bun:test";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import { Retries } from "../../../../src/web/api/retries.ts";
import { Session } from "../../../../src/web/session/session.ts";

const FACTS = { app_id: "fleet", key_id: "k_1", permissions: ["read"], view: null, expires: null };

const UNREACHED = new ApiError(0, "The server can't be reached.");

function refusal(message: string, name: string | null = null) {
  return new ApiError(401, message, { isOurs: true, name });
}

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
    onSignedOut(_reason: ApiError) {},
    get: <Body>() => next<Body>("GET"),
    send: <Body>(method: string, _path: string, body?: unknown) => next<Body>(method, body),
  };
  const states: string[] = [];
  const waits: string[] = [];
  const session: Session = new Session({
    api,
    retries: new Retries(() => 1),
    changed: () => {
      if (session.waiting === null) states.push(session.state);
      else waits.push(session.waiting.error.message);
    },
  });
  return { session, api, sent, states, waits };
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
  const { session, sent } = setUp(refusal("the link has been used"), FACTS);
  await session.begin({ code: "c1.x" });
  expect([session.state, session.fault]).toEqual(["out", "The link has been used."]);
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
  api.onSignedOut(refusal("the API key was revoked", "REVOKED_API_KEY"));
  expect([session.state, session.facts]).toEqual(["out", null]);
  expect(session.fault).toBe("You are signed out: the key was revoked.");
  expect(session.refusal?.errorName).toBe("REVOKED_API_KEY");
});

test("signing out shows nothing any more, also where the server can't be asked for the cookie", async () => {
  const { session } = setUp({ session: FACTS }, {}, FACTS, UNREACHED);
  await session.begin(null);
  await session.signOut();
  expect([session.state, session.fault]).toEqual(["out", null]);
  await session.signIn({ key: "wh_x" });
  await session.signOut();
  expect([session.state, session.facts]).toEqual(["out", null]);
  expect(session.fault).toBe(
    "The server can't be reached. This browser is still signed in: reload the page and sign out again.",
  );
});

test("who is signed in stays so, whatever happens to the first requests", async () => {
  const passing = [
    UNREACHED,
    ...[502, 404, 401, 429].map((status) => new ApiError(status, `It says ${status}.`)),
  ];
  const { session, states, waits } = setUp(...passing, { session: FACTS });
  await session.begin(null);
  expect(states).toEqual(["in"]);
  expect(waits).toEqual(passing.map(({ message }) => message));
  expect(session.waiting).toBeNull();
});

test("a link's key is sent again until our server has answered", async () => {
  const credential = { share: "wh_x" };
  const { session, sent, states } = setUp(UNREACHED, new ApiError(503, "starting", { isOurs: true }), FACTS);
  await session.begin(credential);
  expect(states).toEqual(["in"]);
  expect(sent).toEqual(Array(3).fill(["POST", credential]));
});

test("a code whose answer was lost has signed in, and is not called used", async () => {
  const used = refusal("the link has been used; it is valid once", "INVALID_CODE");
  const { session, states } = setUp(UNREACHED, used, { session: FACTS });
  await session.begin({ code: "c1.x" });
  expect(states).toEqual(["in"]);
  const nobody = setUp(UNREACHED, used, { session: null });
  await nobody.session.begin({ code: "c1.x" });
  expect([nobody.session.state, nobody.session.fault]).toEqual([
    "out",
    "The link has been used; it is valid once.",
  ]);
});

test("a refusal to sign in ends no session: there was none", async () => {
  const { session, api, states } = setUp({ session: FACTS });
  api.send = () => {
    const used = refusal("the link has been used; it is valid once", "INVALID_CODE");
    api.onSignedOut(used); // As for every 401 of our server.
    return Promise.reject(used);
  };
  await session.begin({ code: "c1.x" });
  expect([states, session.fault]).toEqual([["out"], "The link has been used; it is valid once."]);
});

test("an answer of another kind than ours is none, as of a network that asks to sign in", async () => {
  const { session, states, waits } = setUp({ error: "portal" }, { session: {} }, { session: FACTS });
  await session.begin(null);
  expect([states, waits.length]).toEqual([["in"], 2]);
});

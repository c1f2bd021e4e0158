import { describe, expect, test } from "bun:test";
import { SESSION_MS, Sessions } from "../../../../src/auth/sessions.ts";
import { fail } from "../../../../src/lib/result.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { createTestApp, type KeyName, NOON_MS, VIEWS_FROM_MS, VIEWS_MS } from "../../../support/test-app.ts";
import { BUS, KEYED, keyFor, nameOf, pathTo, READ_PATHS, requestTo } from "../requests.ts";
import { Browser, OF_PAGE, OF_SHARE } from "./browser.ts";

/** Signing in on the map page, and what a session opens. */

/** Of `GET /map/session`. */
interface SessionAnswer {
  readonly session: { readonly permissions: readonly string[] } | null;
}

const ATTRIBUTES = "HttpOnly; SameSite=Strict; Path=/";

describe("POST /map/session", () => {
  test("answers a key with who that is, and with a cookie for 12 hours", async () => {
    const app = await createTestApp();
    const { status, headers, body } = await new Browser(app).signIn({ key: app.keys.full });
    expect(status).toBe(200);
    expect(body as unknown).toEqual({
      app_id: "fleet",
      key_id: expect.stringMatching(/^k_/),
      permissions: ["read", "write", "edit", "manage"],
      device_id: null,
      user_id: null,
      view: null,
      expires: null,
      signed_in_until: NOON_MS + 12 * 3_600_000,
    });
    const shape = new RegExp(
      `^wherehouse_session_[\\w-]{8}=v1\\.${body.key_id}\\.${body.signed_in_until}\\.[\\w-]{43}; Max-Age=43200; ${ATTRIBUTES}$`,
    );
    expect(headers.get("set-cookie")).toMatch(shape);
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test("says what a share link shows, and when it ends", async () => {
    const app = await createTestApp();
    const { body } = await new Browser(app).signIn({ key: app.keys.blurredViewer });
    expect(body).toMatchObject({
      permissions: ["view"],
      view: { device_ids: ["bus", "ferry"], not_before: VIEWS_FROM_MS, precision_meters: 500 },
      expires: NOON_MS + VIEWS_MS,
    });
  });

  test("gives a cookie that goes by https alone where the request came by it", async () => {
    const app = await createTestApp();
    const cookieBy = async (headers: Record<string, string>) => {
      const answer = await new Browser(app).signIn({ key: app.keys.full }, { ...OF_PAGE, ...headers });
      return answer.headers.get("set-cookie");
    };
    expect(await cookieBy({ "x-forwarded-proto": "https" })).toEndWith("; Secure");
    expect(await cookieBy({ "x-forwarded-proto": "HTTPS, http" })).toEndWith("; Secure");
    expect(await cookieBy({ "x-forwarded-proto": "https" })).toStartWith("__Host-wherehouse_session_");
    expect(await cookieBy({})).toEndWith("; Path=/");
    expect(await cookieBy({ "x-forwarded-proto": "http, https" })).toEndWith("; Path=/");
  });

  test("takes no key but a share link's behind a link: others are typed by who has them", async () => {
    const app = await createTestApp();
    for (const name of ["full", "reader", "writer"] as const) {
      const browser = new Browser(app);
      const { status, body } = await browser.signIn({ share: app.keys[name] }, OF_SHARE);
      expect([status, body.code, browser.cookie]).toEqual([403, "AUTH_005", null]);
    }
    const { status, body } = await new Browser(app).signIn({ share: app.keys.viewer }, OF_SHARE);
    expect([status, body.permissions]).toEqual([200, ["view"]]);
    const both = await new Browser(app).signIn({ share: app.keys.viewer, key: app.keys.full }, OF_SHARE);
    expect(both.status).toBe(400);
  });

  test("takes a link's key on the page that links lead to alone, and nothing else there", async () => {
    const app = await createTestApp();
    const elsewhere: readonly (readonly [body: unknown, headers: Readonly<Record<string, string>>])[] = [
      [{ share: app.keys.viewer }, OF_PAGE],
      [{ key: app.keys.viewer }, OF_SHARE],
      [{ code: "c1.x" }, OF_SHARE],
    ];
    for (const [body, headers] of elsewhere) {
      const browser = new Browser(app);
      expect([(await browser.signIn(body, headers)).status, browser.cookie]).toEqual([400, null]);
    }
  });

  test.each([
    ["an unknown key", "wh_unknown", 401, "AUTH_002"],
    ["a revoked one", "revoked", 401, "AUTH_003"],
    ["one that shows nothing", "writer", 403, "AUTH_005"],
    ["one of the operator", "operator", 403, "AUTH_005"],
  ] as const)("refuses %s", async (_, name, status, code) => {
    const app = await createTestApp();
    const key = name in app.keys ? app.keys[name as "writer"] : name;
    const answer = await new Browser(app).signIn({ key });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.headers.get("set-cookie")).toBeNull();
  });

  test.each([
    ["no JSON", "{", 400],
    ["no object", "[]", 400],
    ["no key", {}, 400],
    ["a key that is no text", { key: 1 }, 400],
    ["more than 8 KiB", { key: "x".repeat(9000) }, 413],
  ])("refuses a body with %s", async (_, body, status) => {
    const app = await createTestApp();
    expect((await new Browser(app).signIn(body)).status).toBe(status);
  });

  test("is a 503 where nothing can sign a session, and what has a session then is nobody's", async () => {
    const clock = createManualClock(NOON_MS);
    const refresh = async () => {};
    const keys = { findById: () => ({ kind: "unknown" }) as const, refresh };
    const obtain = async () => fail({ kind: "file_damaged", file: "session-secret", reason: "cut" } as const);
    const sessions = new Sessions({ secret: { signer: null, obtain, refresh }, keys, clock });
    const app = await createTestApp({ clock, sessions });
    const browser = new Browser(app);
    const { status, headers, body } = await browser.signIn({ key: app.keys.full });
    expect([status, headers.get("retry-after")]).toEqual([503, "5"]);
    expect(body.message).toBe("sign-in is not possible now; the server's log says why");
    expect((await browser.signIn({ code: "c1.x" })).status).toBe(401);
    browser.cookie = (await Browser.signedIn(await createTestApp())).cookie;
    expect((await browser.get(READ_PATHS.appCurrent)).body.code).toBe("AUTH_001");
  });

  test("refuses another type of body, which a form of another site can send", async () => {
    const app = await createTestApp();
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
      const headers = { ...OF_PAGE, "content-type": type };
      const { status, headers: sent } = await new Browser(app).signIn({ key: app.keys.full }, headers);
      expect([status, sent.get("set-cookie")]).toEqual([415, null]);
    }
  });
});

describe("POST /map/session with a code", () => {
  async function withCode(key: KeyName = "full", afterMs = 0) {
    const app = await createTestApp();
    app.clock.advance(afterMs);
    const signedIn = await new Browser(app).signIn({ key: app.keys[key] });
    const made = await app.sessions.createCode(String(signedIn.body.key_id));
    if (!made.ok) throw new Error(made.error.kind);
    const code = made.value;
    const outcome = async () => {
      const { status, body } = await new Browser(app).signIn({ code });
      return status === 200 ? body.key_id : [status, body.code, body.message];
    };
    return { app, code, keyId: signedIn.body.key_id, outcome };
  }

  test("signs in once, as its key", async () => {
    const { keyId, outcome } = await withCode("viewer");
    expect(await outcome()).toBe(keyId);
    const used = "the link has been used; it is valid once; keys link makes another";
    expect(await outcome()).toEqual([401, "AUTH_011", used]);
  });

  test("signs nobody in after ten minutes", async () => {
    const { app, outcome } = await withCode();
    app.clock.advance(10 * 60_000);
    const old =
      "the link has expired; it is valid for 10 minutes, and not after a restart of the server; keys link makes another";
    expect(await outcome()).toEqual([401, "AUTH_011", old]);
  });

  test("signs nobody in as a key that has ended meanwhile", async () => {
    const { app, outcome } = await withCode("expiring", 59 * 60_000);
    app.clock.advance(60_000);
    expect(await outcome()).toEqual([401, "AUTH_004", "the API key has expired"]);
  });

  test("is one or the other, and known", async () => {
    const { app, code } = await withCode();
    const both = await new Browser(app).signIn({ code, key: app.keys.full });
    expect([both.status, both.body.message]).toEqual([400, expect.stringMatching(/^the body must be/)]);
    const cut = await new Browser(app).signIn({ code: code.slice(0, -1) });
    expect([cut.status, cut.body.message]).toEqual([
      401,
      "the link's code is not known; keys link makes another",
    ]);
    const session = (await Browser.signedIn(app)).cookie!.split("=")[1]!;
    expect((await new Browser(app).signIn({ code: session })).status).toBe(401);
    const asCookie = new Browser(app);
    asCookie.cookie = `${(await Browser.signedIn(app)).cookie!.split("=")[0]}=${code}`;
    expect((await asCookie.get("/map/session")).body as unknown).toEqual({ session: null });
  });
});

describe("GET /map/session", () => {
  test("says again who is signed in", async () => {
    const app = await createTestApp();
    const browser = new Browser(app);
    const { body } = await browser.signIn({ key: app.keys.viewer });
    const again = await browser.get("/map/session");
    expect([again.status, again.body as unknown]).toEqual([200, { session: body }]);
  });

  test("is null where nobody is, or no longer, and a 403 to who is not our page", async () => {
    const app = await createTestApp();
    const browser = await Browser.signedIn(app, "expiring");
    const stranger = await new Browser(app).get("/map/session", {});
    expect([stranger.status, stranger.body.code]).toEqual([403, "AUTH_010"]);
    app.clock.advance(3_600_000);
    for (const nobody of [new Browser(app), browser]) {
      const { status, body } = await nobody.get("/map/session");
      expect([status, body as unknown]).toEqual([200, { session: null }]);
    }
  });

  test("answers while the service starts", async () => {
    const app = await createTestApp();
    app.setReadiness({ status: "starting", replayed: 1, total: 2 });
    const browser = await Browser.signedIn(app);
    expect((await browser.get("/map/session")).body).toHaveProperty("session.app_id", "fleet");
  });
});

test("DELETE /map/session takes the cookie back", async () => {
  const app = await createTestApp();
  const browser = await Browser.signedIn(app);
  const { status, headers } = await browser.send("DELETE", "/map/session");
  expect(status).toBe(200);
  expect(headers.get("set-cookie")).toMatch(/^wherehouse_session_[\w-]{8}=; Max-Age=0; HttpOnly/);
  expect((await browser.get("/map/session")).body as unknown).toEqual({ session: null });
  expect((await new Browser(app).send("DELETE", "/map/session")).status).toBe(200);
});

test("the session of a share link stands beside one's own, and each counts on its page alone", async () => {
  const app = await createTestApp();
  const own = await Browser.signedIn(app, "full");
  const guest = new Browser(app);
  await guest.signIn({ share: app.keys.viewer }, OF_SHARE);
  const browser = new Browser(app);
  browser.cookie = `${own.cookie}; ${guest.cookie}`;
  const permissionsOn = async (page: typeof OF_PAGE | typeof OF_SHARE) => {
    const { body } = await browser.get("/map/session", page);
    return (body as unknown as SessionAnswer).session?.permissions;
  };
  expect([await permissionsOn(OF_PAGE), await permissionsOn(OF_SHARE)]).toEqual([
    ["read", "write", "edit", "manage"],
    ["view"],
  ]);
  expect((await browser.get(READ_PATHS.nearby, OF_PAGE)).status).toBe(200);
  expect((await browser.get(READ_PATHS.nearby, OF_SHARE)).status).toBe(403);
  for (const [name, page] of [
    [own.cookie!.split("=")[0], OF_PAGE],
    [guest.cookie!.split("=")[0], OF_SHARE],
  ] as const) {
    const { headers } = await browser.send("DELETE", "/map/session", undefined, page);
    expect(headers.get("set-cookie")).toStartWith(`${name}=; Max-Age=0`);
  }
  own.cookie = guest.cookie;
  expect((await own.get("/map/session", OF_PAGE)).body as unknown).toEqual({ session: null });
});

const IMPORTS = "POST /api/v1/imports";

/** What a session opens: questions about its app, and edits, for as long as its key may do these. */
test.each(KEYED.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
  "%s is open to a session where it is a question, an edit, a change of fences, or an import",
  async (_, endpoint) => {
    const app = await createTestApp();
    await app.store([{ ...BUS, timestamp: NOON_MS }]);
    const { cookie } = await Browser.signedIn(
      app,
      endpoint.permission === "read" ? keyFor(endpoint) : "full",
    );
    const asked = await app.fetch(pathTo(endpoint), requestTo(endpoint, { ...OF_PAGE, cookie: cookie! }));
    await asked.body?.cancel();
    const isForPage =
      (endpoint.permission === "read" && endpoint.path.startsWith("/api/v1/")) ||
      endpoint.permission === "edit" ||
      endpoint.permission === "manage" ||
      nameOf(endpoint) === IMPORTS;
    if (isForPage) expect(asked.status).not.toBe(401);
    else expect(asked.status).toBe(401);
  },
);

test("a session counts for what its key may ask", async () => {
  const app = await createTestApp();
  await app.store([{ ...BUS, timestamp: NOON_MS }]);
  const browser = await Browser.signedIn(app, "viewer");
  const current = await browser.get(READ_PATHS.appCurrent);
  expect(current.status).toBe(200);
  expect(current.body).toEqual((await app.get(READ_PATHS.appCurrent, "viewer")).body);
  const nearby = await browser.get(READ_PATHS.nearby);
  expect([nearby.status, nearby.body.code]).toEqual([403, "AUTH_005"]);
});

test("a session edits only if its key has the permission for that", async () => {
  const app = await createTestApp();
  const put = async (browser: Browser, page: typeof OF_PAGE | typeof OF_SHARE = OF_PAGE) => {
    const { status, body } = await browser.send(
      "PUT",
      "/api/v1/devices/bus/profile",
      { name: "Bus 42" },
      page,
    );
    return [status, body.code ?? null];
  };
  expect(await put(await Browser.signedIn(app, "full"))).toEqual([200, null]);
  expect(await put(await Browser.signedIn(app, "reader"))).toEqual([403, "AUTH_005"]);
  const guest = new Browser(app);
  await guest.signIn({ share: app.keys.viewer }, OF_SHARE);
  expect(await put(guest, OF_SHARE)).toEqual([403, "AUTH_005"]);
});

test("a session is limited by the rate of its key, with all that ask by that", async () => {
  const app = await createTestApp();
  const browser = await Browser.signedIn(app, "freeReader");
  const statuses: number[] = [];
  for (let i = 0; i < 11; i++) {
    statuses.push((await browser.get(READ_PATHS.appCurrent)).status);
    statuses.push((await app.get(READ_PATHS.appCurrent, "freeReader")).status);
  }
  expect(statuses).toEqual([...new Array(20).fill(200), 429, 429]);
});

test("a key in the header is what counts beside a session", async () => {
  const app = await createTestApp();
  const { cookie } = await Browser.signedIn(app);
  const ask = async (authorization: string) => {
    const headers = { ...OF_PAGE, cookie: cookie!, authorization };
    return (await app.fetch(READ_PATHS.appCurrent, { headers })).status;
  };
  expect(await ask(`Bearer ${app.keys.reader}`)).toBe(200);
  expect(await ask(`Bearer ${app.keys.revoked}`)).toBe(401);
  expect(await ask("Basic abc")).toBe(401);
});

test("a session ends after 12 hours, or with its key", async () => {
  const app = await createTestApp();
  const lasting = await Browser.signedIn(app);
  const ending = await Browser.signedIn(app, "expiring");
  const codeOf = async (browser: Browser) => (await browser.get(READ_PATHS.appCurrent)).body.code;
  app.clock.advance(3_600_000);
  expect(await codeOf(ending)).toBe("AUTH_004");
  app.clock.set(NOON_MS + SESSION_MS - 1);
  expect((await lasting.get(READ_PATHS.appCurrent)).status).toBe(200);
  app.clock.advance(1);
  expect(await codeOf(lasting)).toBe("AUTH_008");
});

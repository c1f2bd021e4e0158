import { describe, expect, test } from "bun:test";
import { MadeKeys } from "../../../../src/auth/made-keys.ts";
import { fail } from "../../../../src/lib/result.ts";
import { createTestApp, type KeyName, NOON_MS } from "../../../support/test-app.ts";
import { BUS, READ_PATHS } from "../requests.ts";
import { Browser } from "./browser.ts";

/** Keys that are made on the map page, for phones and as share links. */

const HOUR_MS = 3_600_000;
const PHONE = { kind: "phone", client: "owntracks", device_id: "phone-1", url: "http://10.0.0.5:3000" };
const SHARE = {
  kind: "share",
  device_ids: ["bus", "bus"],
  not_before: NOON_MS - HOUR_MS,
  expires: NOON_MS + HOUR_MS,
  precision_meters: null,
  label: "for ada",
};

async function open(key: KeyName = "full") {
  const app = await createTestApp();
  await app.store([{ ...BUS, timestamp: NOON_MS }]);
  const browser = await Browser.signedIn(app, key);
  const make = (asked: unknown) => browser.send("POST", "/map/keys", asked);
  const made = async (asked: unknown) => (await make(asked)).body as unknown as Made;
  const withKey = (text: string, path: string, init: RequestInit = {}) =>
    app.fetch(path, { ...init, headers: { authorization: `Bearer ${text}`, ...init.headers } });
  const statusOf = async (text: string) => (await withKey(text, "/api/v1/locations/current")).status;
  const report = async (text: string, report: object) =>
    withKey(text, "/ingest/v1/locations", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(report),
    });
  return { app, browser, make, made, withKey, statusOf, report };
}

interface Made {
  readonly key: { readonly id: string };
  readonly text: string;
}

describe("POST /map/keys", () => {
  test("makes a key for a phone, with all that its app has to be told", async () => {
    const { make, report, statusOf } = await open();
    const { status, body } = await make(PHONE);
    expect([status, body as unknown]).toEqual([
      200,
      {
        key: {
          id: expect.stringMatching(/^k_\w{8}$/),
          kind: "phone",
          label: "owntracks",
          device_id: "phone-1",
          view: null,
          created: NOON_MS,
          expires: null,
          revoked: null,
        },
        text: expect.stringMatching(/^wh_\w{49}$/),
        setup: {
          app: "OwnTracks",
          place: expect.any(String),
          fields: expect.arrayContaining([
            { name: "URL", value: "http://10.0.0.5:3000/ingest/owntracks" },
            { name: "Password", value: body.text },
            { name: "Device ID", value: "phone-1" },
          ]),
          paste: null,
          qr: expect.stringMatching(/^owntracks:\/\/\/config\?inline=/),
          qr_opens_app: true,
          notes: expect.arrayContaining([
            "http is not encrypted: everyone on the network path can read the key and the positions.",
          ]),
        },
      },
    ]);
    const text = String(body.text);
    const place = { timestamp: NOON_MS, latitude: 1, longitude: 1 };
    expect(await (await report(text, place)).json()).toMatchObject({ accepted: 1 });
    const other = await report(text, { ...place, device_id: "phone-2" });
    expect(await other.json()).toMatchObject({ accepted: 0, rejected: [expect.anything()] });
    expect(await statusOf(text)).toBe(403);
  });

  test("makes a share link that shows its devices, from its instant on, until its end", async () => {
    const { app, make, withKey, statusOf } = await open("reader");
    const { status, body } = await make(SHARE);
    expect(status).toBe(200);
    expect(body.key as unknown).toMatchObject({
      kind: "share",
      label: "for ada",
      device_id: null,
      view: { device_ids: ["bus"], not_before: NOON_MS - HOUR_MS, precision_meters: null },
      expires: NOON_MS + HOUR_MS,
    });
    const text = String(body.text);
    expect(await statusOf(text)).toBe(200);
    expect((await withKey(text, READ_PATHS.nearby)).status).toBe(403);
    app.clock.advance(HOUR_MS);
    expect(await statusOf(text)).toBe(401);
  });

  test("takes every app that is set up by hand or by a file too", async () => {
    const { make } = await open();
    const overland = await make({ ...PHONE, client: "overland", label: "Ada's" });
    expect(overland.body).toMatchObject({ key: { label: "Ada's" }, setup: { app: "Overland" } });
    const { setup } = (await make({ ...PHONE, client: "homeassistant" })).body as unknown as {
      setup: { qr: null; paste: string };
    };
    expect(setup.qr).toBeNull();
    expect(setup.paste).toContain("http://10.0.0.5:3000/ingest/homeassistant");
  });

  test.each([
    [{ ...PHONE, kind: "admin" }, 'kind must be "phone" or "share"'],
    [{ ...PHONE, client: "__proto__" }, /^client must be one of owntracks, /],
    [{ ...PHONE, device_id: undefined }, "device_id is required"],
    [{ ...PHONE, device_id: ".." }, /device_id/],
    [{ ...PHONE, url: "javascript:alert(1)" }, /^url must be this server's address/],
    [{ ...PHONE, label: "a\nb" }, /^label must be/],
    [{ ...SHARE, device_ids: [] }, /^device_ids must be 1 to 1000 ids/],
    [{ ...SHARE, device_ids: "bus" }, /^device_ids must be/],
    [{ ...SHARE, device_ids: [{}] }, /^device_ids must be/],
    [{ ...SHARE, not_before: "now" }, /^device_ids must be/],
    [{ ...SHARE, precision_meters: 1 }, /^device_ids must be/],
    [{ ...SHARE, expires: null }, "expires must be Unix ms"],
    [{ ...SHARE, expires: NOON_MS }, "expires must be in the future"],
    [{ ...SHARE, not_before: NOON_MS + HOUR_MS }, "not_before must be before expires"],
  ])("refuses %j", async (asked, message) => {
    const { browser, make } = await open();
    const { status, body } = await make(asked);
    expect(status).toBe(400);
    if (typeof message === "string") expect(body.message).toBe(message);
    else expect(body.message).toMatch(message);
    expect((await browser.get("/map/keys")).body as unknown).toEqual({ keys: [] });
  });
});

describe("what a session makes is less than its own key", () => {
  test.each([
    ["reader", PHONE, "the API key lacks the permission write"],
    ["viewer", PHONE, "the API key lacks the permission write"],
    ["viewer", SHARE, "the API key lacks the permission read"],
    ["boundToBoth", PHONE, "the API key is bound to a device or user"],
  ] as const)("%s makes no %o", async (key, asked, message) => {
    const { status, body } = await (await open(key)).make(asked);
    expect([status, body.message]).toEqual([403, message]);
  });

  test("a bound key makes keys of its device and its user", async () => {
    const { made, report } = await open("boundToBoth");
    const { text } = await made({ ...PHONE, device_id: "pixel7" });
    const place = { timestamp: NOON_MS, latitude: 1, longitude: 1 };
    const other = await report(text, { ...place, user_id: "bea" });
    expect(await other.json()).toMatchObject({ accepted: 0 });
    expect(await (await report(text, place)).json()).toMatchObject({ accepted: 1 });
  });

  test("nothing outlives its maker", async () => {
    const { app, make, made, statusOf } = await open("expiring");
    const late = await make({ ...SHARE, expires: NOON_MS + HOUR_MS + 1 });
    expect([late.status, late.body.message]).toEqual([
      400,
      "expires must not be after the end of the signed-in key",
    ]);
    expect((await make(PHONE)).body).toHaveProperty("key.expires", NOON_MS + HOUR_MS);
    const { text } = await made(SHARE);
    expect(await statusOf(text)).toBe(200);
    app.clock.advance(HOUR_MS);
    expect(await statusOf(text)).toBe(401);
  });

  test("what is made asks no faster than its maker, and never without limits", async () => {
    for (const [key, tier] of [
      ["full", "standard"],
      ["free", "free"],
    ] as const) {
      const { made, withKey } = await open(key);
      const { text } = await made(SHARE);
      const answer = await withKey(text, "/api/v1/locations/current");
      expect(answer.headers.get("ratelimit-policy")).toStartWith(`"${tier}"`);
    }
  });

  test("what is made on the page makes nothing there: a phone's key doesn't sign in, a link's makes none", async () => {
    const { app, made } = await open();
    const phone = await new Browser(app).signIn({ key: (await made(PHONE)).text });
    expect([phone.status, phone.body.code]).toEqual([403, "AUTH_005"]);
    const visitor = new Browser(app);
    expect((await visitor.signIn({ key: (await made(SHARE)).text })).status).toBe(200);
    for (const asked of [PHONE, SHARE])
      expect((await visitor.send("POST", "/map/keys", asked)).status).toBe(403);
    expect((await visitor.get("/map/keys")).body as unknown).toEqual({ keys: [] });
  });
});

describe("GET and DELETE /map/keys", () => {
  test("list and revoke what the key that is signed in has made, and nothing else", async () => {
    const { app, browser, made, statusOf } = await open();
    const link = await made(SHARE);
    const phone = await made(PHONE);
    const rival = await Browser.signedIn(app, "other");
    const colleague = await Browser.signedIn(app, "reader");
    for (const stranger of [rival, colleague]) {
      expect((await stranger.get("/map/keys")).body as unknown).toEqual({ keys: [] });
      const { status, body } = await stranger.send("DELETE", `/map/keys/${link.key.id}`);
      expect([status, body.message]).toEqual([404, "the signed-in key has created no such key"]);
    }
    const { status, body } = await browser.send("DELETE", `/map/keys/${link.key.id}`);
    expect([status, body as unknown]).toEqual([200, { key: { ...link.key, revoked: NOON_MS } }]);
    expect(await statusOf(link.text)).toBe(401);
    expect((await browser.get("/map/keys")).body as unknown).toEqual({
      keys: [{ ...link.key, revoked: NOON_MS }, phone.key],
    });
    app.clock.advance(1000);
    const again = await browser.send("DELETE", `/map/keys/${link.key.id}`);
    expect([again.status, again.body]).toEqual([200, body]);
  });

  test("a session revokes neither its own key nor one that nobody made", async () => {
    const { app, browser } = await open();
    const { body } = await browser.get("/map/session");
    const { session } = body as unknown as { session: { key_id: string } };
    for (const id of [session.key_id, "k_00000000", "%2500", "k_00000000/x"])
      expect((await browser.send("DELETE", `/map/keys/${id}`)).status).toBe(404);
    expect((await app.get("/api/v1/locations/current")).status).toBe(200);
  });

  test("all need a session", async () => {
    const { app } = await open();
    const nobody = new Browser(app);
    for (const [method, path, body] of [
      ["GET", "/map/keys"],
      ["POST", "/map/keys", PHONE],
      ["DELETE", "/map/keys/k_00000000"],
      ["GET", "/map/keys/k_00000000/requests"],
    ] as const) {
      const answer = await nobody.send(method, path, body);
      expect([answer.status, answer.body.code]).toEqual([401, "AUTH_009"]);
    }
  });
});

describe("GET /map/keys/ID/requests", () => {
  test("is what was heard of the phone, newest first, and nothing while there is nothing", async () => {
    const { app, browser, made, report } = await open();
    const phone = await made(PHONE);
    const path = `/map/keys/${phone.key.id}/requests`;
    expect((await browser.get(path)).body as unknown).toEqual({ requests: [] });
    const position = { device_id: "phone-1", latitude: 51.5, longitude: -0.12 };
    await report(phone.text, { ...position, timestamp: NOON_MS, battery_level: 81 });
    app.clock.advance(1000);
    await report(phone.text, { ...position, timestamp: NOON_MS + 1000, latitude: 91 });
    const { status, body } = await browser.get(path);
    expect([status, body as unknown]).toEqual([
      200,
      {
        requests: [
          expect.objectContaining({ received: NOON_MS + 1000, taken: 0, refused_count: 1 }),
          expect.objectContaining({ newest: { ...position, timestamp: NOON_MS, battery_level: 81 } }),
        ],
      },
    ]);
  });

  test("is for phones that the key which is signed in has made, and no others", async () => {
    const { app, browser, made } = await open();
    const phone = await made(PHONE);
    const link = await made(SHARE);
    const colleague = await Browser.signedIn(app, "reader");
    const rival = await Browser.signedIn(app, "other");
    for (const stranger of [colleague, rival])
      expect((await stranger.get(`/map/keys/${phone.key.id}/requests`)).status).toBe(404);
    for (const id of [link.key.id, "k_00000000", "%2500"])
      expect((await browser.get(`/map/keys/${id}/requests`)).status).toBe(404);
  });
});

test("a hundred keys that one has made may live, and the 101st is refused until one ends", async () => {
  const { browser, make, made } = await open();
  const first = await made(SHARE);
  for (let i = 1; i < 100; i++) expect((await make(PHONE)).status).toBe(200);
  const { status, body } = await make(PHONE);
  expect([status, body.message]).toEqual([
    409,
    "a key may have at most 100 live keys that it created, which show at most 1000 devices together; revoke some",
  ]);
  await browser.send("DELETE", `/map/keys/${first.key.id}`);
  expect((await make(PHONE)).status).toBe(200);
  expect((await make(PHONE)).status).toBe(409);
});

test("of keys that have ended the newest hundred are kept, so that nobody fills the file", async () => {
  const { browser, made } = await open();
  const ids: string[] = [];
  for (let i = 0; i < 103; i++) {
    const { key } = await made(PHONE);
    ids.push(key.id);
    await browser.send("DELETE", `/map/keys/${key.id}`);
  }
  const { keys } = (await browser.get("/map/keys")).body as unknown as { keys: readonly { id: string }[] };
  expect(keys.map(({ id }) => id)).toEqual(ids.slice(-101));
});

test.each([
  [false, "keys can't be changed while this server can't reach its cluster; try again shortly"],
  [
    true,
    "this server can't reach its cluster, so the change may or may not have happened; check before you try again",
  ],
])("a cluster that can't be reached is a 503 (written perhaps: %p)", async (mayBeWritten, message) => {
  const refuse = async () => fail({ kind: "cluster_unreachable", reason: "no", mayBeWritten } as const);
  const madeKeys = new MadeKeys({ list: () => [], make: refuse, revoke: refuse });
  const browser = await Browser.signedIn(await createTestApp({ madeKeys }));
  const { status, headers, body } = await browser.send("POST", "/map/keys", PHONE);
  expect([status, headers.get("retry-after"), body.message]).toEqual([503, "5", message]);
});

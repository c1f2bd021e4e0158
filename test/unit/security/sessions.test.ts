import { expect, test } from "bun:test";
import { ENDPOINTS } from "../../../src/http/endpoints.ts";
import { createTestApp, NOON_MS, type TestApp } from "../../support/test-app.ts";
import { Browser, OF_PAGE } from "../http/page/browser.ts";
import { BUS, EVERY_READ_PATH, nameOf, pathTo, requestTo } from "../http/requests.ts";

/*
 * A session is of use to our page alone. Other sites, other ports of the same host and whoever forges a cookie get
 * nothing by it, and nobody is signed in without their doing.
 */

const app = await createTestApp();
await app.store([{ ...BUS, timestamp: NOON_MS }]);
const { cookie } = await Browser.signedIn(app);
const PAGE = { "x-wherehouse-page": "1" };

/** What a browser sends for a page that is not ours, with the cookie where it would send that. */
const STRANGERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "an image, script or link of anybody": {},
  "a page of another site": { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
  "a page of another port": { "sec-fetch-site": "same-site", origin: "http://localhost:8080" },
  "somebody who types the address": { "sec-fetch-site": "none" },
  "a page of another site with our header": { ...PAGE, "sec-fetch-site": "cross-site" },
  "a page of another port with our header": { ...PAGE, "sec-fetch-site": "same-site" },
  "a page of another site with the header of share links": {
    "x-wherehouse-page": "share",
    "sec-fetch-site": "cross-site",
  },
  "a navigation with our header": { ...PAGE, "sec-fetch-site": "none" },
  "our header with another value": { "x-wherehouse-page": "true", "sec-fetch-site": "same-origin" },
};

test.each(Object.keys(STRANGERS))("a session opens nothing to %s", async (who) => {
  for (const path of EVERY_READ_PATH) {
    const answer = await app.fetch(path, { headers: { cookie: cookie!, ...STRANGERS[who] } });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([401, "AUTH_001"]);
  }
  const stranger = new Browser(app);
  stranger.cookie = cookie;
  const session = await stranger.get("/map/session", STRANGERS[who]);
  expect([session.status, session.body.code]).toEqual([403, "AUTH_010"]);
});

test.each(Object.keys(STRANGERS))("a session edits nothing for %s", async (who) => {
  const edits = ENDPOINTS.filter((endpoint) => endpoint.kind === "keyed" && endpoint.permission === "edit");
  expect(edits.length).toBeGreaterThan(1);
  for (const endpoint of edits) {
    const sent = { cookie: cookie!, "content-type": "application/json", ...STRANGERS[who] };
    const answer = await app.fetch(pathTo(endpoint), requestTo(endpoint, sent));
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([401, "AUTH_001"]);
  }
});

test.each(Object.keys(STRANGERS))("nobody is signed in or out by %s", async (who) => {
  const victim = new Browser(app);
  const signedIn = await victim.signIn({ key: app.keys.other }, STRANGERS[who]);
  expect([signedIn.status, victim.cookie]).toEqual([403, null]);
  victim.cookie = cookie;
  const signedOut = await victim.send("DELETE", "/map/session", undefined, STRANGERS[who]);
  expect([signedOut.status, victim.cookie]).toEqual([403, cookie]);
});

const OF_THE_PAGE = ENDPOINTS.filter(({ kind }) => kind === "page" || kind === "session");

test.each(OF_THE_PAGE.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
  "%s is for our page alone, whatever key comes along",
  async (_, endpoint) => {
    for (const headers of Object.values(STRANGERS)) {
      const sent = { cookie: cookie!, authorization: `Bearer ${app.keys.full}`, ...headers };
      const answer = await app.fetch(pathTo(endpoint), requestTo(endpoint, sent));
      expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([403, "AUTH_010"]);
    }
  },
);

test("a page whose origin CORS lets in can't send our header, nor the cookie", async () => {
  const origin = "https://map.example";
  const open = await createTestApp({ corsOrigins: [origin] });
  for (const path of [...EVERY_READ_PATH, "/map/session", "/api/v1/devices/bus/profile"]) {
    for (const method of ["GET", "PUT", "DELETE"]) {
      const headers = { origin, "access-control-request-method": method };
      const { headers: allowed } = await open.fetch(path, { method: "OPTIONS", headers });
      expect(allowed.get("access-control-allow-headers")?.toLowerCase()).not.toContain("x-wherehouse-page");
      expect(allowed.get("access-control-allow-credentials")).toBeNull();
    }
  }
});

async function codeWith(sent: string, of: TestApp = app): Promise<unknown> {
  const headers = new Headers(OF_PAGE);
  headers.set("cookie", sent);
  const answer = await of.fetch("/api/v1/locations/current", { headers });
  const { code } = (await answer.json()) as { code?: string };
  return [answer.status, code];
}

const UNKNOWN = [401, "AUTH_007"];
const [name, text] = cookie!.split("=") as [string, string];
const [version, keyId, until, signature] = text.split(".") as [string, string, string, string];

test.each([
  ["an empty one", ""],
  ["one that is cut", text.slice(0, -1)],
  ["one without its signature", `${version}.${keyId}.${until}`],
  ["another key", [version, "k_00000000", until, signature].join(".")],
  ["a later end", [version, keyId, Number(until) + 1, signature].join(".")],
  ["an end with other digits", [version, keyId, `0${until}`, signature].join(".")],
  ["another version", ["v2", keyId, until, signature].join(".")],
  [
    "other letters of the same signature",
    text.replace(/.$/, (last) => String.fromCharCode(last.charCodeAt(0) + 1)),
  ],
  ["blanks within", text.replace(".", " .")],
  ["quotes around", `"${text}"`],
  ["bytes beyond ASCII", "v1.k_0Hq3aZ9k.\u00ff\u00fe"],
  ["an escape code and markup", "\u001b[31m<script>".replace("\u001b", "%1b")],
  ["10,000 dots", ".".repeat(10_000)],
  ["a name of a prototype", "__proto__"],
])("a cookie is nobody's: %s", async (_, forged) => {
  expect(await codeWith(`${name}=${forged}`)).toEqual(UNKNOWN);
});

test("of two cookies that differ neither counts: one may be set by another program of the host", async () => {
  const { cookie: other } = await Browser.signedIn(app, "other");
  expect(await codeWith(`${other}; ${cookie}`)).toEqual(UNKNOWN);
  expect(await codeWith(`${cookie}; ${other}`)).toEqual(UNKNOWN);
  expect(await codeWith(`a=b; ${cookie};c=d;; ${cookie}`)).toEqual([200, undefined]);
});

test("by https a cookie that another host of the domain can set signs nobody in", async () => {
  const byHttps = { ...OF_PAGE, "x-forwarded-proto": "https" };
  const browser = new Browser(app);
  await browser.signIn({ key: app.keys.full }, byHttps);
  expect((await browser.get("/map/session", byHttps)).body).toHaveProperty("session.app_id");
  const { cookie: theirs } = await Browser.signedIn(app, "other");
  const victim = new Browser(app);
  victim.cookie = theirs;
  expect((await victim.get("/map/session", byHttps)).body as unknown).toEqual({ session: null });
  victim.cookie = `${theirs}; ${browser.cookie}`;
  expect((await victim.get("/map/session", byHttps)).body).toHaveProperty("session.app_id", "fleet");
  // Browsers take these for other names, which any host of the domain may give, and send them so.
  for (const blank of ["\u00a0", "\u00c2\u00a0", "\u00ef\u00bb\u00bf"]) {
    victim.cookie = `${blank}__Host-${theirs}`;
    expect((await victim.get("/map/session", byHttps)).body as unknown).toEqual({ session: null });
    victim.cookie = `${browser.cookie}; ${victim.cookie}`;
    expect((await victim.get("/map/session", byHttps)).body).toHaveProperty("session.app_id", "fleet");
  }
});

test("a session of another data directory is none, and stands beside it in the same browser", async () => {
  const elsewhere = await createTestApp();
  const { cookie: other } = await Browser.signedIn(elsewhere);
  expect(other!.split("=")[0]).not.toBe(name);
  expect(await codeWith(`${name}=${other!.split("=")[1]}`)).toEqual(UNKNOWN);
  expect(await codeWith(`${other}; ${cookie}`)).toEqual([200, undefined]);
  expect(await codeWith(`${other}; ${cookie}`, elsewhere)).toEqual([200, undefined]);
});

test("sessions see their own app alone", async () => {
  const rival = await Browser.signedIn(app, "other");
  expect((await rival.get("/api/v1/locations/current")).body.locations).toEqual([]);
  expect((await rival.get("/api/v1/devices/bus/locations/current")).status).toBe(404);
});

import { describe, expect, test } from "bun:test";
import { createTestApp, NOON_MS } from "../../../support/test-app.ts";
import { giveProfile, withEntry } from "../quarantined.ts";
import { BUS, KEYED, keyFor, nameOf, pathTo, requestTo, withParameter, wrongQueryTo } from "../requests.ts";

/* Contract §2: unknown query parameters are ignored, and on `/api/v1` a header names them, but never their values. */

const HEADER = "wherehouse-ignored-parameters";
const app = await createTestApp();
await app.store([{ ...BUS, timestamp: NOON_MS }]);

const OF_API = KEYED.filter(({ path }) => path.startsWith("/api/v1/"));

describe.each(OF_API.map((endpoint) => [nameOf(endpoint), endpoint] as const))("%s", (_name, endpoint) => {
  const headers = { authorization: `Bearer ${app.keys[keyFor(endpoint)]}` };
  const ask = async (path: string) => {
    const aborted = new AbortController();
    await giveProfile(app);
    const init = { ...requestTo(endpoint, headers), signal: aborted.signal };
    const response = await app.fetch(await withEntry(app, path), init);
    aborted.abort(); // Of a stream nobody reads more.
    return response;
  };

  test("names what it doesn't know, and nothing where it knows all", async () => {
    const path = pathTo(endpoint);
    const known = await ask(path);
    expect(known.headers.get(HEADER)).toBeNull();
    const response = await ask(withParameter(path, "limt=3&start_dat=2026-01-01"));
    expect([response.status, response.headers.get(HEADER)]).toEqual([known.status, "limt, start_dat"]);
  });

  test("names it beside a parameter that is refused", async () => {
    const wrong = wrongQueryTo(endpoint);
    if (wrong === pathTo(endpoint)) return;
    expect((await ask(withParameter(wrong, "limt=3"))).headers.get(HEADER)).toBe("limt");
  });
});

async function ignoredOf(query: string): Promise<string | null> {
  const headers = { authorization: `Bearer ${app.keys.full}` };
  return (await app.fetch(`/api/v1/locations/current?${query}`, { headers })).headers.get(HEADER);
}

test.each([
  ["limit=3", null],
  ["", null],
  ["&", null],
  ["=x", null],
  ["limit=3&", null],
  ["limt", "limt"],
  ["Limit=3", "Limit"],
  ["a=1&b=2&a=3", "a, b"],
  ["a%2Eb=1&c+d=1&%C3%A9=1&e%0d%0aX=1", "a.b"],
  ["a.b-c_d=1", "a.b-c_d"],
  [`${"n".repeat(64)}=1&${"m".repeat(65)}=1`, "n".repeat(64)],
  ["__proto__=1&constructor=2&toString=3", "__proto__, constructor, toString"],
  ["a=&b=&c=&d=&e=&f=&g=&h=", "a, b, c, d, e, f, g, h"],
  ["a=&b=&c=&d=&e=&f=&g=&h=&i=", "a, b, c, d, e, f, g, h, +1"],
  ["a=&b=&c=&d=&e=&f=&g=&h=&i=&j=&i=&%20=", "a, b, c, d, e, f, g, h, +2"],
])("of ?%s are named: %p", async (query, named) => {
  expect(await ignoredOf(query)).toBe(named);
});

test("a key is never named, and no value is", async () => {
  const key = app.keys.full;
  expect(await ignoredOf(`${key}=1&wh_=2&%77h_x=3`)).toBeNull();
  expect(await ignoredOf(`api_key=${key}&token=${key}`)).toBe("api_key, token");
});

test("other paths name nothing", async () => {
  for (const path of ["/health?limt=3", "/ready?limt=3", "/ingest/osmand?lat=1&lon=2&timestamp=1&limt=3"]) {
    const headers = { authorization: `Bearer ${app.keys.writer}` };
    expect((await app.fetch(path, { headers })).headers.get(HEADER)).toBeNull();
  }
});

import { expect, test } from "bun:test";
import { createKeyText, isWellFormedKey } from "../../../src/auth/api-key.ts";
import { textOf } from "../../support/event-reader.ts";
import { createTestApp, NOON_MS } from "../../support/test-app.ts";
import { KEYED_OPERATIONS, type NamedOperation, OPERATIONS, plainPath } from "./support/operations.ts";

/** Nothing but a known key, in the one header for it, opens any operation; what was tried is never said back. */

const app = await createTestApp();
const BUS = { device_id: "bus", user_id: "driver", latitude: 53.4, longitude: -2.9 };
await app.store([{ ...BUS, timestamp: NOON_MS }]);
const { full } = app.keys;
const unmade = createKeyText();

/** Each key has one of them at least, in its prefix. */
const CYRILLIC = {
  h: "\u04bb",
  a: "\u0430",
  e: "\u0435",
  o: "\u043e",
  c: "\u0441",
  p: "\u0440",
  x: "\u0445",
};

/** `Authorization` headers that must not do, by what they are. A header holds bytes, so none is above U+00FF. */
const REFUSED: Readonly<Record<string, string>> = {
  "Basic with the key": `Basic ${full}`,
  "Basic in base64": `Basic ${btoa(`${full}:`)}`,
  "Basic with the key as password": `Basic ${btoa(`user:${full}`)}`,
  Digest: `Digest username="${full}"`,
  ApiKey: `ApiKey ${full}`,
  "the key alone": full,
  "a scheme without a space": `Bearer${full}`,
  "a colon": `Bearer: ${full}`,
  "an equals sign": `Bearer=${full}`,
  "a tab": `Bearer\t${full}`,
  "a space that is none of HTTP's": `Bearer\u00a0${full}`,
  "the scheme twice": `Bearer Bearer ${full}`,
  "another scheme first": `Basic x, Bearer ${full}`,
  "the key twice, with a comma": `Bearer ${full}, Bearer ${full}`,
  "the key after a wrong one": `Bearer ${unmade}, Bearer ${full}`,
  "the key before a wrong one": `Bearer ${full}, Bearer ${unmade}`,
  "a parameter": `Bearer token=${full}`,
  "a semicolon behind it": `Bearer ${full};`,
  "words behind it": `Bearer ${full} x`,
  "a tab and words behind it": `Bearer ${full}\tx`,
  "a space of Latin 1 behind it": `Bearer ${full}\u00a0`,
  "a space of Latin 1 before it": `Bearer  \u00a0${full}`,
  "a soft hyphen in it": `Bearer ${full.slice(0, 9)}\u00ad${full.slice(9)}`,
  "an accent": `Bearer ${full.slice(0, -1)}\u00e9`,
  quotes: `Bearer "${full}"`,
  apostrophes: `Bearer '${full}'`,
  brackets: `Bearer <${full}>`,
  "percent codes": `Bearer ${[...full].map((c) => `%${c.charCodeAt(0).toString(16)}`).join("")}`,
  "its prefix percent-encoded": `Bearer wh%5F${full.slice(3)}`,
  "base64 of it": `Bearer ${btoa(full)}`,
  "all in capitals": `Bearer ${full.toUpperCase()}`,
  "all in small letters": `Bearer ${full.toLowerCase()}`,
  "one character less": `Bearer ${full.slice(0, -1)}`,
  "one character more": `Bearer ${full}0`,
  "its first half": `Bearer ${full.slice(0, full.length / 2)}`,
  "its end": `Bearer ${full.slice(-4)}`,
  "without the prefix": `Bearer ${full.slice(3)}`,
  "another prefix": `Bearer sk_${full.slice(3)}`,
  "a right checksum, never made": `Bearer ${unmade}`,
  "a list": `Bearer ["${full}"]`,
  "an object": `Bearer {"key":"${full}"}`,
  "a member of objects": "Bearer __proto__",
  "a pattern": "Bearer *",
  SQL: "Bearer ' OR '1'='1",
  "a very long word": `Bearer ${"a".repeat(100_000)}`,
  "the key again and again": `Bearer ${full.repeat(200)}`,
  "many spaces": `Bearer${" ".repeat(50_000)}`,
  "spaces without end before a word": `Bearer ${" ".repeat(50_000)}x`,
};

async function ask(
  named: NamedOperation,
  headers: Record<string, string>,
  path = plainPath(named, "bus", "driver"),
) {
  const isPost = named.method === "POST";
  const json = isPost ? { "content-type": "application/json" } : {};
  const body = isPost ? { body: JSON.stringify({ ...BUS, timestamp: NOON_MS }) } : {};
  return app.fetch(path, { method: named.method, headers: { ...json, ...headers }, ...body });
}

async function expectRefused(response: Response, what: string): Promise<void> {
  const text = await textOf(response);
  expect(response.status, what).toBe(401);
  expect(response.headers.get("www-authenticate"), what).toBe("Bearer");
  expect(["AUTH_001", "AUTH_002"], what).toContain(JSON.parse(text).code);
  expectSilent(text + JSON.stringify([...response.headers]), what);
}

/** Neither a key nor any long piece of one. */
function expectSilent(said: string, what: string): void {
  for (const key of [...Object.values(app.keys), unmade]) {
    expect(said.toLowerCase().includes(key.slice(3, 15).toLowerCase()), what).toBeFalse();
  }
}

test.each(Object.keys(REFUSED))("an Authorization header with %s opens nothing", async (what) => {
  for (const named of KEYED_OPERATIONS) {
    await expectRefused(await ask(named, { authorization: REFUSED[what]! }), `${named.name}, ${what}`);
  }
});

test("the scheme counts in any case, and with any number of spaces", async () => {
  for (const scheme of ["Bearer", "bearer", "BEARER", "bEaReR"]) {
    for (const spaces of [1, 2, 100]) {
      const authorization = `${scheme}${" ".repeat(spaces)}${full}`;
      expect((await app.fetch("/api/v1/locations/current", { headers: { authorization } })).status).toBe(200);
    }
  }
});

const ELSEWHERE = [
  "x-api-key",
  "api-key",
  "apikey",
  "x-auth-token",
  "x-access-token",
  "token",
  "proxy-authorization",
].concat(["cookie", "x-authorization", "x-forwarded-authorization", "www-authenticate", "from", "referer"]);

test.each(ELSEWHERE)("a key in the header %s opens nothing", async (name) => {
  for (const named of KEYED_OPERATIONS) {
    for (const value of [full, `Bearer ${full}`, `authorization=Bearer ${full}`, `access_token=${full}`]) {
      await expectRefused(await ask(named, { [name]: value }), `${named.name}, ${name}`);
    }
  }
});

const NAMES = [
  "access_token",
  "token",
  "key",
  "api_key",
  "apikey",
  "apiKey",
  "auth",
  "authorization",
  "Authorization",
].concat([
  "bearer",
  "Bearer",
  "",
  "user",
  "__proto__",
  "headers[authorization]",
  "access_token[]",
  "access%5Ftoken",
]);

test.each(NAMES)("a key in the query as %p opens nothing", async (name) => {
  for (const named of KEYED_OPERATIONS) {
    const plain = plainPath(named, "bus", "driver");
    for (const value of [full, `Bearer%20${full}`]) {
      const path = `${plain}${plain.includes("?") ? "&" : "?"}${name}=${value}`;
      await expectRefused(await ask(named, {}, path), path);
      await expectRefused(await ask(named, { authorization: "Bearer x" }, path), path);
      await expectRefused(await ask(named, { authorization: "Bearer" }, path), path);
    }
  }
});

test("a key in a path opens nothing", async () => {
  for (const named of KEYED_OPERATIONS) {
    const path = plainPath(named, full, full);
    const response = await ask(named, {}, path);
    expect(response.status).toBe(401);
    expectSilent(await textOf(response), path);
  }
});

test.each(["json", "x-ndjson", "x-www-form-urlencoded"])(
  "a key in a body of %s opens nothing",
  async (type) => {
    const members = Object.fromEntries(NAMES.map((name) => [name, full]));
    const body = type.startsWith("x-www")
      ? String(new URLSearchParams(members))
      : JSON.stringify({ ...members, ...BUS });
    const response = await app.fetch("/ingest/v1/locations", {
      method: "POST",
      headers: { "content-type": `application/${type}` },
      body,
    });
    await expectRefused(response, type);
  },
);

test("letters that look like a key's are not taken for them, nor is what they fold to", async () => {
  const alike = [...full].map((letter) => CYRILLIC[letter as keyof typeof CYRILLIC] ?? letter).join("");
  const wide = [...full].map((letter) => String.fromCodePoint(letter.charCodeAt(0) + 0xfee0)).join("");
  for (const text of [alike, wide, `${full}\u0301`]) {
    expect(isWellFormedKey(text)).toBeFalse();
    // As bytes of UTF-8, which is how a client would send them.
    const authorization = `Bearer ${Buffer.from(text)
      .toString("latin1")
      .replaceAll(/[^\x20-\x7e\xa0-\xff]/g, "")}`;
    await expectRefused(await app.fetch("/api/v1/locations/current", { headers: { authorization } }), text);
  }
});

test("revoked and expired keys open nothing, and no answer says a key back", async () => {
  const aged = await createTestApp();
  aged.clock.advance(3_600_000);
  for (const named of OPERATIONS) {
    const isOpen = !KEYED_OPERATIONS.includes(named);
    for (const key of ["revoked", "expiring"] as const) {
      const headers = { authorization: `Bearer ${aged.keys[key]}`, "content-type": "application/json" };
      const response = await aged.fetch(plainPath(named, "bus", "driver"), { method: named.method, headers });
      expect(response.status === 401, named.name).toBe(!isOpen);
      expect(await textOf(response)).not.toContain(aged.keys[key].slice(3));
    }
  }
});

test("each operation opens with the permission that it names, and with no other", async () => {
  const openedBy: Record<string, string[]> = {};
  for (const named of KEYED_OPERATIONS) {
    openedBy[named.name] = [];
    for (const key of ["reader", "writer", "editor", "manager", "eraser", "operator"] as const) {
      const response = await ask(named, { authorization: `Bearer ${app.keys[key]}` });
      // A report is no file to import, and nothing else that is posted.
      const isReport = named.name.startsWith("POST /ingest/");
      const isOther = (named.method === "POST" && !isReport) || named.method === "PUT";
      expect([200, 403, 404, ...(isOther ? [400, 415] : [])]).toContain(response.status);
      expectSilent(await textOf(response), named.name);
      if (response.status !== 403) openedBy[named.name]!.push(key);
    }
  }
  const expected = KEYED_OPERATIONS.map(({ name, method, operation: { description } }) => {
    if (description.includes("`read` and `write`")) return [name, []];
    if (description.includes("`manage` and `read`")) return [name, []];
    if (description.includes("`edit`")) return [name, ["editor"]];
    if (description.includes("`manage`")) return [name, ["manager"]];
    if (description.includes("`erase`")) return [name, ["eraser"]];
    if (description.includes("`operate`")) return [name, ["operator"]];
    return [name, [method === "POST" && !description.includes("`read`") ? "writer" : "reader"]];
  });
  expect(openedBy).toEqual(Object.fromEntries(expected));
});

test("the server called none of it its own fault", () => expect(app.faults).toEqual([]));

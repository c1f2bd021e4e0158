import { describe, expect, test } from "bun:test";
import { createTestApp, type KeyName, NOON_MS, type TestApp } from "../../../support/test-app.ts";
import { BUS, KEYED, nameOf, pathTo, wrongQueryTo } from "../requests.ts";

/**
 * Entity tags of every endpoint that has them: who has an answer is told so by a 304, and nobody is ever told so of an
 * answer that is not theirs, or not any more.
 */

const TAGGED = KEYED.filter(({ isTagged }) => isTagged);

const REPORTS = [
  { ...BUS, timestamp: NOON_MS - 120_000, latitude: 53.5 }, // Where it is again at noon: then the next one is a jump.
  { ...BUS, timestamp: NOON_MS - 60_000, speed: 3 },
  { ...BUS, device_id: "tram", timestamp: NOON_MS - 60_000 },
];
const NEWER = { ...BUS, timestamp: NOON_MS, latitude: 53.5, speed: 20 };

async function ask(app: TestApp, path: string, key: KeyName, tag: string | null, method = "GET") {
  const headers = {
    authorization: `Bearer ${app.keys[key]}`,
    ...(tag === null ? {} : { "if-none-match": tag }),
  };
  const { status, headers: told, body } = await app.fetch(path, { method, headers });
  const text = (await new Response(body).text()).replace(/"query_time_ms":[\d.e-]+/, "");
  return { status, tag: told.get("etag"), told, text };
}

/** Two apps that know the same, and every key that may ask, with what it is answered. */
async function twoAppsAlike(path: string) {
  const app = await createTestApp();
  await app.store(REPORTS);
  await app.store(REPORTS, "other");
  const keys = Object.keys(app.keys) as KeyName[];
  const answers = await Promise.all(keys.map(async (key) => ({ key, ...(await ask(app, path, key, null)) })));
  return { app, answers: answers.filter(({ status }) => status === 200) };
}

test("some endpoints have tags", () => {
  expect(TAGGED.map(nameOf)).toContain("GET /api/v1/locations/current/columns");
});

describe.each(TAGGED.map((endpoint) => [nameOf(endpoint), endpoint] as const))("%s", (_name, endpoint) => {
  const path = pathTo(endpoint);

  test("who has the answer gets a 304 until something of it changes, and then the new one", async () => {
    const { app } = await twoAppsAlike(path);
    const first = await ask(app, path, "full", null);
    expect(first.tag).toMatch(/^W\/"[\w-]{27}"$/);
    expect(first.told.get("cache-control")).toBe("private, no-cache");
    expect(first.told.get("vary")).toBe("Authorization, Cookie, X-Wherehouse-Page, Accept-Encoding");
    for (const method of ["GET", "HEAD"]) {
      const again = await ask(app, path, "full", first.tag, method);
      expect([again.status, again.tag, again.text]).toEqual([304, first.tag, ""]);
      expect(again.told.get("cache-control")).toBe("private, no-cache");
    }
    await app.store(REPORTS); // Known already.
    await app.store([NEWER], "other");
    expect((await ask(app, path, "full", first.tag)).status).toBe(304);
    await app.store([NEWER]);
    const changed = await ask(app, path, "full", first.tag);
    expect(changed.status).toBe(200);
    expect(changed.text).not.toBe(first.text);
    expect(changed.tag).not.toBe(first.tag);
    expect((await ask(app, path, "full", changed.tag)).status).toBe(304);
  });

  test("no key gets a 304 for the answer of another app, or for one that it would not be given itself", async () => {
    const { app, answers } = await twoAppsAlike(path);
    expect(answers.length).toBeGreaterThan(2);
    for (const theirs of answers) {
      for (const own of answers) {
        const { status } = await ask(app, path, own.key, theirs.tag);
        const isSameApp = (own.key === "other") === (theirs.key === "other");
        expect([200, 304]).toContain(status);
        if (status === 304) expect([isSameApp, own.text]).toEqual([true, theirs.text]);
      }
    }
  });

  test("a tag is no key: nobody gets a 304 who may not ask", async () => {
    const { app } = await twoAppsAlike(path);
    const { tag } = await ask(app, path, "full", null);
    for (const key of ["writer", "revoked", "operator"] as const)
      expect([401, 403]).toContain((await ask(app, path, key, tag)).status);
  });

  test("it is another for other parameters, and what is refused has none", async () => {
    const { app } = await twoAppsAlike(path);
    const { tag } = await ask(app, path, "full", null);
    const others = await ask(app, `${path}${path.includes("?") ? "&" : "?"}unknown=1`, "full", tag);
    expect(others.status).toBe(200);
    if (Object.keys(endpoint.query).length === 0) return;
    const refused = await ask(app, wrongQueryTo(endpoint), "full", null);
    expect([refused.status, refused.tag]).toEqual([400, null]);
  });

  test("it is not known of what there is none: any tag at all is answered in full", async () => {
    const { app } = await twoAppsAlike(path);
    // The last two are no lists of tags, and say nothing.
    for (const any of ["*", "W/*", '"x", *']) {
      expect([any, (await ask(app, path, "full", any)).status]).toEqual([any, 200]);
      if (Object.keys(endpoint.query).length > 0)
        expect([any, (await ask(app, wrongQueryTo(endpoint), "full", any)).status]).toEqual([any, 400]);
      if (!endpoint.path.includes(":deviceId")) continue;
      const unknown = path.replace(`/${BUS.device_id}/`, "/unknown/");
      expect([any, (await ask(app, unknown, "full", any)).status]).toEqual([any, 404]);
    }
  });

  test("it does not outlive the process", async () => {
    const [before, after] = [await twoAppsAlike(path), await twoAppsAlike(path)];
    const { tag } = await ask(before.app, path, "full", null);
    expect((await ask(after.app, path, "full", tag)).status).toBe(200);
  });
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";

/*
 * Goal: a body changes nothing but the app's own records, whatever its members are called and however deep, long or
 * ambiguous it is. Method: bodies of that kind against the service, in memory and archived; afterwards every
 * prototype is as it was, and a plain report is still taken and answered as always.
 */

let app: ArchiveApp;
let nowMs = 0;
beforeAll(async () => {
  app = await createArchiveApp();
  nowMs = app.clock.nowMs();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
  await removeArchiveApps();
});

const PROTOTYPES = [Object.prototype, Array.prototype, Function.prototype, String.prototype, Map.prototype];
const namesBefore = PROTOTYPES.map((prototype) => Object.getOwnPropertyNames(prototype).sort());

function expectPrototypesUntouched(): void {
  expect(PROTOTYPES.map((prototype) => Object.getOwnPropertyNames(prototype).sort())).toEqual(namesBefore);
  expect("polluted" in {}).toBeFalse();
}

/** Sends a text as a body. */
async function send(body: string | Uint8Array<ArrayBuffer>, type = "application/json") {
  const response = await app.fetch("/ingest/v1/locations", {
    method: "POST",
    headers: { authorization: `Bearer ${app.keys.full}`, "content-type": type },
    body,
  });
  const answer = (await response.json()) as Record<string, unknown> & { rejected: { message: string }[] };
  expectPrototypesUntouched();
  return { status: response.status, answer };
}

/** A good report with more members, as text: `JSON.stringify` would lose some of them. */
function reportText(deviceId: string, more = ""): string {
  return `{"device_id":${JSON.stringify(deviceId)},"timestamp":${nowMs},"latitude":1,"longitude":2${more}}`;
}

const NAMES = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "then",
  "toJSON",
  "__defineGetter__",
  "length",
];

describe("names that objects have of themselves", () => {
  test.each(NAMES)("%s as a member is ignored, whatever it holds", async (name) => {
    for (const value of [
      '{"polluted":1}',
      '{"prototype":{"polluted":1}}',
      '{"latitude":9}',
      "null",
      "[]",
      '"x"',
      "1",
    ]) {
      const { status, answer } = await send(
        `{"locations":[${reportText(`member-${name}`, `,"${name}":${value}`)}],"${name}":${value}}`,
      );
      expect([status, answer.rejected]).toEqual([200, []]);
    }
    const { body } = await app.get(`/api/v1/devices/member-${name}/locations/current`);
    expect(body.location).toMatchObject({ latitude: 1, longitude: 2 });
    expect(Object.keys(body.location)).not.toContain("polluted");
  });

  test("a report can't inherit what it lacks", async () => {
    const { answer } = await send(`{"__proto__":${reportText("heir")}}`);
    expect(answer).toMatchObject({ accepted: 0, rejected: [{ message: "device_id is required" }] });
    const { status } = await send(`{"__proto__":{"locations":[${reportText("heir")}]}}`);
    expect(status).toBe(200);
    expect((await app.get("/api/v1/devices/heir/locations/current")).status).toBe(404);
  });

  test("they are ids like any other, also as members of by_device, hot and archived", async () => {
    const oldMs = nowMs - 12 * 86_400_000;
    const date = new Date(oldMs).toISOString().slice(0, 10);
    const reports = NAMES.flatMap((name, index) =>
      [0, 1].map((step) => ({
        device_id: name,
        user_id: "constructor",
        timestamp: oldMs + index * 1000 + step,
        latitude: step / 1000,
        longitude: 2,
      })),
    );
    await app.store(reports);
    const path = `/api/v1/users/constructor/locations/history?start_date=${date}&end_date=${date}&distance_travelled=true`;
    const hot = (await app.get(path)).body.distance_travelled;
    await app.seal();
    const archived = (await app.get(path)).body.distance_travelled;
    for (const travelled of [hot, archived]) {
      expect(Object.keys(travelled.by_device).sort()).toEqual([...NAMES].sort());
      for (const name of NAMES)
        expect(Object.getOwnPropertyDescriptor(travelled.by_device, name)!.value).toBeCloseTo(111.2, 0);
    }
    for (const name of NAMES) {
      const { body } = await app.get(`/api/v1/users/${name}/devices`);
      expect(body.devices.length, name).toBe(name === "constructor" ? NAMES.length : 0);
    }
    expectPrototypesUntouched();
  });

  test("they are no parameters, no keys and no zones", async () => {
    for (const name of NAMES) {
      expect((await app.get(`/api/v1/locations/current?${name}=1&${name}[polluted]=1`)).status).toBe(200);
      expect((await app.get(`/api/v1/locations/current?timezone=${name}`)).status).toBe(400);
      expect((await app.get(`/api/v1/locations/history?order=${name}`)).status).toBe(400);
      const response = await app.fetch("/api/v1/locations/current", {
        headers: { authorization: `Bearer ${name}` },
      });
      expect(response.status).toBe(401);
    }
    expectPrototypesUntouched();
  });
});

describe("bodies that are odd as JSON", () => {
  test("of members given twice the last counts, as everywhere in JavaScript", async () => {
    await send(reportText("twice", ',"latitude":5,"latitude":7'));
    expect((await app.get("/api/v1/devices/twice/locations/current")).body.location).toMatchObject({
      latitude: 7,
    });
    const { answer } = await send('{"locations":[1,2,3],"locations":[]}');
    expect(answer).toMatchObject({ accepted: 0, rejected: [] });
  });

  test.each([
    "1e309",
    "-1e309",
    "9".repeat(400),
    `1${"0".repeat(309)}`,
    "1e-400",
    "9007199254740993",
    "1.7976931348623157e308",
  ])("the number %s is refused where it is out of bounds, and never becomes another", async (number) => {
    const { status, answer } = await send(reportText("huge", `,"speed":${number}`));
    const kept = number === "1e-400";
    expect([status, answer.accepted]).toEqual([200, kept ? 1 : 0]);
    if (kept) expect((await app.get("/api/v1/devices/huge/locations/current")).body.location.speed).toBe(0);
    for (const name of ["timestamp", "latitude"]) {
      const { answer: refused } = await send(reportText("huge2", `,"${name}":${number}`));
      expect(refused.accepted).toBe(kept && name === "latitude" ? 1 : 0);
    }
  });

  test.each([
    ["half a character", '"\\ud800"'],
    ["halves in the wrong order", '"\\udc00\\ud800"'],
    ["a NUL", '"a\\u0000b"'],
    ["an escape code", '"\\u001b[31m"'],
  ])("%s is refused as an id, and said back as valid UTF-8", async (_what, text) => {
    const response = await app.fetch("/ingest/v1/locations", {
      method: "POST",
      headers: { authorization: `Bearer ${app.keys.full}`, "content-type": "application/json" },
      body: `{"device_id":${text},"timestamp":${nowMs},"latitude":1,"longitude":2}`,
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const said = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    expect(said).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
    expect(JSON.parse(said)).toMatchObject({ accepted: 0 });
  });

  test("a byte order mark is no part of a body, and no place to hide in one", async () => {
    expect((await send(`\ufeff${reportText("marked")}`)).answer).toMatchObject({ accepted: 1 });
    expect((await send(`\ufeff\ufeff${reportText("marked")}`)).status).toBe(400);
    expect((await send(reportText("\ufeffmarked"))).answer).toMatchObject({ accepted: 1 });
    expect((await app.get("/api/v1/devices/%EF%BB%BFmarked/locations/current")).body.location.device_id).toBe(
      "\ufeffmarked",
    );
    for (const encoding of ["utf-16le", "latin1"] as const) {
      const bytes = new Uint8Array(Buffer.from(reportText("caf\u00e9"), encoding));
      expect((await send(bytes)).status).toBe(400);
    }
    const overlong = new Uint8Array([...Buffer.from('{"device_id":"a'), 0xc0, 0x80, ...Buffer.from('"}')]);
    expect((await send(overlong)).status).toBe(400);
  });

  test.each([
    "NaN",
    "Infinity",
    "undefined",
    "{}}",
    "{'a':1}",
    "{a:1}",
    "[1,]",
    "01",
    "/**/{}",
    "\u00a0{}",
    '{"a":"\n"}',
    "0x1",
  ])("%s is no JSON, though some would take it", async (text) => expect((await send(text)).status).toBe(400));
});

describe("bodies that are large in what they mean", () => {
  /** What takes the square of such a length does not come to its end within the time of any test. */
  const DEEP = 2_000_000;

  test.each([
    ["arrays in arrays", "[".repeat(DEEP)],
    ["closed arrays in arrays", "[".repeat(DEEP) + "]".repeat(DEEP)],
    ["objects in objects", '{"a":'.repeat(DEEP)],
    ["closed objects in objects", `${'{"locations":'.repeat(DEEP / 4)}1${"}".repeat(DEEP / 4)}`],
    [
      "a deep member that nobody asked for",
      reportText("deep", `,"x":${"[".repeat(5000)}${"]".repeat(5000)}`),
    ],
    ["a deep id", reportText("deep2", `,"device_id":${"[".repeat(5000)}${"]".repeat(5000)}`)],
    ["a long text", reportText("long", `,"brand":"${"a".repeat(10_000_000)}"`)],
    ["escapes", reportText("escapes", `,"brand":"${"\\u0041".repeat(1_000_000)}"`)],
    ["a long number", reportText("number", `,"speed":${"1".repeat(5_000_000)}`)],
    ["many members", reportText("members", Array.from({ length: 300_000 }, (_, i) => `,"m${i}":0`).join(""))],
    ["many members of one name", reportText("same", ',"x":0'.repeat(1_000_000))],
    ["many empty reports", `{"locations":[${"{},".repeat(9999)}{}]}`],
    ["too many reports", `{"locations":[${"0,".repeat(5_000_000)}0]}`],
    ["white space", " ".repeat(16_000_000)],
  ])("%s are answered, and leave the service as it was", async (_what, body) => {
    const { status } = await send(body);
    expect([200, 400, 413]).toContain(status);
    const lines = await send(body, "application/x-ndjson");
    expect([200, 400, 413]).toContain(lines.status);
    expect((await send(reportText("after"))).status).toBe(200);
  });

  test("ten thousand blank lines and lines without an end are no reports", async () => {
    expect((await send("\n".repeat(1_000_000), "application/x-ndjson")).answer).toMatchObject({
      accepted: 0,
      rejected: [],
    });
    expect((await send("{\n".repeat(20_000), "application/x-ndjson")).status).toBe(413);
  });
});

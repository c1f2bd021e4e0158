import { describe, expect, test } from "bun:test";
import type { AppId } from "../../../../src/model/ids.ts";
import { createSimulatedFiles } from "../../../support/disk/simulated-files.ts";
import { filesWithBlocks } from "../../../support/reports/blocks.ts";
import {
  APP_ID,
  answerOf,
  createTestApp,
  NOON_MS,
  OTHER_APP_ID,
  type TestApp,
} from "../../../support/test-app.ts";
import { INGEST_PATH } from "../requests.ts";

/** Which reports are taken, and what is said of the others: contract §4. */

const app = await createTestApp();

const GOOD = { device_id: "bus", timestamp: NOON_MS, latitude: 1, longitude: 2 };

/** What is wrong with one report, or null; it must leave nothing behind. */
async function faultOf(report: unknown): Promise<unknown> {
  const { status, body } = await app.post([report]);
  expect(status).toBe(200);
  return body.rejected[0]?.message ?? null;
}

/** Sends text as it is, for what `JSON.stringify` can't write. */
async function sendText(text: string, type = "application/json") {
  const headers = { authorization: `Bearer ${app.keys.full}`, "content-type": type };
  return answerOf(await app.fetch(INGEST_PATH, { method: "POST", headers, body: text }));
}

describe("app_id in the query", () => {
  const send = async (query: string) => {
    const headers = { authorization: `Bearer ${app.keys.full}`, "content-type": "application/json" };
    const report = JSON.stringify({ ...GOOD, device_id: "meant" });
    return answerOf(await app.fetch(`${INGEST_PATH}?${query}`, { method: "POST", headers, body: report }));
  };

  test("refuses what is meant for another app, whether there is one or not", async () => {
    const refused = { success: false, message: "app_id is not the app of this key; nothing was stored" };
    for (const other of [OTHER_APP_ID, "nobody", "FLEET", "fleet%20", ""])
      expect(await send(`app_id=${other}`)).toMatchObject({ status: 400, body: refused });
    expect(await send("app_id=fleet&app_id=fleet")).toMatchObject({ status: 400 });
    expect((await app.get("/api/v1/devices/meant/locations/current")).status).toBe(404);
  });

  test("changes nothing where it is the key's", async () => {
    expect(await send(`app_id=${APP_ID}`)).toMatchObject({ status: 200, body: { accepted: 1 } });
  });
});

describe("required fields", () => {
  test.each(["device_id", "timestamp", "latitude", "longitude"])("%s", async (name) => {
    expect(await faultOf({ ...GOOD, [name]: undefined })).toBe(`${name} is required`);
    expect(await faultOf({ ...GOOD, [name]: null })).toBe(`${name} is required`);
  });
});

/** Bounds of each number, to be met and passed by as little as a double can tell. */
const NUMBERS = [
  ["latitude", -90, 90, 1e-13],
  ["longitude", -180, 180, 1e-13],
  ["horizontal_accuracy", 0, 10_000_000, 1e-8],
  ["vertical_accuracy", 0, 10_000_000, 1e-8],
  ["altitude", -20_000, 100_000_000, 1e-7],
  ["speed", 0, 1_000_000, 1e-9],
  ["bearing", 0, 360, 1e-12],
  ["battery_level", 0, 100, 1e-13],
] as const;

test.each(NUMBERS)("%s is taken from %d to %d", async (name, minimum, maximum, step) => {
  const message = `${name} must be between ${minimum} and ${maximum}`;
  for (const value of [minimum, maximum, (minimum + maximum) / 2]) {
    expect(await faultOf({ ...GOOD, [name]: value })).toBeNull();
  }
  for (const value of [minimum - step, maximum + step, minimum - 1e6, 1e300, -1e300]) {
    expect(await faultOf({ ...GOOD, [name]: value })).toBe(message);
  }
  for (const value of ["5", "", true, false, [5], [], {}, { value: 5 }]) {
    expect(await faultOf({ ...GOOD, [name]: value })).toBe(`${name} must be a number`);
  }
  for (const huge of ["1e999", "-1e999", `1${"0".repeat(400)}`]) {
    const text = JSON.stringify({ locations: [{ ...GOOD, [name]: "HUGE" }] }).replace('"HUGE"', huge);
    expect((await sendText(text)).body.rejected[0]?.message).toBe(message);
  }
});

test.each(["device_id", "user_id"])("%s has 1 to 128 characters, however many bytes", async (name) => {
  for (const value of ["x", "x".repeat(128), "\u{1F68C}".repeat(128), "é".repeat(128), " ", "0"]) {
    expect(await faultOf({ ...GOOD, [name]: value })).toBeNull();
  }
  for (const value of ["", "x".repeat(129), "\u{1F68C}".repeat(129), "x".repeat(100_000)]) {
    expect(await faultOf({ ...GOOD, [name]: value })).toBe(`${name} must have 1 to 128 characters`);
  }
  for (const value of [5, true, ["x"], { id: "x" }]) {
    expect(await faultOf({ ...GOOD, [name]: value })).toBe(`${name} must be a string`);
  }
});

const TEXTS = [
  "type",
  "tracking_mode",
  "battery_status",
  "os",
  "brand",
  "model",
  "os_version",
  "sdk_version",
  "app_version_name",
  "app_version_code",
];

test.each(TEXTS)("%s is any text of 0 to 128 characters", async (name) => {
  for (const value of ["", "anything", "x".repeat(128), "\u{1F68C}".repeat(128)]) {
    expect(await faultOf({ ...GOOD, [name]: value })).toBeNull();
  }
  expect(await faultOf({ ...GOOD, [name]: "x".repeat(129) })).toBe(`${name} must have 0 to 128 characters`);
  for (const value of [5, false, [], {}]) {
    expect(await faultOf({ ...GOOD, [name]: value })).toBe(`${name} must be a string`);
  }
});

test.each(["device_id", "user_id", ...TEXTS])("%s holds no control characters", async (name) => {
  for (const character of [
    "\u0000",
    "\u0001",
    "\t",
    "\n",
    "\r",
    "\u001f",
    "\u007f",
    "\u0080",
    "\u0085",
    "\u009f",
  ]) {
    for (const value of [character, `a${character}`, `${character}b`]) {
      expect(await faultOf({ ...GOOD, [name]: value })).toBe(`${name} must not contain control characters`);
    }
  }
  for (const character of ["\u00a0", "\u200b", "\u2028", "\ufeff", "\uffff"]) {
    expect(await faultOf({ ...GOOD, [name]: `a${character}b` })).toBeNull();
  }
  for (const lone of ["\\ud83d", "\\ude8c", "\\ude8c\\ud83d"]) {
    const text = JSON.stringify({ locations: [{ ...GOOD, [name]: "LONE" }] }).replace("LONE", lone);
    expect((await sendText(text)).body.rejected[0]?.message).toBe(
      `${name} must be valid Unicode, without lone surrogates`,
    );
  }
});

test("tz_offset is a signed whole number as text", async () => {
  for (const value of ["0", "+0", "-0330", "19800", "+999999", "-1"]) {
    expect(await faultOf({ ...GOOD, tz_offset: value })).toBeNull();
  }
  for (const value of ["", "+", "1234567", "+05:30", " 1", "1 ", "1\n", "1.5", "Z", "--1", "١"]) {
    expect(await faultOf({ ...GOOD, tz_offset: value })).toBe("tz_offset must match ^[+-]?\\d{1,6}$");
  }
  expect(await faultOf({ ...GOOD, tz_offset: 330 })).toBe("tz_offset must be a string");
});

test.each(["network_status", "location_permission", "is_mock"])("%s is true or false", async (name) => {
  for (const value of [true, false, null]) expect(await faultOf({ ...GOOD, [name]: value })).toBeNull();
  for (const value of ["true", "", 1, 0, [], {}]) {
    expect(await faultOf({ ...GOOD, [name]: value })).toBe(`${name} must be true or false`);
  }
});

test("timestamp is an integer of milliseconds", async () => {
  const noInteger = "timestamp must be an integer, Unix time in milliseconds";
  for (const value of [
    NOON_MS + 0.5,
    String(NOON_MS),
    new Date(NOON_MS).toISOString(),
    true,
    [NOON_MS],
    {},
    1e300,
  ]) {
    expect(await faultOf({ ...GOOD, timestamp: value })).toBe(noInteger);
  }
  expect(
    (await sendText(`{"device_id":"bus","timestamp":1e999,"latitude":1,"longitude":2}`)).body.rejected,
  ).toEqual([{ index: 0, device_id: "bus", message: noInteger }]);
  for (const value of [NOON_MS / 1000, 1, 99_999_999_999]) {
    expect(await faultOf({ ...GOOD, timestamp: value })).toBe(
      "timestamp must be Unix time in milliseconds; this looks like seconds",
    );
  }
  // The same integer, written otherwise.
  const written = await sendText(`{"device_id":"e","timestamp":1.774008e12,"latitude":1.0,"longitude":2e0}`);
  expect(written.body as unknown).toMatchObject({ accepted: 1, rejected: [] });
});

test("a report is an object", async () => {
  for (const value of [null, 5, "text", true, [], [GOOD]]) {
    expect(await faultOf(value)).toBe("a report must be a JSON object");
  }
});

test("good reports are taken beside bad ones, which are named by index and device", async () => {
  const own = await createTestApp();
  const at = (index: number, more: object) => ({ ...GOOD, device_id: `d${index}`, ...more });
  const { status, body } = await own.post([
    at(0, {}),
    at(1, { latitude: 90.5 }),
    at(2, { speed: "fast" }),
    null,
    at(4, {}),
    at(5, { device_id: 7 }),
    at(6, { device_id: "" }),
    at(7, { longitude: undefined }),
    at(0, {}),
    at(9, { timestamp: NOON_MS + 3_600_000 }),
  ]);
  expect(status).toBe(200);
  expect(body as unknown).toEqual({
    success: true,
    accepted: 2,
    duplicates: 1,
    rejected: [
      { index: 1, device_id: "d1", message: "latitude must be between -90 and 90" },
      { index: 2, device_id: "d2", message: "speed must be a number" },
      { index: 3, message: "a report must be a JSON object" },
      { index: 5, message: "device_id must be a string" },
      { index: 6, device_id: "", message: "device_id must have 1 to 128 characters" },
      { index: 7, device_id: "d7", message: "longitude is required" },
      { index: 9, device_id: "d9", message: "timestamp must not be more than 10 minutes in the future" },
    ],
    sequence: 1,
  });
  const { body: stored } = await own.get("/api/v1/locations/current");
  expect(stored.locations.map((record) => record.device_id)).toEqual(["d0", "d4"]);
});

test("reports of an erased and blocked device or user are rejected as erased, in every format", async () => {
  const files = await filesWithBlocks([
    { kind: "device", appId: APP_ID as AppId, id: "bus" },
    { kind: "user", appId: APP_ID as AppId, id: "ann" },
    { kind: "device", appId: OTHER_APP_ID as AppId, id: "van" },
  ]);
  const ids = ["van", "bus", "cab", "bus"];
  const reports = Array.from({ length: 2500 }, (_, index) => ({
    ...GOOD,
    device_id: ids[index % 4]!,
    timestamp: NOON_MS - 1000 * index,
    ...(index % 4 === 2 ? { user_id: "ann" } : {}),
    ...(index === 8 ? { latitude: 91 } : {}),
  }));
  const message = "erased: reports of this device or user are refused since it was erased";
  const rejected = reports.flatMap(({ device_id }, index) => {
    if (index === 8) return [{ index, device_id, message: "latitude must be between -90 and 90" }];
    return index % 4 === 0 ? [] : [{ index, device_id, message }];
  });
  for (const send of [
    (own: TestApp) => own.post(reports),
    async (own: TestApp) =>
      answerOf(
        await own.fetch(`${INGEST_PATH}?count=exact`, {
          method: "POST",
          headers: { authorization: `Bearer ${own.keys.full}`, "content-type": "application/x-ndjson" },
          body: reports.map((report) => JSON.stringify(report)).join("\n"),
        }),
      ),
  ]) {
    const own = await createTestApp({ files: createSimulatedFiles(files.contents()) });
    const { body } = await send(own);
    expect(body).toMatchObject({ accepted: 624, duplicates: 0, rejected });
    const { body: current } = await own.get("/api/v1/locations/current");
    expect(current.locations.map((record) => record.device_id)).toEqual(["van"]);
    expect((await own.post([{ ...GOOD, device_id: "bus" }], "other")).body.accepted).toBe(1);
    const { body: requests } = await own.get("/api/v1/devices/bus/requests");
    expect(JSON.stringify(requests)).not.toContain(String(NOON_MS - 1000));
  }
});

test("a rejected report leaves what is stored as it was", async () => {
  const own = await createTestApp();
  await own.store([{ ...GOOD, speed: 1, user_id: "ann" }]);
  const { body } = await own.post([{ ...GOOD, speed: 2, user_id: "bob", brand: "x", bearing: 361 }]);
  expect(body as unknown).toEqual({
    success: true,
    accepted: 0,
    duplicates: 0,
    rejected: [{ index: 0, device_id: "bus", message: "bearing must be between 0 and 360" }],
    sequence: 1,
  });
  const { body: stored } = await own.get("/api/v1/devices/bus/locations/history");
  expect(stored.locations).toEqual([expect.objectContaining({ speed: 1, user_id: "ann" })]);
  expect(stored.locations[0]).not.toHaveProperty("brand");
  expect((await own.get("/api/v1/users/bob/locations/history")).body.locations).toEqual([]);
});

test("a line that is no JSON or no UTF-8 is rejected alone", async () => {
  const own = await createTestApp();
  const line = (device_id: string) => Buffer.from(`${JSON.stringify({ ...GOOD, device_id })}\n`);
  const broken = Buffer.from('{"device_id":"x",\n');
  const deep = Buffer.from(`${"[".repeat(100_000)}\n`);
  const body = Buffer.concat([
    line("a"),
    broken,
    line("b"),
    deep,
    Buffer.from("\n"),
    Buffer.from([0xff, 0x0a]),
    line("c"),
  ]);
  const headers = { authorization: `Bearer ${own.keys.full}`, "content-type": "application/x-ndjson" };
  const answer = await answerOf(await own.fetch(INGEST_PATH, { method: "POST", headers, body }));
  expect(answer.body as unknown).toEqual({
    success: true,
    accepted: 3,
    duplicates: 0,
    rejected: [
      { index: 1, message: "the line is not valid JSON: it cannot be parsed" },
      {
        index: 3,
        message: expect.stringMatching(
          /^the line is not valid JSON: it (cannot be parsed|is nested too deeply)$/,
        ),
      },
      { index: 4, message: "the line is not valid UTF-8" },
    ],
    sequence: 1,
  });
});

test("members that reach for the prototype are members like any other", async () => {
  const own = await createTestApp();
  const headers = { authorization: `Bearer ${own.keys.full}`, "content-type": "application/json" };
  const send = async (body: string) =>
    answerOf(await own.fetch(INGEST_PATH, { method: "POST", headers, body }));
  const inherited = `{"__proto__":${JSON.stringify(GOOD)}}`;
  expect((await send(inherited)).body.rejected).toEqual([{ index: 0, message: "device_id is required" }]);
  expect(
    (await send(`{"__proto__":{"locations":[]},"constructor":{"prototype":{"speed":5}}}`)).body.rejected,
  ).toHaveLength(1);
  for (const device_id of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
    await own.store([{ ...GOOD, device_id, user_id: device_id, type: device_id }]);
    const { body } = await own.get(`/api/v1/users/${device_id}/devices`);
    expect(body.devices.map((device) => device.device_id)).toEqual([device_id]);
  }
  expect(({} as { speed?: number }).speed).toBeUndefined();
});

test("of a member given twice the last counts, as JSON has it", async () => {
  const { body } = await sendText(
    `{"device_id":"twice","timestamp":${NOON_MS},"latitude":99,"latitude":9,"longitude":2}`,
  );
  expect(body as unknown).toMatchObject({ accepted: 1 });
});

test("sequence grows with what is stored, and an answer tells where the log is", async () => {
  const own = await createTestApp();
  const sequences: unknown[] = [];
  for (const i of [0, 0, 1, 2])
    sequences.push((await own.post([{ ...GOOD, timestamp: NOON_MS + i }])).body.sequence);
  sequences.push((await own.post([])).body.sequence, (await own.post([{}])).body.sequence);
  expect(sequences).toEqual([1, 1, 2, 3, 3, 3]);
});

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fit } from "../../../../src/formats/read/fit.ts";
import { FormatError } from "../../../../src/formats/read/format.ts";
import * as fc from "../../../support/fast-check.ts";
import { contentOf, readWhole, SAMPLES, sampleContent } from "../../../support/formats/read-file.ts";

const FIT_EPOCH_S = 631_065_600;
const TIME_MS = 1_770_000_000_000;

/** A field of a definition: its number, its bytes and its base type. */
type Field = readonly [number, number, number];

const UINT8 = 2;
const UINT16 = 0x84;
const SINT32 = 0x85;
const UINT32 = 0x86;
const POSITION: readonly Field[] = [
  [253, 4, UINT32],
  [0, 4, SINT32],
  [1, 4, SINT32],
];

function definition(
  message: number,
  fields: readonly Field[],
  { local = 0, developer = [] as Field[] } = {},
): number[] {
  const header = 0x40 | (developer.length > 0 ? 0x20 : 0) | local;
  const developers = developer.length > 0 ? [developer.length, ...developer.flat()] : [];
  return [header, 0, 0, message & 0xff, message >> 8, fields.length, ...fields.flat(), ...developers];
}

function littleEndian(value: number, bytes: number): number[] {
  return Array.from({ length: bytes }, (_, index) => (value >> (8 * index)) & 0xff);
}

const semicircles = (degrees: number) => littleEndian(Math.round((degrees * 2 ** 31) / 180), 4);
const seconds = (ms: number) => littleEndian(ms / 1000 - FIT_EPOCH_S, 4);
/** Data of `POSITION`, and of what follows it there. */
const record = (ms: number, degrees: number, ...more: number[]) => [
  0,
  ...seconds(ms),
  ...semicircles(degrees),
  ...semicircles(-degrees),
  ...more,
];

/** A checksum, a bit at a time. */
function crcOf(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >> 1) ^ 0xa001 : crc >> 1;
  }
  return crc;
}

function file(messages: readonly (readonly number[])[], { size = null as number | null } = {}): Uint8Array {
  const data = messages.flat();
  const header = [12, 0x20, 0, 0, ...littleEndian(size ?? data.length, 4), 0x2e, 0x46, 0x49, 0x54];
  const bytes = Uint8Array.from([...header, ...data]);
  return Uint8Array.from([...bytes, ...littleEndian(crcOf(bytes), 2)]);
}

const read = (bytes: Uint8Array) => readWhole(fit, contentOf(bytes));

describe("samples", () => {
  test("example.fit has 3,229 records, one without a position", async () => {
    const { points, places, skips, remarks, error } = await readWhole(fit, sampleContent("fit/example.fit"));
    expect(points).toHaveLength(3229);
    expect(points.filter(({ latitude, longitude }) => latitude !== null && longitude !== null)).toHaveLength(
      3228,
    );
    expect(points[0]).toEqual({
      timestampMs: Date.parse("2015-10-12T15:47:45Z"),
      latitude: 47.58426488377154,
      longitude: 6.83858566917479,
      device: "garmin-3867897489",
      user: null,
      details: { altitude: 375.2, speed: 4.945 },
    });
    expect(points.at(-1)!.timestampMs).toBe(Date.parse("2015-10-12T16:42:34Z"));
    expect(places).toEqual(points.map((_, index) => index + 1));
    expect([skips, remarks, error]).toEqual([{}, {}, null]);
  });

  test("no-positions.fit has 779 records without", async () => {
    const { points, error } = await readWhole(fit, sampleContent("fit/no-positions.fit"));
    expect(points).toHaveLength(779);
    expect(points.every(({ latitude, longitude }) => latitude === null && longitude === null)).toBe(true);
    expect(error).toBeNull();
  });

  test("are the same in pieces of any size", async () => {
    const whole = await readWhole(fit, sampleContent("fit/no-positions.fit"));
    for (const pieceBytes of [1, 100, 5000])
      expect(await readWhole(fit, sampleContent("fit/no-positions.fit", pieceBytes))).toEqual(whole);
  });
});

describe("records", () => {
  test("prefer more precise fields, and have accuracies", async () => {
    const more: Field[] = [
      [2, 2, UINT16],
      [6, 2, UINT16],
      [31, 1, UINT8],
      [78, 4, UINT32],
      [73, 4, UINT32],
    ];
    const plain = [...littleEndian((100 + 500) * 5, 2), ...littleEndian(3000, 2), 4];
    const exact = [...littleEndian((34.2 + 500) * 5, 4), ...littleEndian(13_000, 4)];
    const unknown = littleEndian(0xffffffff, 4);
    const { points } = await read(
      file([
        definition(20, [...POSITION, ...more]),
        record(TIME_MS, 52.5, ...plain, ...exact),
        record(TIME_MS, 52.5, ...plain, ...unknown, ...unknown),
      ]),
    );
    expect(points.map(({ details }) => details)).toEqual([
      { altitude: 34.2, speed: 13, horizontal_accuracy: 4 },
      { altitude: 100, speed: 3, horizontal_accuracy: 4 },
    ]);
    expect(points[0]).toMatchObject({ timestampMs: TIME_MS, device: null });
    expect(points[0]!.latitude).toBeCloseTo(52.5, 6);
    expect(points[0]!.longitude).toBeCloseTo(-52.5, 6);
  });

  test("of a clock that was never set have no time", async () => {
    const times = [Date.UTC(1999, 11, 31, 23, 59, 59), Date.UTC(2000, 0, 1)];
    const { points } = await read(file([definition(20, POSITION), ...times.map((ms) => record(ms, 1))]));
    expect(points.map(({ timestampMs }) => timestampMs)).toEqual([null, Date.UTC(2000, 0, 1)]);
  });

  test("may have the time in their header", async () => {
    const compressed = [0x80 | 5, ...semicircles(1), ...semicircles(2)];
    const startMs = TIME_MS - ((TIME_MS / 1000 - FIT_EPOCH_S) % 32) * 1000;
    const { points, error } = await read(
      file([definition(20, POSITION), record(startMs, 1), compressed, compressed]),
    );
    expect(points.map(({ timestampMs }) => timestampMs)).toEqual([startMs, startMs + 5000, startMs + 5000]);
    expect(error).toBeNull();
  });

  test("of files behind each other are all read", async () => {
    const one = file([definition(20, POSITION), record(TIME_MS, 1)]);
    const other = file([definition(20, POSITION), record(TIME_MS + 1000, 2)]);
    const { points, places, error } = await read(Uint8Array.from([...one, ...other]));
    expect(points.map(({ timestampMs }) => timestampMs)).toEqual([TIME_MS, TIME_MS + 1000]);
    expect([places, error]).toEqual([[1, 2], null]);
    const junk = await read(Uint8Array.from([...one, 1, 2, 3]));
    expect([junk.points.length, junk.error]).toEqual([
      1,
      new FormatError(`no FIT file begins at byte ${one.length}`),
    ]);
  });

  test("cannot be named by fields of developers", async () => {
    const text = [..."position_lat"].map((character) => character.charCodeAt(0));
    const description: Field[] = [
      [0, 1, UINT8],
      [1, 1, UINT8],
      [2, 1, UINT8],
      [3, 12, 7],
    ];
    const { points } = await read(
      file([
        definition(206, description, { local: 1 }),
        [1, 0, 0, 2, ...text],
        definition(20, POSITION, { developer: [[0, 1, 0]] }),
        record(TIME_MS, 52.5, 7),
      ]),
    );
    expect(points[0]!.latitude).toBeCloseTo(52.5, 6);
  });
});

describe("damage", () => {
  const messages = [definition(20, POSITION), ...[1, 2, 3].map((n) => record(TIME_MS + n * 1000, n))];

  test("a wrong checksum is remarked of every point", async () => {
    const bytes = file(messages);
    bytes[bytes.length - 1]! ^= 1;
    const { points, remarks, error } = await read(bytes);
    expect([points.length, remarks, error]).toEqual([3, { wrong_checksum: 3 }, null]);
  });

  test("a cut keeps every record before it, and is said", async () => {
    const bytes = file(messages);
    const whole = (await read(bytes)).points;
    const first = bytes.length - 2 - 3 * 13;
    for (let cut = 0; cut < bytes.length - 2; cut++) {
      const { points, remarks, error } = await read(bytes.slice(0, cut));
      const kept = Math.max(0, Math.floor((cut - first) / 13));
      expect(points).toEqual(whole.slice(0, kept));
      expect(remarks).toEqual({});
      expect(error === null).toBe(cut === 0);
    }
    expect((await read(bytes.slice(0, -10))).error!.message).toBe("it is cut off from byte 53 on");
  });

  test("a recording that was never closed is read, and said", async () => {
    const { points, error } = await read(file(messages, { size: 0 }));
    expect(points).toHaveLength(3);
    expect(error!.message).toMatch(/^it is (cut off|damaged) from byte /);
  });

  test("bytes that mean nothing end the reading, and what came before them is kept", async () => {
    for (const bad of [[0x03], [0x10], [0x20], definition(20, [[0, 0, SINT32]])]) {
      const { points, error } = await read(file([...messages, bad, record(TIME_MS, 1)]));
      expect(points).toHaveLength(3);
      expect(error!.message).toMatch(/^it is damaged from byte /);
    }
  });

  test("a file of more messages than any watch writes is refused, and one of nothing but bytes", async () => {
    const empty = file([definition(20, []), new Array(400_001).fill(0)]);
    expect((await read(empty)).error!.message).toContain("400000 messages");
    const large = new Uint8Array(8 * 1024 * 1024 + 1);
    large.set(file(messages).subarray(0, 12));
    expect((await read(large)).error!.message).toContain("8 MiB");
  });

  test("no bytes make it fail otherwise", async () => {
    const sample = readFileSync(join(SAMPLES, "fit/no-positions.fit")).subarray(0, 3000);
    const change = fc.tuple(fc.nat(sample.length - 1), fc.nat(255));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 20 }), async (changes) => {
        const bytes = Uint8Array.from(sample);
        for (const [at, byte] of changes) bytes[at] = byte;
        await read(bytes);
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 }), async (pieces) => {
        await read(file([definition(20, POSITION), ...pieces.map((piece) => [...piece])]));
      }),
    );
  });
});

test("recognise() knows a FIT file by its header", () => {
  const said = (bytes: Uint8Array) => fit.recognise({ bytes, text: "", isWhole: true, name: "file" });
  expect(said(file([]))).toBe('its header says ".FIT"');
  expect(said(file([]).subarray(0, 10))).toBeNull();
  expect(said(Uint8Array.from([20, ...file([]).subarray(1)]))).toBeNull();
});

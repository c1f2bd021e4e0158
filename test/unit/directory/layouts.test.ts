import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { dayFolder, partName } from "../../../src/archive/archive-files.ts";
import { EMPTY_MANIFEST, encodeManifest } from "../../../src/archive/manifest.ts";
import { encodeKeyFile, type KeyRecord } from "../../../src/auth/key-file.ts";
import { encodePassPhraseFile } from "../../../src/auth/pass-phrases.ts";
import { encodeWebhookSecrets } from "../../../src/auth/webhook-secrets.ts";
import type { RefusedMessage } from "../../../src/clients/refused-message.ts";
import { encodeClusterFile } from "../../../src/cluster/cluster-file.ts";
import { ENTRY_LENGTH_BYTES, encodeGroup } from "../../../src/cluster/log/group-message.ts";
import { writeAcknowledged } from "../../../src/directory/damaged-files.ts";
import { encodeLedger } from "../../../src/directory/erasure-ledger.ts";
import { encodeSettings } from "../../../src/directory/settings.ts";
import { noteServing } from "../../../src/directory/take-directory.ts";
import { encodeImportState } from "../../../src/import/state.ts";
import { createSaltedFrames } from "../../../src/lib/frames/frame.ts";
import { encodeIndexColumn } from "../../../src/lib/frames/index-column.ts";
import { encodeNumberColumn } from "../../../src/lib/frames/number-column.ts";
import { viewsOf } from "../../../src/lib/frames/views.ts";
import type { AppId, DeviceId } from "../../../src/model/ids.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../../../src/model/location-fields.ts";
import { createReportBatchBuilder } from "../../../src/model/report-batch.ts";
import { encodeStandingEntry } from "../../../src/model/standing-entry.ts";
import { FixedRetention } from "../../../src/model/time/retention.ts";
import { utcDayOf } from "../../../src/model/time/utc-day.ts";
import { encodeBackup } from "../../../src/operator/backup/file.ts";
import { encodeMessageFile } from "../../../src/service/quarantine/message-file.ts";
import { createEntryEncoder } from "../../../src/wal/entry/entry.ts";
import { encodeSegmentHead, segmentName } from "../../../src/wal/segment.ts";
import { createSimulatedFiles } from "../../support/disk/simulated-files.ts";

/*
 * docs/internals/formats.md draws the bytes of each file. Here the real encoders make bytes, the tables of the page
 * tell what lies where in them, and the result must be what was encoded. A layout that changes in one place only fails.
 */

const PAGE = readFileSync(join(import.meta.dir, "../../../docs/internals/formats.md"), "utf8");

interface Row {
  readonly offset: number;
  readonly type: string;
  readonly field: string;
  readonly meaning: string;
}

/** The cells of the rows of the table behind a caption, without its header. */
function tableBehind(caption: string): string[][] {
  const [, table] = PAGE.split(caption)[1]?.match(/^[^\n]*\n\n((?:\|.*\n)+)/) ?? [];
  if (table === undefined) throw new Error(`formats.md has no table behind "${caption}"`);
  const lines = table.trim().split("\n").slice(2);
  return lines.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function layoutOf(name: string): Row[] {
  return tableBehind(`**${name}**`).map(([offset, type, field, meaning]) => ({
    offset: Number(offset),
    type: type!,
    field: field!.replaceAll("`", ""),
    meaning: meaning!,
  }));
}

type Value = number | string;

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

/** The size of a type and its value at an offset, for a type that has a fixed size. */
function readValue(bytes: Buffer, type: string, at: number): [size: number, value: Value] {
  const counted = /^(\d+) (bytes|zeros)$/.exec(type);
  if (counted !== null) return [Number(counted[1]), hexOf(bytes.subarray(at, at + Number(counted[1])))];
  switch (type) {
    case "u8":
      return [1, bytes.readUInt8(at)];
    case "u16":
      return [2, bytes.readUInt16LE(at)];
    case "u32":
      return [4, bytes.readUInt32LE(at)];
    case "u64":
      return [8, Number(bytes.readBigUInt64LE(at))];
    case "f64":
      return [8, bytes.readDoubleLE(at)];
    default:
      throw new Error(`formats.md has a type that this test does not know: ${type}`);
  }
}

/**
 * The fields that the page's layout finds in bytes. Rows have to follow each other without a gap up to the one of type
 * `rest`, zeros have to be zeros, and a meaning that is a constant (`WHEREWAL`, 2) has to be the value.
 */
function fieldsIn(name: string, encoded: Uint8Array): Record<string, Value> {
  const bytes = Buffer.from(encoded);
  const fields: Record<string, Value> = {};
  let end = 0;
  for (const { offset, type, field, meaning } of layoutOf(name)) {
    expect([name, field, offset]).toEqual([name, field, end]);
    if (type === "rest") {
      fields[field] = hexOf(bytes.subarray(offset));
      end = Number.NaN; // Nothing may follow.
      continue;
    }
    const [size, value] = readValue(bytes, type, offset);
    end = offset + size;
    if (type.endsWith(" zeros")) expect([name, offset, value]).toEqual([name, offset, "00".repeat(size)]);
    else fields[field] = value;
    const [, text] = /^`(\w+)`$/.exec(meaning) ?? [];
    if (text !== undefined) expect(value).toBe(hexOf(Buffer.from(text)));
    else if (/^\d+$/.test(meaning)) expect(value).toBe(Number(meaning));
  }
  expect(end).toBeNaN();
  return fields;
}

const SALT = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
const SALT_HEX = "0102030405060708";
/** Needs more than 32 bits. */
const LARGE = 2 ** 40 + 7;
const APP = "app-1" as AppId;

describe("docs/internals/formats.md draws", () => {
  test("the head of a segment, and its name", () => {
    const head = Buffer.from(encodeSegmentHead(LARGE, SALT));
    expect(fieldsIn("Head of a segment", head)).toEqual({
      magic: hexOf(Buffer.from("WHEREWAL")),
      version: expect.any(Number),
      number: LARGE,
      common_crc: crc32(head.subarray(0, 28)),
      salt: SALT_HEX,
      crc: crc32(head.subarray(0, 44)),
      copy: hexOf(head.subarray(0, 48)),
      frames: "",
    });
    expect(PAGE).toContain(`## \`wal/${segmentName(1)}\``);
  });

  test("a frame", () => {
    const frame = new Uint8Array(24 + 16).fill(7, 24);
    createSaltedFrames(SALT).stamp(frame, LARGE);
    expect(fieldsIn("Frame", frame)).toEqual({
      salt: SALT_HEX,
      crc: crc32(frame.subarray(12), crc32(SALT)),
      payload_bytes: 16,
      sequence: LARGE,
      payload: "07".repeat(16),
    });
  });

  test("an entry of the log, with its parts in their order", () => {
    const builder = createReportBatchBuilder(3);
    for (const device of ["bus", "car", "bus"]) {
      builder.begin();
      builder.numbers[0] = 53.5;
      builder.numbers[2] = 9;
      builder.profile[0] = builder.text("ada");
      builder.add(builder.text(device), 1_795_198_776_000);
    }
    const encoded = createEntryEncoder().encode(APP, builder.build(), 0);
    const { content, ...head } = fieldsIn("Entry of reports", encoded);
    expect(head).toEqual({
      kind: 1,
      reports: 3,
      texts: 3,
      text_bytes: "adabuscar".length,
      profiles: 1,
      states: 1,
      number_columns: 2,
      profile_fields: PROFILE_FIELDS.length,
      state_fields: STATE_FIELDS.length,
      app_id_bytes: APP.length,
    });

    const [first, , third] = NUMBER_FIELDS;
    const names = [first!, third!, ...PROFILE_FIELDS, ...STATE_FIELDS].map(
      ({ columnNumber }) => columnNumber,
    );
    const { texts, device, timestampMs, numbers, profiles, profile, states, state } = builder.build();
    const parts = [
      padded(Buffer.concat([Buffer.from(APP), Uint8Array.from(names)])),
      indexColumn(Uint32Array.from(texts.slice(1), (text) => text.length)),
      padded(Buffer.from(texts.join(""))),
      ...[
        indexColumn(device),
        numberColumn(timestampMs),
        numberColumn(numbers[0]!),
        numberColumn(numbers[2]!),
      ],
      ...[profiles, profile, states, state].map(indexColumn),
    ];
    expect(content).toBe(parts.map(hexOf).join(""));
  });

  test("an entry of a device profile", () => {
    const profile = { name: "Bus", color: null, icon: null, tags: [], metadata: null };
    const entry = { kind: "device_profile", appId: APP, deviceId: "bü" as DeviceId, profile } as const;
    const json = '{"name":"Bus"}';
    expect(fieldsIn("Entry of a device profile", encodeStandingEntry(entry, 0))).toEqual({
      kind: 2,
      app_id_bytes: APP.length,
      device_id_bytes: 3,
      profile_bytes: json.length,
      content: hexOf(padded(Buffer.from(`${APP}bü${json}`))),
    });
    expect(
      fieldsIn("Entry of a device profile", encodeStandingEntry({ ...entry, profile: null }, 0)),
    ).toMatchObject({
      profile_bytes: 0,
    });
  });

  test.each([
    ["one byte each", [3, 255], 1, "03ff000000000000"],
    ["two bytes each", [3, 256], 2, "0300000100000000"],
    ["four bytes each", [3, 65_536], 4, "0300000000000100"],
  ])("an index column of %s", (_kind, indexes, kind, values) => {
    const column = indexColumn(Uint32Array.from(indexes));
    expect(fieldsIn("Index column", column)).toEqual({ kind, same: 0, indexes: values });
  });

  test("an index column whose indexes are all the same", () => {
    const column = indexColumn(Uint32Array.of(9, 9, 9));
    expect(fieldsIn("Index column", column)).toEqual({ kind: 0, same: 9, indexes: "" });
  });

  test.each([
    ["constant", [1.5, 1.5], { kind: 1, decimals: 0, base: 1.5, offsets: "" }],
    ["of 8 bits", [1.5, Number.NaN, 2], { kind: 2, decimals: 1, base: 15, offsets: "00ff050000000000" }],
    ["of 16 bits", [1, 257, Number.NaN], { kind: 3, decimals: 0, base: 1, offsets: "00000001ffff0000" }],
    ["of 32 bits", [1, 65_537], { kind: 4, decimals: 0, base: 1, offsets: "0000000000000100" }],
  ])("a number column with offsets %s", (_kind, values, fields) => {
    expect(fieldsIn("Number column", numberColumn(Float64Array.from(values)))).toEqual(fields);
  });

  test("number columns without offsets: no value, and doubles from where a base would be", () => {
    const kindOf = (values: number[]) => {
      const column = numberColumn(Float64Array.from(values));
      return [column[0], hexOf(column.subarray(8))];
    };
    expect(kindOf([Number.NaN, Number.NaN])).toEqual([0, ""]);
    const doubles = [Math.PI, Number.NaN];
    expect(kindOf(doubles)).toEqual([5, hexOf(new Uint8Array(Float64Array.from(doubles).buffer))]);
  });

  test("a message of a cluster's stream", () => {
    const entry = new Uint8Array(ENTRY_LENGTH_BYTES + 16).fill(7, ENTRY_LENGTH_BYTES);
    const message = encodeGroup([entry]);
    expect(fieldsIn("Message of the stream", message)).toEqual({
      kind: 1,
      version: expect.any(Number),
      crc: crc32(message.subarray(8)),
      entries: 1,
      content: `1000000000000000${"07".repeat(16)}`,
    });
  });

  test("a message of the quarantine", () => {
    const body = Buffer.from("not JSON");
    const message = { clientName: "owntracks", arrivedMs: 1_795_198_776_000 };
    const json = Buffer.from(JSON.stringify(message));
    const file = encodeMessageFile({ ...message, body } as unknown as RefusedMessage);
    expect(fieldsIn("Message of the quarantine", file)).toEqual({
      magic: hexOf(Buffer.from("WHEREQRN")),
      version: 2,
      crc: crc32(file.subarray(16, file.length - body.length), crc32(file.subarray(8, 12))),
      json_bytes: json.length,
      body_bytes: body.length,
      body_crc: crc32(body),
      content: hexOf(Buffer.concat([json, body])),
    });
  });

  test("an entry that changes the quarantine", () => {
    const id = "09".repeat(16);
    const common = { appId: APP, id, source: "", number: 5, start: 0, totalBytes: 3 };
    const piece = { kind: "refused_piece", ...common, bytes: new Uint8Array([1, 2, 3]) } as const;
    const json = Buffer.from(JSON.stringify(common));
    expect(fieldsIn("Entry of the quarantine", encodeStandingEntry(piece, 0))).toEqual({
      kind: 5,
      change: 1,
      json_bytes: json.length,
      piece_bytes: 3,
      content: hexOf(padded(Buffer.concat([json, piece.bytes]))),
    });
    const deletion = { kind: "refused_deletion", appId: APP, messages: [{ id, sequence: 7 }] } as const;
    expect(fieldsIn("Entry of the quarantine", encodeStandingEntry(deletion, 0))).toMatchObject({
      change: 2,
    });
    const arrivals = { kind: "refused_arrivals", appId: APP, arrivals: [{ id, count: 2, lastArrivedMs: 1 }] };
    expect(fieldsIn("Entry of the quarantine", encodeStandingEntry(arrivals as never, 0))).toMatchObject({
      change: 3,
    });
  });
});

const KEY: KeyRecord = {
  ...{ id: "k_1aB2c3D4", appId: APP, permissions: ["read"], view: null, tier: "standard", label: "" },
  ...{ deviceId: null, userId: null, makerId: null, createdMs: 1, lastFour: "abcd" },
  ...{ expiresMs: null, revokedMs: null, sha256: "0".repeat(64) },
};
const ADDRESS = { servers: ["a.example:4222"], isSecure: true, stream: "wherehouse" };
const PART = { file: "", rows: 1, bytes: 1, crc: 1, apps: new Map([[APP, 1]]), columns: "" };
const DAY = utcDayOf(Date.UTC(2026, 10, 14));

/** What a file that is written by the program holds. */
async function written(
  write: (files: ReturnType<typeof createSimulatedFiles>) => Promise<void>,
  path: string,
) {
  const files = createSimulatedFiles();
  await files.makeDirectory("/data");
  await write(files);
  return files.read(path);
}

const JSON_FILES: Record<string, () => Uint8Array | Promise<Uint8Array>> = {
  "archive/manifest.json": () => encodeManifest(EMPTY_MANIFEST),
  "keys.json": () => encodeKeyFile([KEY]),
  "pass-phrases.json": () => encodePassPhraseFile([]),
  "webhook-secrets.json": () => encodeWebhookSecrets(new Map()),
  "settings.json": () => encodeSettings({ retention: FixedRetention.ofDays(365) }),
  "erasures.json": () => encodeLedger({ salt: "0".repeat(64), erasures: [] }),
  "cluster.json": () =>
    encodeClusterFile({ nodeId: "0", address: ADDRESS, created: null, floor: 1, lastTaken: null }),
  "imports/NAME.json": () => encodeImportState({} as Parameters<typeof encodeImportState>[0]),
  "damaged/acknowledged.json": () =>
    written(
      (files) => writeAcknowledged(files, "/data", [{ name: "x", bytes: 1 }]),
      "/data/acknowledged.json",
    ),
  "backup.json": () => encodeBackup({} as Parameters<typeof encodeBackup>[0]),
};

type Members = Record<string, unknown>;
const parse = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes)) as Members;

/** The names in backticks in the sentence that begins so. */
function namesAfter(beginning: string): string[] {
  const sentence = PAGE.split(beginning)[1]!.split(/\.\s/)[0]!;
  return [...sentence.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
}

describe("docs/internals/formats.md names", () => {
  test("the version and the members of each JSON file, in their order", async () => {
    const encoded: Record<string, [version: unknown, members: string[]]> = {};
    for (const [file, encode] of Object.entries(JSON_FILES)) {
      const { version, ...members } = parse(await encode());
      encoded[file] = [version, Object.keys(members)];
    }
    const drawn = tableBehind("### JSON files").map(([file, version, members]) => [
      file!.replaceAll("`", ""),
      [Number(version), [...members!.matchAll(/`(\w+)`/g)].map(([, name]) => name)],
    ]);
    expect(Object.fromEntries(drawn)).toEqual(encoded);
  });

  test("the members of a key and of a part of the archive", () => {
    const { keys } = parse(encodeKeyFile([KEY])) as { keys: Members[] };
    expect(namesAfter("**`keys.json`**: a key has").sort()).toEqual(Object.keys(keys[0]!).sort());
    const { manifest } = parse(encodeManifest({ ...EMPTY_MANIFEST, latest: [PART] })) as {
      manifest: { latest: Members[] };
    };
    expect(namesAfter("A part has")).toEqual(Object.keys(manifest.latest[0]!));
  });

  test("the checksums of JSON files as they are", () => {
    const backup = encodeBackup({} as Parameters<typeof encodeBackup>[0]);
    expect(parse(backup).crc).toBe(crc32("{}"));
    const { version, crc, manifest } = parse(encodeManifest(EMPTY_MANIFEST));
    expect(crc).toBe(crc32(`${version}\n${JSON.stringify(manifest)}`));
  });

  test("what serving.json has, and how a part of the archive is called", async () => {
    const [, example] = /^\*\*`serving\.json`\*\*: `(\{.*?\})`/m.exec(PAGE)!;
    const serving = JSON.parse(example!) as Parameters<typeof noteServing>[2];
    const bytes = await written((files) => noteServing(files, "/data", serving), "/data/serving.json");
    expect(parse(bytes)).toEqual({ ...serving });
    expect(PAGE).toContain(`\`${dayFolder(DAY)}/${partName(12, 0)}\``);
  });
});

function padded(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([bytes, new Uint8Array((8 - (bytes.length % 8)) % 8)]);
}

/** A column as the program encodes it, in a buffer that has nothing else. */
function columnOf(encode: (target: ReturnType<typeof viewsOf>) => number): Uint8Array {
  const target = viewsOf(new Uint8Array(1024).fill(0xee));
  return target.bytes.subarray(0, encode(target));
}

function indexColumn(values: Uint32Array): Uint8Array {
  return columnOf((target) => encodeIndexColumn(target, 0, values));
}

function numberColumn(values: Float64Array): Uint8Array {
  return columnOf((target) => encodeNumberColumn(target, 0, values));
}

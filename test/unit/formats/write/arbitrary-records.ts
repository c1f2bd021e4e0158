import fc from "fast-check";
import { WRITE_FORMATS } from "../../../../src/formats/write/formats.ts";
import type { NameOf, WriteFormat, WriteOptions } from "../../../../src/formats/write/record-writer.ts";
import { type RecordColumns, recordColumns } from "../../../../src/model/record-columns.ts";
import { BASE_MS } from "../../../support/reports/arbitrary-reports.ts";
import { batchOf, type Report } from "../../../support/reports/batches.ts";
import { arbitraryOddText } from "../../../support/reports/odd-texts.ts";

export const PLAIN_OPTIONS: WriteOptions = {
  zone: null,
  redact: false,
  recordSeparator: false,
  gapMs: 30 * 60_000,
  simplifyMeters: null,
};

/** What spreadsheets, XML and JSON take for something else. */
const HOSTILE_TEXTS = [
  ..."=1+1 +1+1 +0 -5 -5.5 -a @SUM(A1) ' '' '=1 ''=1 ''' 'tis it's =".split(" "),
  ..."]]> <![CDATA[ <b> &amp; & &#0; <!-- --> ?> \u0085x"
    .split(" ")
    .filter((text) => !text.includes("\u0085")),
];

export const arbitraryHostileText = fc.oneof(arbitraryOddText, fc.constantFrom(...HOSTILE_TEXTS));

const number = (min: number, max: number) =>
  fc
    .oneof(fc.double({ min, max, noNaN: true }), fc.constantFrom(min, max, 0, 4.8, 1e-7, 5e-324))
    .map((value) => (value < min || value > max ? min : value));
const anyText = fc.oneof(arbitraryHostileText, fc.constant(""));

/** A report with anything that one may carry. */
export const arbitraryAnyReport = fc.record(
  {
    device_id: arbitraryHostileText,
    timestamp: fc.integer({ min: -60, max: 60 }).map((step) => BASE_MS + step * 60_007),
    latitude: number(-90, 90),
    longitude: number(-180, 180),
    horizontal_accuracy: number(0, 10_000_000),
    vertical_accuracy: number(0, 10_000_000),
    altitude: number(-20_000, 100_000_000),
    speed: number(0, 1_000_000),
    bearing: number(0, 360),
    battery_level: number(0, 100),
    user_id: arbitraryHostileText,
    type: anyText,
    battery_status: anyText,
    network_status: fc.boolean(),
    location_permission: fc.boolean(),
    is_mock: fc.boolean(),
    tracking_mode: anyText,
    tz_offset: fc.constantFrom("+0", "-3600", "7"),
    brand: anyText,
    model: anyText,
    os: anyText,
    os_version: anyText,
    sdk_version: anyText,
    app_version_name: anyText,
    app_version_code: anyText,
  },
  { requiredKeys: ["device_id", "timestamp", "latitude", "longitude"] },
);

/** Names of devices, for tests: every other id has one. */
export const someNames: NameOf = (deviceId) => (deviceId.length % 2 === 0 ? null : `<${deviceId}> & "co"`);

export function columnsOf(reports: readonly Report[]): RecordColumns {
  return recordColumns(batchOf(reports));
}

/** Records that can be compared: two NaNs of columns may differ in their bits. */
export function rowsOf({ count, deviceIds, timestampMs, numbers, profiles, states }: RecordColumns) {
  return Array.from({ length: count }, (_, row) => ({
    deviceId: deviceIds[row],
    timestampMs: timestampMs[row],
    numbers: numbers.map((column) => column[row]),
    profile: profiles[row],
    state: states[row],
  }));
}

export function formatNamed(name: string): WriteFormat {
  const format = WRITE_FORMATS.find((each) => each.name === name);
  if (format === undefined) throw new TypeError(`a format ${name}`);
  return format;
}

/** A whole file, written batch by batch. */
export function writeFile(
  name: string,
  batches: readonly (readonly Report[])[],
  options: Partial<WriteOptions> = {},
  nameOf?: NameOf,
): Uint8Array<ArrayBuffer> {
  const writer = formatNamed(name).create({ ...PLAIN_OPTIONS, ...options }, nameOf);
  const pieces = [writer.begin().slice()];
  for (const batch of batches) pieces.push(writer.write(columnsOf(batch)).slice());
  pieces.push(writer.end().slice());
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

export function writeText(...args: Parameters<typeof writeFile>): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(writeFile(...args));
}

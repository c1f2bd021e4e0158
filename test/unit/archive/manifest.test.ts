import { expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import { COLUMNS_MARK } from "../../../src/archive/columns.ts";
import {
  EMPTY_MANIFEST,
  encodeManifest,
  hasOldParts,
  type Manifest,
  parseManifest,
  readManifest,
} from "../../../src/archive/manifest.ts";
import type { AppId } from "../../../src/model/ids.ts";
import type { UtcDay } from "../../../src/model/time/utc-day.ts";

const PART = {
  file: "day=2026-01-14/00000001-000.parquet",
  rows: 3,
  bytes: 900,
  crc: 12345,
  apps: new Map([["app" as AppId, 3]]),
  columns: COLUMNS_MARK,
};
const MANIFEST: Manifest = {
  ...EMPTY_MANIFEST,
  retention: "10y",
  seal: 1,
  lastSequence: 7,
  erased: 5,
  days: new Map([[20_467 as UtcDay, { sequence: 7, cleared: 6, parts: [PART], lost: [] }]]),
};

test("parseManifest() gives back what was encoded", () => {
  expect(parseManifest(encodeManifest(MANIFEST))).toEqual({ ok: true, value: MANIFEST });
});

test("hasOldParts() is whether any part has other columns than those of today", () => {
  expect([hasOldParts([PART]), hasOldParts([PART, { ...PART, columns: "0" }])]).toEqual([false, true]);
});

test("parseManifest() takes no manifest with a flipped bit for a good one or another program's", () => {
  const good = encodeManifest(MANIFEST);
  for (let bit = 0; bit < good.length * 8; bit++) {
    const flipped = good.slice();
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    const parsed = parseManifest(flipped);
    const isSame = parsed.ok && Bun.deepEquals(parsed.value, MANIFEST); // A blank of another kind changes nothing.
    if (!isSame) expect([bit, parsed]).toEqual([bit, { ok: false, error: { kind: "damaged" } }]);
  }
});

test("parseManifest() knows another format, older or newer, whatever else it holds", () => {
  const encode = (text: string) => new TextEncoder().encode(text);
  const body = '{"seal":1}';
  for (const version of [1, 3, 10]) {
    for (const rest of ["", ',"crc":1,"manifest":{}', `,"crc":${crc32(body)},"manifest":${body}`]) {
      const parsed = parseManifest(encode(`{"version":${version}${rest}}`));
      expect(parsed).toEqual({ ok: false, error: { kind: "other_version", version } });
    }
  }
  for (const version of ["0", "-1", "1.5", '"1"', "null"])
    expect(parseManifest(encode(`{"version":${version}}`))).toMatchObject({ error: { kind: "damaged" } });
});

test("readManifest() refuses another format and says who wrote it", () => {
  const read = (version: number) =>
    readManifest(new TextEncoder().encode(`{"version":${version}}`), "/a/m.json");
  const found = (version: number) =>
    `Cannot open the archive's manifest "/a/m.json": expected format version 4, found ${version}.`;
  expect(() => read(1)).toThrow(`${found(1)} A program from before the first release wrote it.`);
  expect(() => read(5)).toThrow(`${found(5)} A newer program wrote it.`);
});

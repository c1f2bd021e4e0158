import { expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import { COLUMNS_MARK } from "../../../src/archive/columns.ts";
import {
  EMPTY_MANIFEST,
  encodeManifest,
  hasOldParts,
  type Manifest,
  parseManifest,
} from "../../../src/archive/files/manifest.ts";
import type { AppId } from "../../../src/model/ids.ts";
import type { UtcDay } from "../../../src/time/utc-day.ts";

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
  days: new Map([[20_467 as UtcDay, { sequence: 7, parts: [PART], lost: [] }]]),
};

test("parseManifest() gives back what was encoded", () => {
  expect(parseManifest(encodeManifest(MANIFEST))).toEqual({ ok: true, value: MANIFEST });
});

test("parseManifest() reads what 0.1 wrote: no retention, and parts whose columns nobody knows", () => {
  const text = JSON.stringify({
    seal: 1,
    lastSequence: 7,
    days: [
      {
        day: "2026-01-14",
        sequence: 7,
        parts: [{ ...PART, apps: [...PART.apps], columns: undefined }],
        lost: [],
      },
    ],
    latest: null,
    expired: [],
  });
  const bytes = new TextEncoder().encode(`{"version":1,"crc":${crc32(text)},"manifest":${text}}\n`);
  const part = { ...PART, columns: "" };
  const days = new Map([[20_467 as UtcDay, { sequence: 7, parts: [part], lost: [] }]]);
  expect(parseManifest(bytes)).toEqual({ ok: true, value: { ...MANIFEST, retention: null, days } });
  expect([hasOldParts([PART]), hasOldParts([PART, part])]).toEqual([false, true]);
});

test("parseManifest() takes no manifest with a flipped bit for a good one or a newer program's", () => {
  const good = encodeManifest(MANIFEST);
  for (let bit = 0; bit < good.length * 8; bit++) {
    const flipped = good.slice();
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    const parsed = parseManifest(flipped);
    const isSame = parsed.ok && Bun.deepEquals(parsed.value, MANIFEST); // A blank of another kind changes nothing.
    if (!isSame) expect([bit, parsed]).toEqual([bit, { ok: false, error: { kind: "damaged" } }]);
  }
});

test("parseManifest() knows a newer format, whatever else it holds", () => {
  const encode = (text: string) => new TextEncoder().encode(text);
  for (const text of ['{"version":3}', '{"version":3,"crc":1,"manifest":{"seal":1}}']) {
    const version = Number(text[11]);
    expect(parseManifest(encode(text))).toEqual({ ok: false, error: { kind: "newer", version } });
  }
});

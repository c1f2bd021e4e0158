import { expect, test } from "bun:test";
import {
  CHUNK_ROWS_MAX,
  type Chunk,
  createChunk,
  numberAt,
  openRow,
  profileAt,
  setTuples,
  stateAt,
  timestampAt,
  writeRow,
} from "../../../../src/hot/records/chunk.ts";
import { packChunk, unpackChunk } from "../../../../src/hot/records/packed-chunk.ts";
import { NUMBER_FIELDS } from "../../../../src/model/location-fields.ts";
import * as fc from "../../../support/fast-check.ts";

const FIELDS = NUMBER_FIELDS.map((_, field) => field);

/** Decimals as phones send them, whatever else a double may be, and nothing. */
const value = fc.oneof(
  fc.integer({ min: -180_000_000, max: 180_000_000 }).map((number) => number / 1e6),
  fc.nat(1000).map((number) => number / 10),
  fc.double({ noNaN: true }).map((number) => number + 0),
  fc.constant(Number.NaN),
);

interface Row {
  readonly gapMs: number;
  readonly numbers: readonly number[];
  readonly profile: number;
  readonly state: number;
}

const row: fc.Arbitrary<Row> = fc.record({
  gapMs: fc.constantFrom(1, 1000, 60_000),
  numbers: fc.array(value, { minLength: FIELDS.length, maxLength: FIELDS.length }),
  profile: fc.oneof(fc.nat(3), fc.constant(2 ** 32 - 1)),
  state: fc.oneof(fc.nat(3), fc.nat(0x7fe0_0000)),
});

function chunkOf(rows: readonly Row[], mask: number): Chunk {
  const chunk = createChunk(rows.length, mask);
  let timestampMs = Date.UTC(2026, 0, 14);
  rows.forEach(({ gapMs, numbers, profile, state }, at) => {
    openRow(chunk, at);
    timestampMs += gapMs;
    writeRow(
      chunk,
      at,
      timestampMs,
      numbers.map((number) => Float64Array.of(number)),
      0,
    );
    setTuples(chunk, at, profile, state);
  });
  return chunk;
}

function recordsOf(chunk: Chunk) {
  return Array.from({ length: chunk.count }, (_, at) => [
    timestampAt(chunk, at),
    // Columns don't keep the sign of zero, and no answer shows it.
    ...FIELDS.map((field) => numberAt(chunk, at, field) + 0),
    profileAt(chunk, at),
    stateAt(chunk, at),
  ]);
}

test("what is packed comes back as it was, or is not worth it", () => {
  fc.assert(
    fc.property(
      fc.array(row, { minLength: 1, maxLength: CHUNK_ROWS_MAX, size: "max" }),
      fc.nat(63),
      (rows, mask) => {
        const chunk = chunkOf(rows, mask);
        const packed = packChunk(chunk);
        if (packed === null) return;
        expect([packed.firstMs, packed.lastMs]).toEqual([
          timestampAt(chunk, 0),
          timestampAt(chunk, chunk.count - 1),
        ]);
        expect(packed.packed.length).toBeLessThan(chunk.f64.byteLength);
        const back = unpackChunk(packed);
        expect([back.count, back.mask]).toEqual([chunk.count, mask]);
        expect(recordsOf(back)).toEqual(recordsOf(chunk));
      },
    ),
  );
});

test("records as phones make them are packed to a third", () => {
  const rows = Array.from({ length: CHUNK_ROWS_MAX }, (_, at) => ({
    gapMs: 60_000,
    numbers: FIELDS.map((field) => 42 + field + Math.round(at * 1.7) / 10),
    profile: 7,
    state: at % 3,
  }));
  const chunk = chunkOf(rows, 63);
  expect(packChunk(chunk)!.packed.length).toBeLessThan(chunk.f64.byteLength / 3);
});

test("what doesn't get smaller stays as it is", () => {
  const rows = Array.from({ length: CHUNK_ROWS_MAX }, (_, at) => ({
    gapMs: 1,
    numbers: FIELDS.map((field) => Math.sin(at + field)),
    profile: at,
    state: at,
  }));
  expect(packChunk(chunkOf(rows, 63))).toBeNull();
});

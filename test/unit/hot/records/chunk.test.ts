import { expect, test } from "bun:test";
import {
  ALL_FIELDS,
  copyRows,
  createChunk,
  openRow,
  profileAt,
  setTuples,
  stateAt,
} from "../../../../src/hot/records/chunk.ts";
import { AssertionError } from "../../../../src/lib/assert.ts";
import * as fc from "../../../support/fast-check.ts";

const STATES_END = 0x7ff0_0000;

test("a row's profile and state come back, and go with it into a copy, whatever bits they are", () => {
  // Zeros, infinities, NaNs and the least of doubles begin at such numbers.
  const edges = fc.constantFrom(0, 1, 0x3ff0_0000, 0x7fef_ffff, 0x7ff0_0000, 0x8000_0000, 0xffff_ffff);
  const anyProfile = fc.oneof(edges, fc.nat(0xffff_ffff));
  const anyState = fc.oneof(edges, fc.nat(0xffff_ffff)).filter((state) => state < STATES_END);
  const tuples = fc.array(fc.tuple(anyProfile, anyState), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(tuples, fc.constantFrom(0, 1, ALL_FIELDS), (rows, mask) => {
      const chunk = createChunk(rows.length, 0);
      rows.forEach(([profile, state], row) => {
        openRow(chunk, row);
        setTuples(chunk, row, profile, state);
      });
      const copy = copyRows(chunk, 0, rows.length, rows.length + 1, mask);
      for (const each of [chunk, copy])
        expect(rows.map((_, row) => [profileAt(each, row), stateAt(each, row)])).toEqual(rows);
    }),
  );
});

test("a state whose bits would be no number's is caught", () => {
  const chunk = createChunk(1, 0);
  expect(() => setTuples(chunk, 0, 0, STATES_END)).toThrow(AssertionError);
});

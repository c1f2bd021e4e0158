import { expect, test } from "bun:test";
import { CountedTexts } from "../../../../src/hot/records/counted-texts.ts";
import { NO_TUPLE } from "../../../../src/hot/records/counted-tuples.ts";
import { TextTuples, TupleTranslation } from "../../../../src/hot/records/text-tuples.ts";
import * as fc from "../../../support/fast-check.ts";

const WIDTH = 3;
const tuple = fc.array(fc.constantFrom("", "a", "b", "c", "d"), { minLength: WIDTH, maxLength: WIDTH });
/** Tuples of texts, "" where one is not carried, each with a guess of what it may be. */
const batch = fc.array(fc.tuple(tuple, fc.integer({ min: -1, max: 9 })), { minLength: 1, maxLength: 20 });

test("numberOf() finds the same tuples whatever is guessed", () => {
  fc.assert(
    fc.property(fc.array(batch, { maxLength: 6 }), (batches) => {
      const tuples = new TextTuples(WIDTH, new CountedTexts());
      let known = 0;
      for (const rows of batches) {
        const texts = ["", ...new Set(rows.flatMap(([members]) => members).filter((text) => text !== ""))];
        const from = Uint32Array.from(
          rows.flatMap(([members]) => members.map((text) => texts.indexOf(text))),
        );
        const translated = (guessed: (row: number) => number) => {
          const translation = new TupleTranslation(tuples, texts, from, new Uint32Array(texts.length));
          return rows.map((_, row) => translation.numberOf(row, guessed(row)));
        };
        const numbers = translated((row) => (rows[row]![1] < known ? rows[row]![1] : NO_TUPLE));
        const found = numbers.map((number) =>
          Array.from({ length: WIDTH }, (_, member) => tuples.textAt(number, member) ?? ""),
        );
        expect(found).toEqual(rows.map(([members]) => members));
        expect(translated(() => NO_TUPLE)).toEqual(numbers);
        known = tuples.counted.size; // None goes, so numbers are those from 0 on.
      }
    }),
  );
});

import { expect, test } from "bun:test";
import { RecordMarks } from "../../../../src/cli/export/record-marks.ts";
import { WRITE_FORMATS } from "../../../../src/formats/write/formats.ts";
import * as fc from "../../../support/fast-check.ts";
import { writeFile } from "../../formats/write/arbitrary-records.ts";
import { arbitraryTracks } from "../../formats/write/arbitrary-tracks.ts";

test("the records of every text format are counted, in whatever pieces it comes", () => {
  const names = WRITE_FORMATS.map(({ name }) => name).filter((name) => name !== "kmz");
  fc.assert(
    fc.property(
      arbitraryTracks,
      fc.constantFrom(...names),
      fc.integer({ min: 1, max: 50 }),
      (tracks, name, size) => {
        const bytes = writeFile(name, tracks.batches);
        const marks = new RecordMarks(name);
        for (let at = 0; at < bytes.length; at += size) marks.push(bytes.subarray(at, at + size));
        expect(marks.records).toBe(tracks.reports.length);
      },
    ),
    { numRuns: 300 },
  );
});

test("of what is packed nothing is said", () => {
  for (const name of ["kmz", "parquet"]) expect(new RecordMarks(name).records).toBeNull();
});

import { expect, test } from "bun:test";
import { viewsOf } from "../../../src/lib/frames/views.ts";
import { membersOf } from "../../../src/model/correction.ts";
import { decodeRows, encodeRows } from "../../../src/model/encoded-rows.ts";
import * as fc from "../../support/fast-check.ts";
import { arbitraryReport, BASE_MS } from "../../support/reports/arbitrary-reports.ts";
import { batchOf } from "../../support/reports/batches.ts";

const batches = fc
  .array(arbitraryReport, { maxLength: 20 })
  .map((reports) =>
    batchOf(reports.map((report, i) => ({ ...report, device_id: "bus", timestamp: BASE_MS + i }))),
  );

test("decodeRows() gives back the rows that encodeRows() wrote, wherever they lie", () => {
  fc.assert(
    fc.property(batches, fc.constantFrom(0, 8, 64), (batch, before) => {
      const encoded = encodeRows(batch);
      const bytes = new Uint8Array(before + encoded.length);
      bytes.set(encoded, before);
      expect(encoded.length % 8).toBe(0);
      const decoded = decodeRows(viewsOf(bytes), before, bytes.length, 20)!;
      expect(decoded.count).toBe(batch.count);
      for (let row = 0; row < batch.count; row++)
        expect(membersOf(decoded, row)).toEqual(membersOf(batch, row));
    }),
  );
});

test("decodeRows() refuses too many rows, and never throws for bytes that are not as written", () => {
  fc.assert(
    fc.property(batches, fc.nat(), fc.nat(255), fc.nat(), (batch, at, byte, length) => {
      const bytes = new Uint8Array(encodeRows(batch));
      if (batch.count > 0) expect(decodeRows(viewsOf(bytes), 0, bytes.length, batch.count - 1)).toBeNull();
      bytes[at % bytes.length] = byte;
      const end = bytes.length - 8 * (length % (bytes.length / 8 + 1));
      const decoded = decodeRows(viewsOf(bytes), 0, end, 20);
      expect(decoded === null || decoded.count <= 20).toBe(true);
    }),
  );
});

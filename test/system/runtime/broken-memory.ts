import { BatchWriter } from "../../../src/hot/batch-writer.ts";
import { pickReports } from "../../../src/wal/batch-parts.ts";

/*
 * The program with a memory that can't take in what names the device "boom": it takes half of such a batch, and throws.
 */
const { apply } = BatchWriter.prototype;
BatchWriter.prototype.apply = function (app, batch, sequence) {
  if (!batch.texts.includes("boom")) return apply.call(this, app, batch, sequence);
  apply.call(this, app, pickReports(batch, [0]), sequence);
  throw new RangeError("Array buffer allocation failed");
};
await import("../../../src/main.ts");

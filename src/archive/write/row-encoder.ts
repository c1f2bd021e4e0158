import { JsonWriter } from "../../lib/text/json-writer.ts";
import type { AppId } from "../../model/ids.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import { createCellFinder } from "./h3-cells.ts";
import { encodeRows } from "./staged-rows.ts";

/** Turns batches into lines of CSV, in the order they are given. */
export interface RowEncoder {
  /** Takes the batch over: its columns may be empty afterwards. */
  encode(appId: AppId, batch: ReportBatch): Promise<Uint8Array>;
  /** What still waits is refused. */
  close(): void;
}

/** An encoder on the thread that asks. */
export function createInlineRowEncoder(): RowEncoder {
  const cells = createCellFinder();
  const out = new JsonWriter(OUT_BYTES_INITIAL);
  return {
    async encode(appId, batch) {
      out.clear();
      encodeRows(appId, batch, cells, out);
      return out.written().slice();
    },
    close() {},
  };
}

/** A batch of a few thousand full reports; it grows for larger ones. */
const OUT_BYTES_INITIAL = 1 << 20;

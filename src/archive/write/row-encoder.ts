import { Worker } from "node:worker_threads";
import type { Result } from "../../lib/result.ts";
import { JsonWriter } from "../../lib/text/json-writer.ts";
import type { AppId } from "../../model/ids.ts";
import { batchBuffers, type ReportBatch } from "../../model/report-batch.ts";
import { createCellFinder } from "./h3-cells.ts";
import { encodeRows } from "./staged-rows.ts";

/** Turns batches into lines of CSV, in the order they are given. */
export interface RowEncoder {
  /** Takes the batch over: its columns may be empty afterwards. */
  encode(appId: AppId, batch: ReportBatch): Promise<Uint8Array>;
  /** What still waits is refused. */
  close(): void;
}

/** What is sent to the thread; it answers each with a `RowsText`. */
export interface RowsRequest {
  readonly appId: AppId;
  readonly batch: ReportBatch;
}

/** The lines, or what went wrong. */
export type RowsText = Result<Uint8Array<ArrayBuffer>, string>;

interface Waiting {
  resolve(bytes: Uint8Array): void;
  reject(error: Error): void;
}

/** An encoder on a thread of its own, away from requests. Idle, it keeps no process alive. */
export function createRowEncoder(): RowEncoder {
  const worker = new Worker(new URL("./row-encoder-worker.ts", import.meta.url));
  const waiting: Waiting[] = []; // The thread answers in order.
  let failure: Error | null = null;

  function stop(error: Error): void {
    failure ??= error;
    for (const { reject } of waiting.splice(0)) reject(failure);
  }

  worker.unref();
  worker.on("message", (text: RowsText) => {
    const first = waiting.shift();
    if (waiting.length === 0) worker.unref();
    if (text.ok) first?.resolve(text.value);
    else first?.reject(new Error(`Cannot encode rows: ${text.error}`));
  });
  worker.on("error", (cause) => stop(new Error("The thread that encodes rows failed", { cause })));
  worker.on("exit", () => stop(new Error("The thread that encodes rows ended")));

  return {
    encode(appId, batch) {
      if (failure !== null) return Promise.reject(failure);
      return new Promise((resolve, reject) => {
        worker.postMessage({ appId, batch } satisfies RowsRequest, batchBuffers(batch));
        waiting.push({ resolve, reject });
        worker.ref(); // Somebody waits.
      });
    },
    close() {
      stop(new Error("The encoder of rows is closed"));
      void worker.terminate();
    },
  };
}

/** An encoder right here: what the thread runs. */
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

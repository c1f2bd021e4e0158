import { parentPort } from "node:worker_threads";
import { assert } from "../../lib/assert.ts";
import { fail, ok } from "../../lib/result.ts";
import { createInlineRowEncoder, type RowsRequest, type RowsText } from "./row-encoder.ts";

/** The thread of `createRowEncoder`. */
assert(parentPort !== null, "the encoder's thread was started as one");
const port = parentPort;
const encoder = createInlineRowEncoder();

port.on("message", async ({ appId, batch }: RowsRequest) => {
  try {
    const bytes = (await encoder.encode(appId, batch)) as Uint8Array<ArrayBuffer>;
    port.postMessage(ok(bytes) satisfies RowsText, [bytes.buffer]);
  } catch (error) {
    port.postMessage(fail(String(error)) satisfies RowsText);
  }
});

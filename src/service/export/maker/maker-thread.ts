import { parentPort, Worker } from "node:worker_threads";
import { assert } from "../../../lib/assert.ts";
import type { StartHelper } from "../../../runtime/helper/helper.ts";
import type { MakerPort } from "./serve-exports.ts";

/*
 * A thread instead of a helper process. It has our priority and memory, and ends with us.
 */

/** Tells the thread to end; only this file sends it. */
const END = { kind: "end thread" } as const;

/**
 * Starts a thread of this process. `end` asks it to end; `onEnd` is called when a native call in progress has ended.
 */
export const startThread: StartHelper = (script, { onMessage, onEnd }) => {
  const worker = new Worker(script);
  let reason = "it was asked to end";
  worker.on("message", onMessage);
  worker.on("error", (error) => {
    reason = String(error);
  });
  worker.on("exit", () => onEnd(reason));
  return {
    send: (message) => worker.postMessage(message),
    end: () => worker.postMessage(END),
  };
};

/** The port for the script of a maker in a thread. */
export function openThreadPort(): MakerPort {
  const port = parentPort;
  assert(port !== null, "a thread has a port to the one that began it");
  let finish: () => Promise<void> = async () => {};
  return {
    send: (message) => port.postMessage(message),
    onMessage(take) {
      const listen = (message: unknown) => {
        // A thread without listeners and pending work ends.
        if ((message as { kind?: unknown }).kind === END.kind)
          void finish().then(() => port.off("message", listen));
        else take(message);
      };
      port.on("message", listen);
    },
    onEnd(finishing) {
      finish = finishing;
    },
  };
}

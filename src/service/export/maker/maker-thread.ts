import { parentPort, Worker } from "node:worker_threads";
import { assert } from "../../../lib/assert.ts";
import type { StartHelper } from "../../../runtime/helper/helper.ts";
import type { MakerPort } from "./serve-exports.ts";

/*
 * A thread in the place of a helper's process. It has the processor as we have, and shares our memory and our end.
 */

/** Asks the thread to end, which nobody else may do. */
const END = { kind: "end thread" } as const;

/**
 * Begins a thread of this process. `end` asks it to end by itself: `onEnd` comes when it has, however long a native
 * call takes that is under way.
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

/** For the script of a maker, in a thread. */
export function openThreadPort(): MakerPort {
  const port = parentPort;
  assert(port !== null, "a thread has a port to the one that began it");
  let finish: () => Promise<void> = async () => {};
  return {
    send: (message) => port.postMessage(message),
    onMessage(take) {
      const listen = (message: unknown) => {
        // A thread that listens to nobody, and waits for nothing, ends.
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

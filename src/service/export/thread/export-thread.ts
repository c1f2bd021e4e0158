import { Worker } from "node:worker_threads";
import { assert } from "../../../lib/assert.ts";
import { batchBuffers } from "../../../model/report-batch.ts";
import { doneWithin } from "../../../runtime/listen.ts";
import type { Close, Closed, Command, Outcome, Piece, PieceTaken, ThreadSettings } from "./messages.ts";

/** A statement is broken off within some tens of milliseconds. */
const CLOSE_MS_MAX = 2000;

export interface ExportThread {
  /** Does a command behind those before it. Takes a batch over: its columns are empty afterwards. */
  run(command: Command): Promise<Outcome>;
  /** Says that a piece was taken: the thread makes no more than a few ahead. */
  taken(): void;
  /** Ends the thread, whatever it does; what waits for it rejects. */
  close(): Promise<void>;
}

export interface ThreadEvents {
  onPiece(bytes: Uint8Array<ArrayBuffer>): void;
}

export function startExportThread(settings: ThreadSettings, { onPiece }: ThreadEvents): ExportThread {
  const worker = new Worker(new URL("./export-worker.ts", import.meta.url), { workerData: settings });
  let failure: Error | null = null;
  /** Who waits for the outcome of the command that is being done. */
  let waiting: { resolve(outcome: Outcome): void; reject(error: Error): void } | null = null;
  let closing: Promise<void> | null = null;
  let onClosed: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    onClosed = resolve;
  });

  function stop(error: Error): void {
    failure ??= error;
    waiting?.reject(failure);
    waiting = null;
  }

  async function close(): Promise<void> {
    stop(new Error("The export is over"));
    worker.postMessage({ kind: "close" } satisfies Close);
    await doneWithin(closed, CLOSE_MS_MAX);
    await worker.terminate();
  }

  worker.on("message", (message: Outcome | Piece | Closed) => {
    if (message.kind === "piece") onPiece(message.bytes);
    else if (message.kind === "closed") onClosed();
    else {
      waiting?.resolve(message);
      waiting = null;
    }
  });
  worker.on("error", (cause) => {
    stop(new Error("The thread of an export failed", { cause }));
    onClosed();
  });
  worker.on("exit", () => {
    stop(new Error("The thread of an export ended"));
    onClosed();
  });

  return {
    run(command) {
      if (failure !== null) return Promise.reject(failure);
      assert(waiting === null, "an export's thread is told one command at a time");
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        worker.postMessage(command, "batch" in command ? batchBuffers(command.batch) : []);
      });
    },
    taken: () => worker.postMessage({ kind: "taken" } satisfies PieceTaken),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

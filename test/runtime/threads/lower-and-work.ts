/** Says which threads let others run first once one does so. */
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { beginPoolThreads, lowerThreadPriority } from "../../../src/runtime/threads/priority.ts";
import { nicestThreads } from "./nicest-threads.ts";

if (isMainThread) {
  await beginPoolThreads();
  const worker = new Worker(new URL(import.meta.url));
  worker.on("message", (reason: string | null) => {
    console.log(JSON.stringify({ reason, nicest: nicestThreads() }));
    process.exit(0);
  });
} else {
  parentPort!.postMessage(lowerThreadPriority());
}

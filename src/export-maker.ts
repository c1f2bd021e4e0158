import { isMainThread } from "node:worker_threads";
import { openHelperPort } from "./runtime/helper/spawn-helper.ts";
import { openThreadPort } from "./service/export/maker/maker-thread.ts";
import { serveExports } from "./service/export/maker/serve-exports.ts";

/** What makes exports for a process of ours, which begins it: a process, or a thread where that can't be. */
serveExports(isMainThread ? { ...openHelperPort(), onEnd: () => {} } : openThreadPort()); // A process is killed.

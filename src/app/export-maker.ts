import { isMainThread } from "node:worker_threads";
import { openHelperPort } from "../runtime/helper/spawn-helper.ts";
import { openThreadPort } from "../service/export/maker/maker-thread.ts";
import { serveExports } from "../service/export/maker/serve-exports.ts";

/** Four exports run up to a dozen threads. This leaves the server half of a contended core; 5 left it a fifth. */
const NICENESS = 10;

/** The helper that makes exports: a process, or a thread if no process can be started. A process ends by a kill. */
serveExports(isMainThread ? { ...openHelperPort(NICENESS), onEnd: () => {} } : openThreadPort());

import { isMainThread } from "node:worker_threads";
import { openHelperPort } from "../runtime/helper/spawn-helper.ts";
import { openThreadPort } from "../service/export/maker/maker-thread.ts";
import { serveExports } from "../service/export/maker/serve-exports.ts";

/**
 * Four of them have up to a dozen threads, which together are to leave the server half of a core that both want. With
 * that of a seal, 5, they left it a fifth.
 */
const NICENESS = 10;

/**
 * What makes exports for a process of ours, which begins it: a process, or a thread where that can't be. A process has
 * nothing to do at its end, because it is killed.
 */
serveExports(isMainThread ? { ...openHelperPort(NICENESS), onEnd: () => {} } : openThreadPort());

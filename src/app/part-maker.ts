import { servePartEngine } from "../archive/write/engine/part-server.ts";
import { openHelperPort } from "../runtime/helper/spawn-helper.ts";
import { createNodeFiles } from "../runtime/node-files.ts";

/**
 * Leaves a part a quarter of a contended core. With 19 a seal stood still on a machine whose cores were all busy;
 * answers wait equally long with 5, 10 and 19.
 */
const NICENESS = 5;

/** The helper process that makes the archive's parts during a seal. */
servePartEngine(openHelperPort(NICENESS), createNodeFiles());

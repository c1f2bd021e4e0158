import { servePartEngine } from "../archive/write/engine/part-server.ts";
import { openHelperPort } from "../runtime/helper/spawn-helper.ts";
import { createNodeFiles } from "../runtime/node-files.ts";

/**
 * A quarter of a core where somebody else wants all of it, and so still some: with 19 a seal stood still on a machine
 * whose cores were all taken. What answers wait for it is the same with 5, 10 and 19.
 */
const NICENESS = 5;

/** The process that makes the archive's parts for another of ours, which begins it for a seal. */
servePartEngine(openHelperPort(NICENESS), createNodeFiles());

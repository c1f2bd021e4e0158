import { servePartEngine } from "./archive/write/engine/part-server.ts";
import { openHelperPort } from "./runtime/helper/spawn-helper.ts";
import { createNodeFiles } from "./runtime/node-files.ts";

/** The process that makes the archive's parts for another of ours, which begins it for a seal. */
servePartEngine(openHelperPort(), createNodeFiles());

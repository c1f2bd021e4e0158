import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeWorld } from "./make-world.ts";

/** Writes data/map/world.pmtiles anew. */

writeFileSync(join(import.meta.dir, "../../../data/map/world.pmtiles"), makeWorld());

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { WRITTEN_PARTS, withWrittenPart } from "./written-parts.ts";

/** Writes the parts of pages that follow from endpoints, error codes and commands. */
for (const part of WRITTEN_PARTS) {
  const path = join(import.meta.dir, "../../..", part.page);
  writeFileSync(path, withWrittenPart(readFileSync(path, "utf8"), part));
}

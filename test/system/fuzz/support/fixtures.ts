import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A file that version 0.1 wrote. */
export function fixture(place: string): Uint8Array {
  return Uint8Array.from(readFileSync(join(import.meta.dirname!, "../../../data/fixtures/v1", place)));
}

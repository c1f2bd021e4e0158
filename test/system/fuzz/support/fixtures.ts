import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A file of the fixture. */
export function fixture(place: string): Uint8Array {
  return Uint8Array.from(readFileSync(join(import.meta.dirname!, "../../../data/fixtures/v3", place)));
}

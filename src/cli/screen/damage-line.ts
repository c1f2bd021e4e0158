import type { Damage } from "../../directory/set-aside.ts";
import { countOf } from "./counts.ts";

/** What a start found damaged in the log, and what became of it. */
export function damageLine({ file, offset, bytes, savedAs }: Damage): string {
  const kept = savedAs === null ? "left in place" : `set aside as ${savedAs}`;
  return `Damaged: ${countOf(bytes, "byte")} of ${file} at ${offset}, ${kept}.`;
}

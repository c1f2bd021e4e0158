import type { Damage } from "../../directory/set-aside.ts";
import type { EntryError } from "../../wal/entry/entry.ts";
import { countOf } from "./layout.ts";

/** What a start found damaged in the log, and what became of it. */
export function damageLine({ file, offset, bytes, savedAs }: Damage): string {
  const kept = savedAs === null ? "left in place" : `set aside as ${savedAs}`;
  return `Damaged: ${countOf(bytes, "byte")} of ${file} at ${offset}, ${kept}.`;
}

/** What a start says of an entry that memory can't take in, before it says what became of its bytes. */
export function entryLeftOutLine(failure: EntryError): string {
  return `${failure.message}. It is set aside, and the log is read again without it.`;
}

import type { Damage } from "../../directory/damaged-files.ts";
import type { SealReport } from "../../service/upkeep/seal/seal.ts";
import type { EntryError } from "../../wal/entry/entry.ts";
import { countOf } from "./layout.ts";

/*
 * What a data directory reports: damage that a start found, and what a seal did.
 */

/** What a start found damaged in the log, and what became of it. */
export function damageLine({ file, offset, bytes, savedAs }: Damage): string {
  const kept = savedAs === null ? "left in place" : `set aside as ${savedAs}`;
  return `Damaged: ${countOf(bytes, "byte")} of ${file} at ${offset}, ${kept}.`;
}

/** What a start says of an entry that memory can't hold, before it says what became of its bytes. */
export function entryLeftOutLine(failure: EntryError): string {
  return `${failure.message}. It is set aside, and the log is read again without it.`;
}

/** Whether a seal had anything to do. */
export function didAnything({ days, blocked, expired, deleted, logBytes, unfinished }: SealReport): boolean {
  return days.length + blocked.length + expired.length + deleted.length + logBytes > 0 || unfinished !== null;
}

/** What a seal did, in a line for a log. */
export function sealSummary(report: SealReport): string {
  const { days, records, bytes, blocked, expired, deleted, logBytes, unfinished, durationMs } = report;
  const seconds = (durationMs / 1000).toFixed(1);
  const clauses = [
    days.length > 0
      ? `Archived ${countOf(records, "record")} of ${range(days)} as ${sizeOf(bytes)} in ${seconds} s`
      : "Archived nothing new",
    blocked.length > 0 ? `not ${range(blocked)}, whose archive is damaged` : null,
    expired.length > 0 ? `${range(expired)} went out of the retention` : null,
    deleted.length > 0 ? `${range(deleted)} deleted` : null,
    logBytes > 0 ? `${sizeOf(logBytes)} of the log freed` : null,
    unfinished !== null
      ? `what that made superfluous is not all removed, the next seal goes on: ${unfinished}`
      : null,
  ];
  return `${clauses.filter((part) => part !== null).join("; ")}.`;
}

function range(days: readonly string[]): string {
  if (days.length === 1) return days[0]!;
  return `${countOf(days.length, "day")} (${days[0]} to ${days.at(-1)})`;
}

function sizeOf(bytes: number): string {
  if (bytes < 1e5) return `${(bytes / 1e3).toFixed(1)} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

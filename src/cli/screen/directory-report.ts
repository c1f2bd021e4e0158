import type { Damage } from "../../directory/damaged-files.ts";
import type { SealReport } from "../../service/upkeep/seal/seal.ts";
import type { EntryError } from "../../wal/entry/entry.ts";
import { countOf } from "./layout.ts";

/* Lines about a data directory: damage that a start found, and what a seal did. */

export function damageLine({ file, offset, bytes, savedAs }: Damage): string {
  const outcome = savedAs === null ? "left in place" : `set aside as ${savedAs}`;
  return `Damaged: ${countOf(bytes, "byte")} of ${file} at ${offset}, ${outcome}.`;
}

/** Says that a start skips an entry that memory can't hold. `damageLine` follows with its bytes. */
export function entryLeftOutLine(failure: EntryError): string {
  return `${failure.message}. The entry is set aside, and the log is read again without it.`;
}

export function didAnything({ days, blocked, expired, deleted, logBytes, unfinished }: SealReport): boolean {
  return days.length + blocked.length + expired.length + deleted.length + logBytes > 0 || unfinished !== null;
}

export function sealSummary(report: SealReport): string {
  const { days, records, bytes, blocked, expired, deleted, erased, logBytes, unfinished, durationMs } =
    report;
  const seconds = (durationMs / 1000).toFixed(1);
  const clauses = [
    days.length > 0
      ? `Archived ${countOf(records, "record")} of ${range(days)} as ${sizeOf(bytes)} in ${seconds} s`
      : "Archived nothing new",
    blocked.length > 0 ? `not ${range(blocked)}, whose archive is damaged` : null,
    expired.length > 0 ? `${range(expired)} expired` : null,
    deleted.length > 0 ? `${range(deleted)} deleted` : null,
    erased !== null && erased.records > 0
      ? `${countOf(erased.records, "record")} erased from files of ${countOf(erased.days.length, "day")}`
      : null,
    logBytes > 0 ? `${sizeOf(logBytes)} of the log freed` : null,
    unfinished !== null ? `old files are not all removed, the next seal continues: ${unfinished}` : null,
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

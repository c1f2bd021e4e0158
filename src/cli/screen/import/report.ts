import { BEFORE_RETENTION } from "../../../model/report.ts";
import type { RejectedRow } from "../../../service/import/reader.ts";
import type { ImportProgress } from "../../../service/import/state.ts";
import { countOf, formatCount } from "../counts.ts";
import { formatTable } from "../table.ts";

/*
 * What an import says of its rows: those that were rejected as they come, and all of them at its end.
 */

const SHOWN_MAX = 20;
const MESSAGES_MAX = 100; // There are few different ones; a stranger's server may make up more.

/** Rejected rows: the first one by one, all of them by what is wrong. */
export interface RejectedRows {
  /** The line to show for this row; null where enough were shown. */
  add(fileName: string, row: RejectedRow): string | null;
  /** Lines for the end: the reasons, where not every row was shown, and advice. */
  summary(): string[];
}

/** `shiftToNow` as the command has it: who moves times already needs no advice about old ones. */
export function createRejectedRows(shiftToNow: boolean): RejectedRows {
  const counts = new Map<string, number>();
  let shown = 0;
  let total = 0;
  let tooOld = 0;
  return {
    add(fileName, { line, message }) {
      const known = counts.has(message) || counts.size < MESSAGES_MAX ? message : "other reasons";
      counts.set(known, (counts.get(known) ?? 0) + 1);
      total++;
      if (message.endsWith(BEFORE_RETENTION)) tooOld++;
      return shown++ < SHOWN_MAX ? `${fileName}:${line}: ${message}` : null;
    },
    summary() {
      const advice =
        tooOld > 0 && !shiftToNow
          ? ["To try an old file out, move it to the last 24 hours with --shift-to-now."]
          : [];
      if (total <= SHOWN_MAX) return advice;
      const byCount = [...counts].sort(([, a], [, b]) => b - a);
      return [
        `The first ${SHOWN_MAX} of ${formatCount(total)} rejected rows are above. All of them:`,
        ...byCount.map(([message, count]) => `${formatCount(count).padStart(12)}  ${message}`),
        ...advice,
      ];
    },
  };
}

/** What became of every file's rows, and how long it took. `rows` are those of this run. */
export function importSummary(
  names: readonly string[],
  { counts }: ImportProgress,
  rows: number,
  elapsedMs: number,
): string {
  const table = counts.map(({ accepted, duplicates, rejected }) => [accepted, duplicates, rejected]);
  const total = [0, 1, 2].map((c) => table.reduce((sum, row) => sum + row[c]!, 0));
  const shown = table.map((row, file) => [names[file]!, ...row.map(formatCount)]);
  if (names.length > 1) shown.push(["total", ...total.map(formatCount)]);
  const seconds = elapsedMs / 1000;
  const rate = Math.round(rows / seconds);
  const files = formatTable(["file", ">accepted", ">duplicates", ">rejected"], shown);
  return `${files}${countOf(rows, "row")} in ${seconds.toFixed(1)} s (${formatCount(rate)} rows/s)\n`;
}

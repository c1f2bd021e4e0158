import { printableLine } from "../../../lib/text/printable.ts";
import type { Terminal } from "../../../runtime/process.ts";
import type { ImportFile } from "../../../service/import/import.ts";
import type { ImportRunEvents } from "../../../service/import/run.ts";
import type { ImportCounts, ImportProgress } from "../../../service/import/state.ts";
import type { SealProgress } from "../../../service/seal/fold.ts";
import { MS_PER_DAY } from "../../../time/retention.ts";
import { countOf } from "../counts.ts";
import { createImportBars } from "./bars.ts";
import { createRejectedRows } from "./report.ts";

/** What a person sees of an import while it runs. */
export interface ImportScreen extends ImportRunEvents {
  say(line: string): void;
  /** A first reading, to tell whether this import was begun before. */
  onFingerprinted(fileIndex: number, bytesRead: number): void;
  /** Bytes of the data directory's log that were read. */
  onReplayed(done: number, total: number): void;
  /** Old records that went from memory to the archive, and all that do. */
  onSealing(progress: SealProgress): void;
  /** Ends the bar and says what was rejected. */
  finish(): void;
  /** Rows that this run brought to their place. */
  readonly rows: number;
  readonly unreadableCount: number;
}

export function createImportScreen(
  files: readonly ImportFile[],
  shiftToNow: boolean,
  terminal: Terminal,
): ImportScreen {
  const names = files.map(({ input }) => printableLine(input.name));
  const bars = createImportBars(files, terminal);
  const { say } = bars;
  const rejectedRows = createRejectedRows(shiftToNow);
  let rows = 0;
  let rowsBefore = 0;
  let counts: ImportProgress["counts"] = [];
  let unreadableCount = 0;

  return {
    say,
    onFingerprinted: (fileIndex, bytesRead) => bars.showBytes("Looking at the files", fileIndex, bytesRead),
    onReplayed(done, total) {
      if (total > 0) bars.show("Reading the log", { done, total, count: null });
    },
    onSealing: ({ records, recordsTotal }) =>
      bars.show("Archiving", { done: records, total: recordsTotal, count: null }),
    onScanned: (fileIndex, bytesRead) => bars.showBytes("Finding the newest report", fileIndex, bytesRead),
    onShift(fileIndex, shiftMs) {
      const days = shiftMs / MS_PER_DAY;
      if (days === 0) return;
      say(`${names[fileIndex]}: moving all times by ${days > 0 ? "+" : ""}${countOf(days, "day")}`);
    },
    onResumed({ startedMs, progress }) {
      counts = progress.counts;
      rowsBefore = countRows(progress);
      const start = new Date(startedMs).toISOString().slice(0, 19);
      say(`Going on with the import that began at ${start}Z, after ${countOf(rowsBefore, "row")}.`);
    },
    onRead: (fileIndex, bytesRead) => bars.begin("Importing", fileIndex, bytesRead), // Its time runs from here.
    onIgnoredColumns(fileIndex, columns) {
      say(`${names[fileIndex]}: ignoring columns that are not fields of a report: ${columns.join(", ")}`);
    },
    onRejected(fileIndex, row) {
      const line = rejectedRows.add(names[fileIndex]!, row);
      if (line !== null) say(line);
    },
    onUnreadable(fileIndex, reason) {
      unreadableCount++;
      const file = counts[fileIndex];
      const name = names[fileIndex];
      if (file === undefined || rowsOf(file) === 0) say(`"${name}" can't be imported: ${reason}.`);
      else say(`"${name}" can't be read to its end: ${reason}. Only what came before that was imported.`);
    },
    onProgress(progress) {
      counts = progress.counts;
      rows = countRows(progress) - rowsBefore;
      bars.showRows("Importing", rows);
    },
    finish() {
      bars.clear();
      for (const line of rejectedRows.summary()) terminal.error(`${printableLine(line)}\n`);
    },
    get rows() {
      return rows;
    },
    get unreadableCount() {
      return unreadableCount;
    },
  };
}

function countRows({ counts }: ImportProgress): number {
  return counts.reduce((sum, file) => sum + rowsOf(file), 0);
}

function rowsOf({ accepted, duplicates, rejected }: ImportCounts): number {
  return accepted + duplicates + rejected;
}

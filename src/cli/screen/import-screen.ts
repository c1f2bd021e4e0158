import { printableLine } from "../../lib/text/printable.ts";
import type { Terminal } from "../../runtime/process.ts";
import type { ImportFile } from "../../service/import/import.ts";
import type { ImportRunEvents } from "../../service/import/run.ts";
import type { ImportCounts, ImportProgress } from "../../service/import/state.ts";
import type { SealProgress } from "../../service/seal/seal.ts";
import { MS_PER_DAY } from "../../time/retention.ts";
import { countOf } from "./counts.ts";
import { createRejectedRows } from "./import-report.ts";
import { createProgressBar, type ProgressBar } from "./progress-bar.ts";
import { errorColumns } from "./terminal.ts";

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
  const sizes = files.map(({ input }) => input.sizeBytes);
  const totalBytes = sizes.every((size) => size !== null) ? sizes.reduce((sum, size) => sum + size, 0) : null;
  const rejectedRows = createRejectedRows(shiftToNow);
  let bar: ProgressBar | null = null;
  let barLabel = "";
  let bytesDone = 0;
  let rows = 0;
  let rowsBefore = 0;
  let counts: ImportProgress["counts"] = [];
  let unreadableCount = 0;

  /** The bar of a phase; the one before it goes away. */
  function barOf(label: string): ProgressBar {
    if (bar === null || barLabel !== label) {
      bar?.clear();
      bar = createProgressBar(label, terminal, errorColumns);
      barLabel = label;
    }
    return bar;
  }

  function say(line: string): void {
    bar?.clear();
    terminal.error(`${printableLine(line)}\n`);
  }

  function noteBytes(fileIndex: number, bytesRead: number): void {
    bytesDone = bytesRead;
    for (let before = 0; before < fileIndex; before++) bytesDone += sizes[before] ?? 0;
  }

  return {
    say,
    onFingerprinted(fileIndex, bytesRead) {
      noteBytes(fileIndex, bytesRead);
      barOf("Looking at the files").show({ done: bytesDone, total: totalBytes, count: null });
    },
    onReplayed(done, total) {
      if (total > 0) barOf("Reading the log").show({ done, total, count: null });
    },
    onSealing({ records, recordsTotal }) {
      barOf("Archiving").show({ done: records, total: recordsTotal, count: null });
    },
    onScanned(fileIndex, bytesRead) {
      noteBytes(fileIndex, bytesRead);
      barOf("Finding the newest report").show({ done: bytesDone, total: totalBytes, count: null });
    },
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
    onRead(fileIndex, bytesRead) {
      noteBytes(fileIndex, bytesRead);
      barOf("Importing"); // Its time runs from here.
    },
    onIgnoredColumns(fileIndex, columns) {
      say(`${names[fileIndex]}: ignoring columns that are no field of a report: ${columns.join(", ")}`);
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
      barOf("Importing").show({ done: bytesDone, total: totalBytes, count: rows });
    },
    finish() {
      bar?.clear();
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

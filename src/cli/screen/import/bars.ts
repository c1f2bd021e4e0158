import { printableLine } from "../../../lib/text/printable.ts";
import type { Terminal } from "../../../runtime/process.ts";
import type { ImportFile } from "../../../service/import/import.ts";
import { createProgressBar, type Progress, type ProgressBar } from "../progress-bar.ts";
import { errorColumns } from "../terminal.ts";

/** The bars of an import, one after another: each step has its own, under its label. */
export interface ImportBars {
  /** A line, in place of the bar. */
  say(line: string): void;
  show(label: string, progress: Progress): void;
  /** How far the files are read: those before this one whole. */
  showBytes(label: string, fileIndex: number, bytesRead: number): void;
  /** The same without showing it yet. */
  begin(label: string, fileIndex: number, bytesRead: number): void;
  /** Where reading was last, with a rate of rows. */
  showRows(label: string, rows: number): void;
  clear(): void;
}

export function createImportBars(files: readonly ImportFile[], terminal: Terminal): ImportBars {
  const sizes = files.map(({ input }) => input.sizeBytes);
  const totalBytes = sizes.every((size) => size !== null) ? sizes.reduce((sum, size) => sum + size, 0) : null;
  let bar: ProgressBar | null = null;
  let barLabel = "";
  let bytesDone = 0;

  function barOf(label: string): ProgressBar {
    if (bar === null || barLabel !== label) {
      bar?.clear();
      bar = createProgressBar(label, terminal, errorColumns);
      barLabel = label;
    }
    return bar;
  }

  function begin(label: string, fileIndex: number, bytesRead: number): void {
    bytesDone = bytesRead;
    for (let before = 0; before < fileIndex; before++) bytesDone += sizes[before] ?? 0;
    barOf(label);
  }

  return {
    say(line) {
      bar?.clear();
      terminal.error(`${printableLine(line)}\n`);
    },
    show: (label, progress) => barOf(label).show(progress),
    showBytes(label, fileIndex, bytesRead) {
      begin(label, fileIndex, bytesRead);
      barOf(label).show({ done: bytesDone, total: totalBytes, count: null });
    },
    begin,
    showRows: (label, rows) => barOf(label).show({ done: bytesDone, total: totalBytes, count: rows }),
    clear: () => bar?.clear(),
  };
}

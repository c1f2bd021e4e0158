import { printableLine } from "../../lib/text/printable.ts";
import type { Terminal } from "../../runtime/process.ts";
import { countOf, formatCount } from "../screen/layout.ts";
import { createProgressBar } from "../screen/progress-bar.ts";

/* The progress and the results of an export on a terminal. */

export interface ExportedFile {
  /** `-` is standard output. */
  readonly path: string;
  /** Null if unknown. */
  readonly records: number | null;
  readonly bytes: number;
}

export interface ExportScreen {
  say(line: string): void;
  onReplayed(doneBytes: number, totalBytes: number): void;
  /** Shows how many records were searched for the devices of a user. */
  onSearched(records: number): void;
  onBytes(bytes: number): void;
  /** Prints what was written, to standard error if the records went to standard output. */
  written(file: ExportedFile): void;
  clear(): void;
}

export function createExportScreen(terminal: Terminal): ExportScreen {
  const reading = createProgressBar("Reading the log", terminal);
  const searching = createProgressBar("Searching for devices, in records:", terminal);
  const writing = createProgressBar("Exporting, in bytes:", terminal);
  let bytes = 0;

  function clear(): void {
    reading.clear();
    searching.clear();
    writing.clear();
  }

  return {
    say(line) {
      clear();
      terminal.error(`${printableLine(line)}\n`);
    },
    onReplayed: (done, total) => reading.show({ done, total, count: null }),
    onSearched: (records) => searching.show({ done: records, total: null, count: records }),
    onBytes(count) {
      searching.clear();
      bytes += count;
      writing.show({ done: bytes, total: null, count: bytes });
    },
    written(file) {
      clear();
      if (file.path === "-") terminal.error(`${whatOf(file)}\n`);
      else terminal.out(`${whatOf(file)}: ${printableLine(file.path)}\n`);
    },
    clear,
  };
}

function whatOf({ records, bytes }: ExportedFile): string {
  return records === null
    ? countOf(bytes, "byte")
    : `${countOf(records, "record")}, ${formatCount(bytes)} bytes`;
}

import { printableLine } from "../../lib/text/printable.ts";
import type { Terminal } from "../../runtime/process.ts";
import { createProgressBar, type Progress, type ProgressBar, progressText } from "./progress-bar.ts";
import { errorColumns } from "./terminal.ts";

/** The bars of an import, one after another: each step has its own, under its label. */
export interface ImportBars {
  /** A line, in place of the bar. */
  say(line: string): void;
  show(label: string, progress: Progress): void;
  clear(): void;
}

/** How often a line is written where nobody watches a bar. */
const LINE_MS = 10_000;

export function createImportBars(
  terminal: Pick<Terminal, "error" | "redraw" | "errorIsTerminal">,
  nowMs: () => number = () => performance.now(),
): ImportBars {
  let bar: ProgressBar | null = null;
  let barLabel = "";
  let startedMs = 0;
  let saidMs = 0;

  function begin(label: string): void {
    bar?.clear();
    bar = createProgressBar(label, terminal, nowMs);
    barLabel = label;
    startedMs = nowMs();
    saidMs = startedMs;
  }

  function say(line: string): void {
    bar?.clear();
    terminal.error(`${printableLine(line)}\n`);
  }

  return {
    say,
    show(label, progress) {
      if (barLabel !== label) begin(label);
      bar!.show(progress);
      const now = nowMs();
      if (errorColumns(terminal) !== null || now - saidMs < LINE_MS) return;
      saidMs = now;
      say(progressText(label, progress, now - startedMs));
    },
    clear: () => bar?.clear(),
  };
}

import { printableLine } from "../../lib/text/printable.ts";
import type { Terminal } from "../../runtime/process.ts";
import { errorColumns, formatCount } from "./layout.ts";

/** The state of some work. `done` and `total` have the same unit, mostly bytes. */
export interface Progress {
  readonly done: number;
  /** Null if unknown. */
  readonly total: number | null;
  /** How many things are done, such as rows, to show their rate; null shows no rate. */
  readonly count: number | null;
}

/** The words, and a bar in the columns that they leave if those are enough. */
export function progressLine(label: string, progress: Progress, elapsedMs: number, columns: number): string {
  const { share, words } = progressWords(label, progress, elapsedMs);
  if (share === null) return fitted(words.join(""), columns);
  const [start, ...rest] = words;
  const width = Math.min(BAR_COLUMNS_MAX, columns - words.join("").length - 4); // Two brackets, a blank, the cursor.
  if (width < BAR_COLUMNS_MIN) return fitted(words.join(""), columns);
  const filled = Math.round(share * width);
  return `${start}[${"#".repeat(filled)}${"-".repeat(width - filled)}]${rest.join("")}`;
}

/** The words alone, for output that is not a terminal. */
function progressText(label: string, progress: Progress, elapsedMs: number): string {
  return progressWords(label, progress, elapsedMs).words.join("");
}

/** The share of the work that is done, null if the total is unknown, and the words. The bar follows the first one. */
function progressWords(
  label: string,
  { done, total, count }: Progress,
  elapsedMs: number,
): { share: number | null; words: string[] } {
  const seconds = elapsedMs / 1000;
  const isSteady = elapsedMs >= STEADY_MS;
  const rate = count === null || !isSteady ? "" : `  ${formatCount(Math.round(count / seconds))}/s`;
  if (total === null) return { share: null, words: [`${label} ${formatCount(count ?? done)}${rate}`] };
  const share = total > 0 ? Math.min(1, done / total) : 1;
  const percent = `${Math.floor(share * 100)}%`.padStart(4);
  const isForeseeable = isSteady && share > 0;
  const left = isForeseeable ? `  ${formatSeconds((seconds * (1 - share)) / share)} left` : "";
  return { share, words: [`${label} `, `${percent}${rate}${left}`] };
}

const BAR_COLUMNS_MIN = 10;
const BAR_COLUMNS_MAX = 30;
const STEADY_MS = 500; // An earlier rate says more about the start than about the work.

/** A line that fills the last column would wrap. */
function fitted(line: string, columns: number): string {
  return line.slice(0, Math.max(0, columns - 1));
}

/** `42 s`, `3 min 05 s`, `2 h 07 min`. */
export function formatSeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const twoDigits = (value: number) => String(value).padStart(2, "0");
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${twoDigits(whole % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} min`;
}

/** A line that is redrawn in place on a terminal; other outputs get nothing. */
export interface ProgressBar {
  show(progress: Progress): void;
  clear(): void;
}

const REDRAW_MS = 100;

export function createProgressBar(
  label: string,
  terminal: Pick<Terminal, "redraw" | "errorIsTerminal">,
  nowMs: () => number = () => performance.now(),
  columns: () => number | null = () => errorColumns(terminal),
): ProgressBar {
  const { redraw } = terminal;
  const startedMs = nowMs();
  let drawnMs = Number.NEGATIVE_INFINITY;
  let isShown = false;

  function clear(): void {
    if (isShown) redraw("");
    isShown = false;
    drawnMs = Number.NEGATIVE_INFINITY;
  }

  return {
    show(progress) {
      const width = columns();
      const now = nowMs();
      if (width === null || now - drawnMs < REDRAW_MS) return;
      drawnMs = now;
      isShown = true;
      redraw(progressLine(label, progress, now - startedMs, width));
    },
    clear,
  };
}

/** The bars of a command with several steps: a new label begins a new bar. */
export interface StepBars {
  /** Prints a line in place of the bar. */
  say(line: string): void;
  show(label: string, progress: Progress): void;
  clear(): void;
}

/** How often a line is written if standard error is not a terminal. */
const LINE_MS = 10_000;

export function createStepBars(
  terminal: Pick<Terminal, "error" | "redraw" | "errorIsTerminal">,
  nowMs: () => number = () => performance.now(),
): StepBars {
  let bar: ProgressBar | null = null;
  let barLabel = "";
  let startedMs = 0;
  let printedMs = 0;

  function begin(label: string): void {
    bar?.clear();
    bar = createProgressBar(label, terminal, nowMs);
    barLabel = label;
    startedMs = nowMs();
    printedMs = startedMs;
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
      if (errorColumns(terminal) !== null || now - printedMs < LINE_MS) return;
      printedMs = now;
      say(progressText(label, progress, now - startedMs));
    },
    clear: () => bar?.clear(),
  };
}

import { printableLine } from "../../lib/text/printable.ts";
import type { Terminal } from "../../runtime/process.ts";
import { errorColumns, formatCount } from "./layout.ts";

/** Where work stands. Both counts are in the same unit, bytes mostly. */
export interface Progress {
  readonly done: number;
  /** Null where that is not known. */
  readonly total: number | null;
  /** Things done so far, whose rate is shown, such as rows; null shows no rate. */
  readonly count: number | null;
}

/** Width is in columns; the bar takes what the words leave, and is left out where that is too little. */
export function progressLine(label: string, progress: Progress, elapsedMs: number, columns: number): string {
  const { share, words } = progressWords(label, progress, elapsedMs);
  if (share === null) return fitted(words.join(""), columns);
  const [start, ...rest] = words;
  const width = Math.min(BAR_COLUMNS_MAX, columns - words.join("").length - 4); // Two brackets, a blank, the cursor.
  if (width < BAR_COLUMNS_MIN) return fitted(words.join(""), columns);
  const filled = Math.round(share * width);
  return `${start}[${"#".repeat(filled)}${"-".repeat(width - filled)}]${rest.join("")}`;
}

/** Where work stands in words alone, for output that is no terminal. */
function progressText(label: string, progress: Progress, elapsedMs: number): string {
  return progressWords(label, progress, elapsedMs).words.join("");
}

/** What is done of all, where that is known, and the line without its bar, which belongs behind the first word. */
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
const STEADY_MS = 500; // Before that a rate says more about the start than about the work.

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

/** One line on the terminal that is written over and over; nothing at all where no person watches. */
export interface ProgressBar {
  show(progress: Progress): void;
  /** Takes the bar away. */
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

/** The bars of a command with several steps, one after another: each step has its own, under its label. */
export interface StepBars {
  /** Prints a line in place of the bar. */
  say(line: string): void;
  show(label: string, progress: Progress): void;
  clear(): void;
}

/** How often a line is written if standard error is no terminal. */
const LINE_MS = 10_000;

export function createStepBars(
  terminal: Pick<Terminal, "error" | "redraw" | "errorIsTerminal">,
  nowMs: () => number = () => performance.now(),
): StepBars {
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

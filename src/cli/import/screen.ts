import type { Look } from "../../import/look.ts";
import type { ImportRunEvents } from "../../import/run.ts";
import type { Survey } from "../../import/survey.ts";
import { placeText } from "../../import/tally/skip-counts.ts";
import type { LeftAlone } from "../../import/unread-files.ts";
import { MS_PER_DAY } from "../../model/time/units.ts";
import type { Terminal } from "../../runtime/process.ts";
import type { SealProgress } from "../../service/upkeep/seal/fold.ts";
import { countOf, formatCount } from "../screen/layout.ts";
import { createStepBars } from "../screen/progress-bar.ts";
import { dayText, thingsOf } from "./summary.ts";

/** Shows the progress of an import. */
export interface ImportScreen extends ImportRunEvents {
  say(line: string): void;
  /** Reports how many files were examined for their format. */
  onLooked(files: number): void;
  /** Reports the formats of all files. */
  onFound(look: Look): void;
  /** Reports how many bytes of the data directory's log were read. */
  onReplayed(done: number, total: number): void;
  /** Reports how many old records moved from memory to the archive. */
  onSealing(progress: SealProgress): void;
  /** Clears the bar. */
  finish(): void;
}

export function createImportScreen(terminal: Terminal): ImportScreen {
  const bars = createStepBars(terminal);
  const { say } = bars;
  let look: Look | null = null;
  let label = "Reading";
  let bytesRead = 0;
  let thingsBefore = 0;
  const reportedFiles = new Set<string>();

  function showThings(things: number): void {
    bars.show(label, { done: bytesRead, total: look?.packedBytes ?? null, count: things });
  }

  return {
    say,
    onLooked: (files) => bars.show("Examining files", { done: files, total: null, count: null }),
    onFound(result) {
      look = result;
      for (const line of lookLines(result)) say(line);
    },
    onReplayed(done, total) {
      if (total > 0) bars.show("Reading the log", { done, total, count: null });
    },
    onSealing: ({ records, recordsTotal }) =>
      bars.show("Archiving", { done: records, total: recordsTotal, count: null }),
    onRead(bytes) {
      bytesRead = bytes;
    },
    onSurveying: showThings,
    onSurveyed(survey) {
      bars.clear();
      for (const line of surveyLines(look!, survey)) say(line);
    },
    onDelivering() {
      label = "Importing";
    },
    onShift(file, shiftMs) {
      const days = shiftMs / MS_PER_DAY;
      if (days === 0) return;
      say(`${file}: shifting all times by ${days > 0 ? "+" : ""}${countOf(days, "day")}`);
    },
    onResumed({ startedMs, tallies }) {
      thingsBefore = tallies.reduce((sum, tally) => sum + thingsOf(tally), 0);
      const start = new Date(startedMs).toISOString().slice(0, 19);
      say(`Continuing the import that began at ${start}Z, after ${countOf(thingsBefore, "point")}.`);
    },
    onIgnoredColumns(file, columns) {
      if (reportedFiles.has(file)) return; // Files may be read twice.
      reportedFiles.add(file);
      say(`${file}: ignoring columns that are not fields of a report: ${columns.join(", ")}`);
    },
    async onFault({ origin, place, message }) {
      if (place === null) say(`"${origin.label}" can't be imported: ${message}.`);
      else
        say(
          `${placeText({ origin, place })}: can't read the rest of the file: ${message}. Points before this are imported.`,
        );
    },
    onProgress(tallies) {
      showThings(tallies.reduce((sum, { things }) => sum + things, 0) - thingsBefore);
    },
    finish: () => bars.clear(),
  };
}

const DEVICES_SHOWN_MAX = 5;

/** The devices and days of each group of files, to print before anything is written. */
function surveyLines({ groups }: Look, { tallies }: Survey): string[] {
  return groups.flatMap(({ label, files }, index) => {
    const { extent, points } = tallies[index]!;
    if (extent === null) return [];
    const { devices, firstMs, lastMs } = extent;
    const list = devices.slice(0, DEVICES_SHOWN_MAX).join(", ");
    const names = `${list}${devices.length > DEVICES_SHOWN_MAX ? ", …" : ""}`;
    const what = files === 1 ? label : countOf(files, "file");
    return [`${what}: ${countOf(points, "point")} of ${names}, ${dayText(firstMs)} … ${dayText(lastMs)}`];
  });
}

/** A line for each group of files with its format, then the files that can't be read or are ignored. */
export function lookLines({ groups, unread }: Pick<Look, "groups" | "unread">): string[] {
  const { wrong, leftAlone, failed, failedCount } = unread;
  const lines = groups.map(({ label, title, reason, files }) => {
    const more = files > 1 ? `, and ${countOf(files - 1, "file")} more` : "";
    return `${label}: ${title} (${reason})${more}`;
  });
  for (const { label, answer } of wrong) lines.push(`${label} ${answer}.`);
  // Files that were named on the command line stop the import, so they come first.
  const examples = failed
    .toSorted((a, b) => Number(b.isNamed) - Number(a.isNamed))
    .slice(0, FAILED_SHOWN_MAX);
  for (const { label, reason } of examples) lines.push(`${label}: ${reason}.`);
  if (failedCount > examples.length)
    lines.push(`${countOf(failedCount - examples.length, "file")} more can't be read.`);
  if (leftAlone.size === 0) return lines;
  const kinds = [...leftAlone].sort(([, a], [, b]) => b.count - a.count);
  lines.push(leftAloneLine(kinds));
  // If there is nothing to import, print why. The rarest kinds of file are the most likely to explain it.
  if (groups.length === 0)
    for (const [, { label, answer }] of kinds.slice(-ANSWERS_SHOWN_MAX)) lines.push(`${label} ${answer}.`);
  return lines;
}

const FAILED_SHOWN_MAX = 20;
const KINDS_SHOWN_MAX = 12;
const ANSWERS_SHOWN_MAX = 5;

/** `Ignored: 12 files (8 jpg, 4 html).` */
function leftAloneLine(kinds: readonly (readonly [string, LeftAlone])[]): string {
  const sum = (some: typeof kinds) => some.reduce((total, [, { count }]) => total + count, 0);
  const words = kinds.slice(0, KINDS_SHOWN_MAX).map(([kind, { count }]) => `${formatCount(count)} ${kind}`);
  const rest = kinds.slice(KINDS_SHOWN_MAX);
  if (rest.length > 0) words.push(`${formatCount(sum(rest))} of ${countOf(rest.length, "other kind")}`);
  return `Ignored: ${countOf(sum(kinds), "file")} (${words.join(", ")}).`;
}

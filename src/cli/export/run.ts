import { join } from "node:path";
import { ok } from "../../lib/result.ts";
import { type LocalDate, today } from "../../model/time/range.ts";
import { UTC } from "../../model/time/zone.ts";
import type { Files } from "../../runtime/files.ts";
import type { Platform } from "../../runtime/platform.ts";
import type { Terminal } from "../../runtime/process.ts";
import { EXPORT_FORMATS } from "../../service/export/export-formats.ts";
import type { CommandContext } from "../arguments/command.ts";
import type { ExportOptions } from "./command.ts";
import { openDirectorySource } from "./directory-source.ts";
import { FileOutput, PACKED_EXTENSIONS, packed } from "./file-output.ts";
import { isCountable } from "./record-marks.ts";
import { createExportScreen, type ExportScreen } from "./screen.ts";
import { createServerSource } from "./server-source.ts";
import { ExportFailedError, type ExportFrom, type OpenExport } from "./source.ts";
import { dayAfter, type ExportedRange, type PlannedFile, planDevices, planPeriod } from "./split-plan.ts";

/** Before all that is kept. */
const FIRST_DAY = "1970-01-01" as LocalDate;

/** What the parts of an export share. */
interface Work {
  readonly command: ExportOptions;
  readonly platform: Platform;
  readonly terminal: Terminal;
  readonly screen: ExportScreen;
  readonly signal: AbortSignal;
  readonly source: ExportFrom;
}

/** Exports until all is written or the signal comes; returns the exit code. */
export async function exportRecords(
  command: ExportOptions,
  { platform, clock, terminal, stopSignal }: CommandContext,
): Promise<number> {
  const signal = stopSignal();
  const screen = createExportScreen(terminal);
  const fault = await outputFault(command, platform, terminal);
  if (fault !== null) {
    screen.say(fault);
    return 1;
  }
  const opened =
    command.source.kind === "server"
      ? ok(createServerSource(command, command.source, (url, init) => fetch(url, init), signal))
      : await openDirectorySource(command, command.source, platform, clock, screen, signal);
  if (!opened.ok) {
    screen.say(opened.error);
    return 1;
  }
  const source = opened.value;
  try {
    const zone = command.options.zone ?? UTC;
    const range = { from: command.from ?? FIRST_DAY, to: command.to ?? today(zone, clock.nowMs()) };
    if (range.from > range.to)
      throw new ExportFailedError(`--from must not be after --to, which is today (${range.to}) by default.`);
    await exportAll({ command, platform, terminal, screen, signal, source }, range);
    return 0;
  } catch (error) {
    if (signal.aborted) screen.say("Interrupted: the file that was being written is not there.");
    else if (error instanceof ExportFailedError) screen.say(error.message);
    else throw error;
    return 1;
  } finally {
    screen.clear();
    await source.close();
  }
}

/** Why nothing may be written where the command says; null where it may. */
async function outputFault(
  { out, split, force, format, packing }: ExportOptions,
  { files }: Platform,
  terminal: Terminal,
): Promise<string | null> {
  const isBinary = packing !== null || ["parquet", "kmz"].includes(format.name);
  if (out === "-" && isBinary && terminal.outIsTerminal)
    return `${packing ?? format.name} is nothing for a terminal: name a file with --out.`;
  return out === "-" || split !== null ? null : placeFault(files, out, force, "file");
}

/** Why no file can come to this path; null where it can. */
async function placeFault(
  files: Files,
  path: string,
  force: boolean,
  named: "file" | "directory",
): Promise<string | null> {
  if (!(await files.exists(path))) return null;
  if (!(await files.isFile(path)))
    return `"${path}" is no file that another could take the place of: name another ${named}.`;
  return force ? null : `There is "${path}" already: name another ${named}, or write over it with --force.`;
}

async function exportAll(work: Work, range: ExportedRange): Promise<void> {
  const { command, platform, source, screen } = work;
  const { split, out, deviceIds } = command;
  if (split === null) {
    await exportFile(work, { name: out, ...range, deviceIds }, out);
    return;
  }
  const devices = split === "device" && deviceIds.length === 0 ? await listDevices(source) : deviceIds;
  await platform.files.makeDirectory(out);
  const extension = `${command.format.extension}${command.packing === null ? "" : PACKED_EXTENSIONS[command.packing]}`;
  const write = (file: PlannedFile) => exportFile(work, file, join(out, `${file.name}${extension}`));
  let written = 0;
  if (split === "device") {
    for (const file of planDevices(range, devices)) if (await write(file)) written++;
  } else {
    written = await exportPeriods(work, split, range, write);
  }
  if (written === 0) screen.say("There are no such records, so no file was written.");
}

/**
 * Writes a file for each day or month, and returns how many there are. To find one empty costs as much as to begin an
 * export, so behind an empty one the next record is looked for, and the days up to it are skipped.
 */
async function exportPeriods(
  work: Work,
  split: "day" | "month",
  range: ExportedRange,
  write: (file: PlannedFile) => Promise<boolean>,
): Promise<number> {
  let written = 0;
  let maySkip = true;
  for (let date = range.from; date <= range.to; ) {
    if (maySkip) {
      const next = await findNextDay(work, { from: date, to: range.to });
      if (next === null) break;
      if (next > date) date = next; // In the repeated hour of a clock change the clock shows the day before.
    }
    const file = planPeriod(split, date, range, work.command.deviceIds);
    const isWritten = await write(file);
    if (isWritten) written++;
    maySkip = !isWritten || !isCountable(work.command.format.name);
    date = dayAfter(file.to);
  }
  return written;
}

/** The day of the first record of the range; null if there is none. */
async function findNextDay(
  { command, source }: Work,
  { from, to }: ExportedRange,
): Promise<LocalDate | null> {
  const format = EXPORT_FORMATS.find(({ name }) => name === "ndjson")!;
  const options = { ...command.options, redact: false, recordSeparator: false, simplifyMeters: null };
  const opened = await source.open({ from, to, deviceIds: command.deviceIds }, { format, options });
  if (!opened.ok) throw new ExportFailedError(opened.error);
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of opened.value.pieces()) {
    text += decoder.decode(piece, { stream: true });
    const end = text.indexOf("\n");
    if (end >= 0) return today(options.zone ?? UTC, JSON.parse(text.slice(0, end)).timestamp);
  }
  return null;
}

async function listDevices(source: ExportFrom) {
  const devices = await source.listDevices();
  if (!devices.ok) throw new ExportFailedError(devices.error);
  return devices.value;
}

/** Writes one file; false where it would have no records, and is one of many. */
async function exportFile(work: Work, file: PlannedFile, path: string): Promise<boolean> {
  const { command, platform, screen, source, terminal, signal } = work;
  const isOneOfMany = command.split !== null;
  const fault = isOneOfMany ? await placeFault(platform.files, path, command.force, "directory") : null;
  if (fault !== null) throw new ExportFailedError(fault);
  const opened = await source.open(file, command);
  if (!opened.ok) throw new ExportFailedError(opened.error);
  const taken = opened.value;
  let bytes = 0;
  const pieces = counted(packed(taken.pieces(), command.packing), signal, (count) => {
    bytes += count;
    screen.onBytes(count);
  });
  if (path === "-") for await (const piece of pieces) await terminal.outBytes(piece);
  else await new FileOutput(platform.files, path, platform.pid).write(pieces, () => isWanted(taken));
  if (isOneOfMany && !isWanted(taken)) return false;
  if (taken.isIncomplete) screen.say("Records are missing that were acknowledged as lost.");
  screen.written({ path, records: taken.records, bytes });
  return true;

  function isWanted({ records }: OpenExport): boolean {
    return !isOneOfMany || records !== 0;
  }
}

async function* counted(
  pieces: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  onPiece: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    signal.throwIfAborted();
    onPiece(piece.length);
    yield piece;
  }
}

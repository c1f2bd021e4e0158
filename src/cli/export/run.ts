import { join } from "node:path";
import { ok } from "../../lib/result.ts";
import { type LocalDate, today } from "../../model/time/range.ts";
import { UTC } from "../../model/time/zone.ts";
import type { Ask } from "../../operator/remote/ask-server.ts";
import type { Files } from "../../runtime/files.ts";
import type { Platform } from "../../runtime/platform.ts";
import type { Terminal } from "../../runtime/process.ts";
import { EXPORT_FORMATS } from "../../service/export/export-formats.ts";
import type { CommandContext } from "../arguments/command.ts";
import type { ExportOptions, RecordsExport } from "./command.ts";
import { exportComplete } from "./complete/export-complete.ts";
import { openDirectorySource } from "./directory-source.ts";
import { COMPRESSED_EXTENSIONS, compressed, FileOutput, watched } from "./file-output.ts";
import { isCountable } from "./record-marks.ts";
import { createExportScreen, type ExportScreen } from "./screen.ts";
import { createServerSource } from "./server-source.ts";
import { ExportFailedError, type ExportFrom, type OpenExport } from "./source.ts";
import {
  dayAfter,
  type ExportedRange,
  FIRST_DAY,
  type PlannedFile,
  planDevices,
  planPeriod,
} from "./split-plan.ts";

interface Work {
  readonly command: RecordsExport;
  readonly platform: Platform;
  readonly terminal: Terminal;
  readonly screen: ExportScreen;
  readonly signal: AbortSignal;
  readonly source: ExportFrom;
}

/** Exports until everything is written or the process must stop; returns the exit code. */
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
  const fetchFrom: Ask = (url, init) => fetch(url, init);
  const opened =
    command.source.kind === "server"
      ? ok(createServerSource(command, command.source, fetchFrom, { platform, clock }, signal))
      : await openDirectorySource(command, command.source, platform, clock, screen, signal);
  if (!opened.ok) {
    screen.say(opened.error);
    return 1;
  }
  const source = opened.value;
  try {
    if (command.content === "complete") {
      await exportComplete({ command, platform, clock, terminal, screen, signal, source });
      return 0;
    }
    const zone = command.options.zone ?? UTC;
    const range = { from: command.from ?? FIRST_DAY, to: command.to ?? today(zone, clock.nowMs()) };
    if (range.from > range.to)
      throw new ExportFailedError(`--from must not be after --to, which is today (${range.to}) by default.`);
    await exportAll({ command, platform, terminal, screen, signal, source }, range);
    return 0;
  } catch (error) {
    if (signal.aborted) screen.say("Interrupted: the unfinished file was removed.");
    else if (error instanceof ExportFailedError) screen.say(error.message);
    else throw error;
    return 1;
  } finally {
    screen.clear();
    await source.close();
  }
}

/** Why the command may not write to `--out`; null if it may. */
async function outputFault(
  command: ExportOptions,
  { files }: Platform,
  terminal: Terminal,
): Promise<string | null> {
  const { out, force } = command;
  const binary = out === "-" && terminal.outIsTerminal ? binaryNameOf(command) : null;
  if (binary !== null) return `${binary} is binary and can't go to a terminal: name a file with --out.`;
  const isSplit = command.content === "records" && command.split !== null;
  return out === "-" || isSplit ? null : pathFault(files, out, force, "file");
}

/** What an export writes if it is not text. */
function binaryNameOf(command: ExportOptions): string | null {
  if (command.content === "complete") return "A ZIP";
  const { compression, format } = command;
  return compression ?? (["parquet", "kmz"].includes(format.name) ? format.name : null);
}

/** Why no file can be written to this path; null if one can. */
async function pathFault(
  files: Files,
  path: string,
  force: boolean,
  named: "file" | "directory",
): Promise<string | null> {
  if (!(await files.exists(path))) return null;
  if (!(await files.isFile(path))) return `"${path}" is not a regular file: name another ${named}.`;
  return force ? null : `"${path}" exists: name another ${named}, or overwrite it with --force.`;
}

async function exportAll(work: Work, range: ExportedRange): Promise<void> {
  const { command, platform, screen } = work;
  const { split, out, deviceIds } = command;
  if (split === null) {
    await exportFile(work, { name: out, ...range, deviceIds }, out);
    return;
  }
  const devices = split === "device" && deviceIds.length === 0 ? await listDevices(work) : deviceIds;
  await platform.files.makeDirectory(out);
  const extension = `${command.format.extension}${command.compression === null ? "" : COMPRESSED_EXTENSIONS[command.compression]}`;
  const write = (file: PlannedFile) => exportFile(work, file, join(out, `${file.name}${extension}`));
  let written = 0;
  if (split === "device") {
    for (const file of planDevices(range, devices)) if (await write(file)) written++;
  } else {
    written = await exportPeriods(work, split, range, write);
  }
  if (written === 0) screen.say("No records match, so no file was written.");
}

/**
 * Writes a file for each day or month that has records; returns how many. An empty period costs as much as the begin of
 * an export, so after one of them the next record is searched for, and the days up to it are skipped.
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
      if (next > date) date = next; // In the repeated hour of a clock change the record may seem a day earlier.
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
  const { deviceIds, originals } = command;
  const opened = await source.open({ from, to, deviceIds, originals }, { format, options });
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

async function listDevices({ source, command }: Work) {
  const devices = await source.listDevices(command.originals);
  if (!devices.ok) throw new ExportFailedError(devices.error);
  return devices.value;
}

/** Writes one file. Returns false, and writes none, if a file of a split export has no records. */
async function exportFile(work: Work, file: PlannedFile, path: string): Promise<boolean> {
  const { command, platform, screen, terminal, signal } = work;
  const isOneOfMany = command.split !== null;
  const fault = isOneOfMany ? await pathFault(platform.files, path, command.force, "directory") : null;
  if (fault !== null) throw new ExportFailedError(fault);
  const opened = await work.source.open({ ...file, originals: command.originals }, command);
  if (!opened.ok) throw new ExportFailedError(opened.error);
  const source = opened.value;
  let bytes = 0;
  const pieces = watched(compressed(source.pieces(), command.compression), signal, (count) => {
    bytes += count;
    screen.onBytes(count);
  });
  if (path === "-") for await (const piece of pieces) await terminal.outBytes(piece);
  else await new FileOutput(platform.files, path, platform.pid).write(pieces, () => isWanted(source));
  if (isOneOfMany && !isWanted(source)) return false;
  if (source.isIncomplete) screen.say("The export is incomplete: verify --acknowledge gave up records.");
  screen.written({ path, records: source.records, bytes });
  return true;

  function isWanted({ records }: OpenExport): boolean {
    return !isOneOfMany || records !== 0;
  }
}

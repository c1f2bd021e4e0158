import { createHash } from "node:crypto";
import { join } from "node:path";
import { logImport } from "../../import/import-log.ts";
import { type Look, lookAt, recogniseSource } from "../../import/look.ts";
import {
  createImportRun,
  type ImportOutcome,
  type ImportRequest,
  type ImportStop,
  surveyAll,
} from "../../import/run.ts";
import { NO_REPORT, openSkipReport, reportFault } from "../../import/skip-report.ts";
import { createSources, spoolDirectoryFor } from "../../import/sources/sources.ts";
import { createImportStateStore, type ImportStateStore } from "../../import/state.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Clock } from "../../model/time/clock.ts";
import { askRetention } from "../../operator/remote/ask-server.ts";
import type { Platform } from "../../runtime/platform.ts";
import type { Terminal } from "../../runtime/process.ts";
import type { CommandContext } from "../arguments/command.ts";
import { expectNoNode } from "../cluster/node-directory.ts";
import { openSettings, settingsFault } from "../directory/data-directory.ts";
import type { ImportOptions } from "./command.ts";
import { importJson } from "./json.ts";
import { createImportScreen, type ImportScreen } from "./screen.ts";
import { importSummary, retentionStopText, speedsText, surveySummary, uselessTexts } from "./summary.ts";
import { type ImportTargetOpen, openTarget, type TargetDependencies } from "./target.ts";

/** Imports files until they are done or the process must stop; returns the exit code. */
export async function importFiles(
  command: ImportOptions,
  { platform, clock, terminal, stopSignal }: CommandContext,
): Promise<number> {
  const signal = stopSignal();
  const { dataDir, paths, unpackedBytesMax } = command;
  const { files, inputs } = platform;
  if (command.target.kind !== "server") await expectNoNode(files, dataDir, GIVE_URL);
  const screen = createImportScreen(terminal);
  const spoolDirectory = await spoolDirectoryFor(dataDir, files);
  const sources = createSources({ inputs, paths, unpackedBytesMax, spoolDirectory, signal });
  try {
    const fault = command.report === null ? null : await reportFault(files, command.report);
    if (fault !== null) {
      screen.say(fault);
      return 2;
    }
    const look = await lookAt({
      sources,
      recognise: (source) => recogniseSource(source, command.format),
      signal,
      onLooked: screen.onLooked,
    });
    if (signal.aborted) return sayInterrupted(screen);
    screen.onFound(look);
    // A mistyped path stops the import before half of the work is done.
    if (look.unread.failed.some(({ isNamed }) => isNamed)) return 1;
    if (look.groups.length === 0) {
      screen.say("There is nothing to import.");
      return 1;
    }
    const retention = await retentionOf(command, platform, clock, screen);
    if (!retention.ok) {
      screen.say(retention.error);
      return 1;
    }
    const run: Run = {
      command,
      look,
      platform,
      clock,
      ...retention.value,
      screen,
      terminal,
      signal,
    };
    return command.dryRun ? await surveyOnly(run) : await importAll(run);
  } finally {
    screen.finish();
    await sources.close();
  }
}

const GIVE_URL = "To import into the cluster give --url and --key of any of its nodes.";

/** The target's retention; fails if its server can't be reached. */
async function retentionOf(
  { dataDir, target }: ImportOptions,
  platform: Platform,
  clock: Clock,
  screen: ImportScreen,
): Promise<Result<TargetRetention, string>> {
  if (target.kind === "server") {
    const answer = await askRetention(target, (url, init) => fetch(url, init));
    return answer.ok ? ok({ retention: answer.value, reloadRetention: async () => undefined }) : answer;
  }
  const settings = await openSettings("import", dataDir, platform, clock);
  const fault = settingsFault(settings);
  if (fault !== null) screen.say(fault);
  return ok({ retention: settings.retention, reloadRetention: () => settings.reload() });
}

type TargetRetention = Pick<TargetDependencies, "retention" | "reloadRetention">;

interface Run extends TargetRetention {
  readonly command: ImportOptions;
  readonly look: Look;
  readonly platform: Platform;
  readonly clock: Clock;
  readonly screen: ImportScreen;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

async function surveyOnly(run: Run): Promise<number> {
  const { command, look, retention, clock, screen, terminal, signal } = run;
  const surveyed = await surveyAll(requestOf(run), { retention, clock, events: screen, signal });
  screen.finish();
  if (!surveyed.ok) return sayStop(surveyed.error, run);
  const { tallies, wrongSpeeds, points, pointsBeforeEdge, faults } = surveyed.value;
  if (command.json) terminal.out(importJson(look, tallies, { end: "dry_run", wrongSpeeds }));
  else terminal.out(surveySummary(look.groups, tallies));
  for (const each of wrongSpeeds) screen.say(speedsText(each));
  for (const fault of faults) screen.say(`${fault}.`);
  const useless = uselessTexts(look.groups, tallies);
  for (const text of useless) screen.say(text);
  const edgeMs = retention.startMs(clock.nowMs());
  if (pointsBeforeEdge > 0 && command.shift !== "to_now")
    screen.say(retentionStopText({ points, pointsBeforeEdge, edgeMs }, retention));
  if (faults.length > 0) return 1;
  return useless.length > 0 ? 2 : 0;
}

async function importAll(run: Run): Promise<number> {
  const { command, look, platform, clock, retention, screen, signal } = run;
  const { dataDir, report } = command;
  const store = storeOf(run);
  let target: ImportTargetOpen | null = null;
  async function open() {
    const opened = await openTarget(command, { ...run });
    if (!opened.ok) return opened;
    target = opened.value;
    return { ok: true, value: opened.value.deliver } as const;
  }
  try {
    const runImport = createImportRun({
      openTarget: open,
      openReport: async (bytesBefore) =>
        report === null ? NO_REPORT : openSkipReport(platform.files, report, bytesBefore),
      store,
      clock,
      retention,
      events: screen,
      signal,
    });
    const outcome = await runImport(requestOf(run));
    screen.finish();
    if (!outcome.ok) return sayStop(outcome.error, run);
    const about = {
      app: command.target.appId,
      files: look.groups.map(({ label }) => label),
      endedMs: clock.nowMs(),
    };
    await logImport(platform.files, join(dataDir, "imports", "log.ndjson"), outcome.value, about);
    return conclude(outcome.value, store, run);
  } finally {
    await (target as ImportTargetOpen | null)?.close();
  }
}

function requestOf({ command, look }: Run): ImportRequest {
  const { rules, shift, skipOld } = command;
  return { look, rules, readOptions: { ...command, beside: look.beside }, shift, skipOld };
}

/** The state of an import with exactly these options and files; null for a pipe, which can't be read again. */
function storeOf({ command, look, platform }: Run): ImportStateStore | null {
  if (look.identity === null) return null;
  const { dataDir, target, rules, shift, zone, speedUnit, columns, passPhrases, ...rest } = command;
  const { skipOld, waypoints, semantic, timeFormat, unpackedBytesMax } = rest;
  const options = [
    // The target holds a key, which only enters the file's name as part of the hash.
    target,
    rules.deviceId,
    rules.userId,
    [rules.range.startMs, rules.range.endMs].map(String),
    shift,
    zone?.name ?? null,
    speedUnit,
    [...columns],
    passPhrases,
    [skipOld, waypoints, semantic, timeFormat, unpackedBytesMax],
    look.identity,
  ];
  const key = createHash("sha256").update(JSON.stringify(options)).digest("hex").slice(0, 16);
  return createImportStateStore(platform.files, join(dataDir, "imports", `${key}.json`));
}

function sayInterrupted(screen: ImportScreen): number {
  screen.say("The import was interrupted before anything was written.");
  return 1;
}

/** Prints why nothing was written; returns the exit code. */
function sayStop(stop: ImportStop, { retention, screen }: Run): number {
  if (stop.kind === "interrupted") return sayInterrupted(screen);
  if (stop.kind === "too_old") {
    screen.say(retentionStopText({ ...stop.survey, edgeMs: stop.edgeMs }, retention));
    return 1;
  }
  screen.say(stop.reason);
  return stop.kind === "option_needed" ? 2 : 1;
}

/** Prints how the import ended; returns the exit code. */
function conclude(
  { id, end, tallies, wrongSpeeds }: ImportOutcome,
  store: ImportStateStore | null,
  { command, look, screen, terminal }: Run,
): number {
  const { groups } = look;
  if (command.json) terminal.out(importJson(look, tallies, { id, end: end.kind, wrongSpeeds }));
  else terminal.out(importSummary(groups, tallies));
  for (const each of wrongSpeeds) screen.say(speedsText(each));
  if (end.kind !== "finished") {
    screen.say(
      end.kind === "interrupted" ? "The import was interrupted." : `The import stopped: ${end.reason}`,
    );
    if (store !== null) screen.say("Repeat the same command to continue from here.");
    return end.kind === "option_needed" ? 2 : 1;
  }
  const useless = uselessTexts(groups, tallies);
  for (const text of useless) screen.say(text);
  const hasFaults = tallies.some(({ faults }) => faults > 0);
  if (hasFaults || look.unread.failedCount > 0) return 1;
  return useless.length > 0 ? 2 : 0;
}

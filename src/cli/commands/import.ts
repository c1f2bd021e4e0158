import { join } from "node:path";
import { createFirstKey } from "../../app/first-key.ts";
import { openKeyStore } from "../../auth/key-store.ts";
import { DEFAULT_ARCHIVE_CONFIG } from "../../config.ts";
import { directoryPaths } from "../../directory/paths.ts";
import { createHotStore } from "../../hot/hot-store.ts";
import { messageOf } from "../../lib/message-of.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { Scheduler } from "../../lib/schedule/scheduler.ts";
import { printableLine } from "../../lib/text/printable.ts";
import type { AppId } from "../../model/ids.ts";
import {
  DirectoryInUseError,
  type OpenDirectory,
  openDirectory,
  takeDirectory,
} from "../../open-directory.ts";
import { FileError } from "../../runtime/files.ts";
import type { Platform } from "../../runtime/platform.ts";
import type { Terminal } from "../../runtime/process.ts";
import { fingerprintOf, importKey } from "../../service/import/fingerprint.ts";
import type { Deliver, ImportFile, ImportOutcome } from "../../service/import/import.ts";
import { createPostDelivery } from "../../service/import/post.ts";
import { createImportRun } from "../../service/import/run.ts";
import { createImportStateStore, type ImportStateStore } from "../../service/import/state-store.ts";
import type { Ingest } from "../../service/ingest.ts";
import type { Clock } from "../../time/clock.ts";
import type { ImportCommand } from "../arguments/import-command.ts";
import { newDirectoryText } from "../data-directory.ts";
import { handOver } from "../first-key.ts";
import { damageLine } from "../screen/damage-line.ts";
import { importSummary } from "../screen/import/report.ts";
import { createImportScreen, type ImportScreen } from "../screen/import/screen.ts";

/** Imports files until they are done or the signal comes; returns the exit code. */
export async function importFiles(
  command: ImportCommand,
  platform: Platform,
  clock: Clock,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const files = await openFiles(command, platform, terminal);
  if (files === null) return 1;
  const screen = createImportScreen(files, command.shiftToNow, terminal);
  const store = await openStore(command, files, platform, screen, signal);
  if (command.target.kind === "directory" && !(await platform.files.exists(command.dataDir)))
    screen.say(newDirectoryText(command.dataDir));
  const target = await openTarget(command, platform, clock, screen, terminal, signal);
  if (!target.ok) {
    screen.say(target.error);
    return 1;
  }
  const startedMs = performance.now();
  try {
    const { deliver } = target.value;
    const runImport = createImportRun({ store, deliver, clock, events: screen, signal });
    const outcome = await runImport({ ...command, files });
    screen.finish();
    if (outcome.ok) return conclude(outcome.value, files, store, screen, startedMs, terminal);
    screen.say(outcome.error);
    return 1;
  } finally {
    await target.value.close();
  }
}

/** All files or none: a mistyped name should not leave half of the work done. */
async function openFiles(
  { files }: ImportCommand,
  platform: Platform,
  terminal: Terminal,
): Promise<ImportFile[] | null> {
  const opened: ImportFile[] = [];
  for (const { path, format } of files) {
    try {
      opened.push({ input: await platform.openInput(path), format });
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      terminal.error(`${printableLine(error.message)}\n`);
    }
  }
  return opened.length === files.length ? opened : null;
}

/** The state of this very import; null where a file has no fingerprint: a pipe can't be read again. */
async function openStore(
  { dataDir, target, userId, shiftToNow }: ImportCommand,
  files: readonly ImportFile[],
  platform: Platform,
  screen: ImportScreen,
  signal: AbortSignal,
): Promise<ImportStateStore | null> {
  const identity: (string | boolean | null)[] = [userId, shiftToNow];
  // The key stands for its app. Only a hash of it goes into the file's name.
  identity.push(...(target.kind === "server" ? [target.url, target.key] : [target.appId]));
  for (const [fileIndex, { input, format }] of files.entries()) {
    const onRead = (bytesRead: number) => screen.onFingerprinted(fileIndex, bytesRead);
    const fingerprint = await fingerprintOf(input, onRead, signal);
    if (fingerprint === null) return null;
    identity.push(format, fingerprint);
  }
  return createImportStateStore(platform.files, join(dataDir, "imports", `${importKey(identity)}.json`));
}

interface OpenTarget {
  readonly deliver: Deliver;
  close(): Promise<void>;
}

async function openTarget(
  { dataDir, target }: ImportCommand,
  platform: Platform,
  clock: Clock,
  screen: ImportScreen,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Result<OpenTarget, string>> {
  if (target.kind === "server") {
    const deliver = createPostDelivery({
      ...target,
      post: (url, init) => fetch(url, init),
      wait: (milliseconds) => waitUnlessAborted(milliseconds, signal),
      signal,
      onWait: (reason, seconds) => screen.say(`${reason}. Trying again in ${seconds} s.`),
    });
    return ok({ deliver, close: async () => undefined });
  }
  try {
    const begin = () => handOverFirstKey(dataDir, target.appId, platform, clock, screen, terminal);
    const directory = await openToImport(dataDir, platform, clock, screen, begin);
    for (const damage of directory.damage) screen.say(damageLine(damage));
    const deliver: Deliver = (batch) => deliverTo(directory, screen, target.appId, batch);
    return ok({ deliver, close: () => directory.close() });
  } catch (error) {
    if (!(error instanceof DirectoryInUseError)) throw error;
    return fail(`${error.message} To import through a running server, use --url and --key.`);
  }
}

async function openToImport(
  dataDir: string,
  platform: Platform,
  clock: Clock,
  screen: ImportScreen,
  begin: () => Promise<void>,
): Promise<OpenDirectory> {
  const release = await takeDirectory(dataDir, "import", platform, clock);
  const scheduler = new Scheduler();
  try {
    await begin(); // Before there is data in it.
    return await openDirectory({
      dataDir,
      files: platform.files,
      clock,
      hot: createHotStore(scheduler),
      scheduler,
      config: DEFAULT_ARCHIVE_CONFIG,
      events: {
        onRefusal: () => {}, // The import sees the refusal itself.
        onArchiveNote: screen.say,
        onSealed: () => {},
        onDamage: (damage) => {
          for (const each of damage) screen.say(damageLine(each));
        },
        onSealFailed: (error) => screen.say(`Old reports could not be archived: ${messageOf(error)}`),
      },
      onProgress: screen.onReplayed,
      release,
    });
  } catch (error) {
    release();
    throw error;
  }
}

/** Whoever begins a directory gets its first key: the server would make none beside data. */
async function handOverFirstKey(
  dataDir: string,
  appId: AppId,
  { files, acquireLock, pid }: Platform,
  clock: Clock,
  screen: ImportScreen,
  { errorIsTerminal }: Terminal,
): Promise<void> {
  const paths = directoryPaths(dataDir);
  const process = { pid, command: "import" };
  const keys = await openKeyStore({ files, path: paths.keys, clock, acquireLock, process });
  const firstKey = await createFirstKey(keys, files, paths, appId);
  if (firstKey !== null) screen.say((await handOver(firstKey, dataDir, files, errorIsTerminal)).line);
}

/** Years of old reports are more than memory holds: once there are many, they are archived first. */
async function deliverTo(
  { ingest, schedule }: OpenDirectory,
  screen: ImportScreen,
  ...[appId, batch]: Parameters<Ingest>
): ReturnType<Deliver> {
  if (!schedule.hasRoomFor(batch)) {
    try {
      await schedule.sealNow(screen.onSealing);
    } catch (error) {
      return fail(`Old reports could not be archived: ${messageOf(error)}`);
    }
  }
  const taken = await ingest(appId, batch);
  if (taken.ok) return ok({ ...taken.value, rejected: [] });
  return fail(taken.error.kind === "unavailable" ? taken.error.message : taken.error.kind);
}

function waitUnlessAborted(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Says how it ended; returns the exit code. */
function conclude(
  { end, progress }: ImportOutcome,
  files: readonly ImportFile[],
  store: ImportStateStore | null,
  screen: ImportScreen,
  startedMs: number,
  terminal: Terminal,
): number {
  const names = files.map(({ input }) => input.name);
  terminal.out(importSummary(names.map(printableLine), progress, screen.rows, performance.now() - startedMs));
  if (end.kind !== "finished") {
    if (end.kind === "failed") screen.say(`The import stopped: ${end.reason}`);
    else screen.say("The import was interrupted.");
    if (store !== null) screen.say("Give the same command again to go on from here.");
    return 1;
  }
  const useless = names.filter((_, file) => {
    const { accepted, duplicates, rejected } = progress.counts[file]!;
    return rejected > 0 && accepted + duplicates === 0;
  });
  for (const name of useless) screen.say(`"${name}" has no row that can be used.`);
  return useless.length + screen.unreadableCount > 0 ? 1 : 0;
}

import { type App, openApp } from "../../app/app.ts";
import type { Config } from "../../app/config.ts";
import { statementsUnderWay } from "../../archive/duckdb/running-statements.ts";
import { messageOf } from "../../lib/message-of.ts";
import { atMost, systemTimers, type Timers } from "../../lib/schedule/timers.ts";
import { printableLine } from "../../lib/text/printable.ts";
import { systemClock } from "../../model/time/clock.ts";
import type { Files } from "../../runtime/files.ts";
import type { Platform } from "../../runtime/platform.ts";
import type { Terminal } from "../../runtime/process.ts";
import { EntryError } from "../../wal/entry/entry.ts";
import type { CommandContext } from "../arguments/command.ts";
import { explanationOf, isExplained } from "../explained-error.ts";
import { createEventLog, type EventLog } from "../screen/event-log.ts";
import { logEvents } from "../screen/server-events.ts";
import type { ServeOptions } from "./command.ts";
import { mapLink, revealFirstKey } from "./sign-in.ts";

/** Serves until the process must stop; returns the exit code. */
export async function serve(
  { config, logLevel }: ServeOptions,
  { platform, terminal }: CommandContext,
): Promise<number> {
  const stopRequested = platform.stopRequested();
  const log = createEventLog(logLevel, terminal);
  const crash = platform.exitOnCrash((err) =>
    log.fatal({ event: "crash", err }, `A bug stopped the server: ${messageOf(err)}`),
  );
  const endQuiet = platform.quietHelpers();
  try {
    await serveUntil(stopRequested, config, platform, terminal, { log, crash });
    return 0;
  } catch (error) {
    if (!isExplained(error)) throw error;
    const bug = error.cause instanceof EntryError ? { err: error.cause } : {};
    log.error({ event: "failed", ...bug }, explanationOf(error));
    // The last line repeats the error as a sentence, for people who read the output of a build.
    if (!terminal.errorIsTerminal) terminal.error(`${printableLine(explanationOf(error))}\n`);
    return 1;
  } finally {
    endQuiet();
  }
}

/** Rejects with the reason for a failed start, after the server has stopped. */
async function serveUntil(
  stopRequested: Promise<unknown>,
  config: Config,
  platform: Platform,
  terminal: Terminal,
  { log, crash }: { readonly log: EventLog; readonly crash: (error: unknown) => never },
): Promise<void> {
  const opening = openApp(config, platform, systemClock, logEvents(log, performance.now(), crash));
  // A start may wait for a cluster's servers, and nothing else has to be stopped until they answer.
  const app = await Promise.race([opening, stopRequested.then(() => null)]);
  if (app === null) return log.info({ event: "stopped" }, "Stopped before the server listened.");
  await announce(app, config.dataDir, platform.files, terminal);
  const failed = app.ready.then(() => app.failed).catch((error: unknown) => ({ error }));
  const failure = await Promise.race([stopRequested.then(() => null), failed]);
  log.info({ event: "stopping" }, "Stopping: accepted requests are answered first.");
  await stopInTime(app, log, systemTimers);
  log.info({ event: "stopped" }, "Stopped.");
  if (failure !== null) throw failure.error;
}

/** Prints the address, the map, the first key of a new directory, and a line to paste. */
async function announce(
  { url, firstKey, createLinkCode }: App,
  dataDir: string,
  files: Files,
  terminal: Terminal,
): Promise<void> {
  const lines = [`Wherehouse listens at ${url} (API documentation: ${url}/docs/ui)`];
  // Output to a pipe may end up in a log, so only a terminal gets a link that signs in.
  const code = terminal.outIsTerminal ? await createLinkCode() : null;
  if (code !== null) lines.push(`Open the map: ${mapLink(url, code)}`);
  let keyWord = "$WHEREHOUSE_KEY";
  if (firstKey !== null) {
    const { line, word } = await revealFirstKey(firstKey, dataDir, files, terminal.outIsTerminal);
    lines.push(line);
    keyWord = word;
  }
  lines.push(
    "List the positions of all devices:",
    `  curl -H "Authorization: Bearer ${keyWord}" ${url}/api/v1/locations/current`,
  );
  terminal.out(`${lines.join("\n")}\n`);
}

/** A stop may take 5 s in all; the process needs the rest to begin it and to exit. */
const STOP_MS_MAX = 4500;
const STATEMENT_CHARS_MAX = 300; // Enough to tell one statement from another.

/**
 * Closes the app. Work that does not end in time, such as a DuckDB call that can't be interrupted, is logged and ends
 * with the process. Nothing is lost: every acknowledged report is on the disk.
 */
export async function stopInTime(
  app: Pick<App, "close">,
  log: { warn(members: object, line: string): void },
  timers: Timers,
  underWay: () => readonly string[] = statementsUnderWay,
): Promise<void> {
  let isClosed = false;
  const closing = app.close().then(() => {
    isClosed = true;
  });
  await atMost(timers, STOP_MS_MAX, closing);
  if (isClosed) return;
  closing.catch(() => undefined); // The process exits, so nothing waits for the close.
  const statements = underWay().map((sql) => sql.slice(0, STATEMENT_CHARS_MAX));
  const left = statements.length === 0 ? "" : `; the archive still runs: ${statements.join("; ")}`;
  log.warn({ event: "stop_cut_short", statements }, `Not everything ended in time${left}`);
}

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

/** Serves until it is asked to stop; returns the exit code. */
export async function serve(
  { config, logLevel }: ServeOptions,
  { platform, terminal }: CommandContext,
): Promise<number> {
  const stopRequested = platform.stopRequested();
  const log = createEventLog(logLevel, terminal);
  const crash = platform.exitOnCrash((err) =>
    log.fatal({ event: "crash", err }, `A bug stopped the server: ${messageOf(err)}`),
  );
  try {
    await serveUntil(stopRequested, config, platform, terminal, { log, crash });
    return 0;
  } catch (error) {
    if (!isExplained(error)) throw error;
    const bug = error.cause instanceof EntryError ? { err: error.cause } : {};
    log.error({ event: "failed", ...bug }, explanationOf(error));
    // Once more as a sentence: a person who reads a build's output looks at its last line.
    if (!terminal.errorIsTerminal) terminal.error(`${printableLine(explanationOf(error))}\n`);
    return 1;
  }
}

/** Rejects with what kept the server from starting, once it has stopped again. */
async function serveUntil(
  stopRequested: Promise<unknown>,
  config: Config,
  platform: Platform,
  terminal: Terminal,
  { log, crash }: { readonly log: EventLog; readonly crash: (error: unknown) => never },
): Promise<void> {
  const opening = openApp(config, platform, systemClock, logEvents(log, performance.now(), crash));
  // Until a cluster's servers answer there is nothing to stop but the waiting for them.
  const app = await Promise.race([opening, stopRequested.then(() => null)]);
  if (app === null) return log.info({ event: "stopped" }, "Stopped before the server listened.");
  await announce(app, config.dataDir, platform.files, terminal);
  const failed = app.ready.then(() => app.failed).catch((error: unknown) => ({ error }));
  const failure = await Promise.race([stopRequested.then(() => null), failed]);
  log.info({ event: "stopping" }, "Stopping: what was accepted is answered first.");
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
  const lines = [`Wherehouse listens at ${url} (its interface: ${url}/docs/ui)`];
  // What a pipe carries may be kept, so only who watches is given a link.
  const code = terminal.outIsTerminal ? await createLinkCode() : null;
  if (code !== null) lines.push(`Open the map: ${mapLink(url, code)}`);
  let keyWord = "$WHEREHOUSE_KEY";
  if (firstKey !== null) {
    const { line, word } = await revealFirstKey(firstKey, dataDir, files, terminal.outIsTerminal);
    lines.push(line);
    keyWord = word;
  }
  lines.push(
    "Ask it where all devices are:",
    `  curl -H "Authorization: Bearer ${keyWord}" ${url}/api/v1/locations/current`,
  );
  terminal.out(`${lines.join("\n")}\n`);
}

/** Of the 5 s that a stop may take: the process needs some of it to start this and to end. */
const STOP_MS_MAX = 4500;
const STATEMENT_CHARS_MAX = 300; // Enough to tell one statement from another.

/**
 * Closes the app. What does not end in time, such as a call of DuckDB that can't be interrupted, is logged and left to
 * the end of the process: all that was acknowledged is on the disk.
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
  closing.catch(() => undefined); // The process ends, so nothing waits for it any more.
  const statements = underWay().map((sql) => sql.slice(0, STATEMENT_CHARS_MAX));
  const left = statements.length === 0 ? "" : `; the archive still runs: ${statements.join("; ")}`;
  log.warn({ event: "stop_cut_short", statements }, `Not everything ended in time${left}`);
}

import manifest from "../package.json" with { type: "json" };
import { type KeyStore, type NewKey, openKeyStore } from "./auth/key-store.ts";
import { createRateLimit } from "./auth/rate-limit.ts";
import { watchKeys } from "./auth/watch-keys.ts";
import { type Config, INGEST_LIMITS, LATE_WINDOW } from "./config.ts";
import { readAcknowledgedParts } from "./directory/acknowledged.ts";
import { directoryPaths } from "./directory/paths.ts";
import { createHotStore } from "./hot/hot-store.ts";
import { inShortTurns } from "./http/answer/short-turns.ts";
import { createBodyBudget } from "./http/body/body-budget.ts";
import { AnswerBuffer } from "./http/encode/answer-buffer.ts";
import type { Answered } from "./http/observe.ts";
import { createServer } from "./http/server.ts";
import type { Readiness } from "./http/services.ts";
import { assert } from "./lib/assert.ts";
import { Scheduler } from "./lib/schedule/scheduler.ts";
import { watchEventLoop } from "./metrics/event-loop-meter.ts";
import { createMeters, type Meters } from "./metrics/meters.ts";
import { createScrape } from "./metrics/scrape.ts";
import type { AppId } from "./model/ids.ts";
import {
  type DirectoryEvents,
  type OnReplayProgress,
  type OpenDirectory,
  openDirectory,
  takeDirectory,
} from "./open-directory.ts";
import type { Listener } from "./runtime/listen.ts";
import { createPatientFiles } from "./runtime/patient-files.ts";
import type { Platform } from "./runtime/platform.ts";
import { createCurrentQueries } from "./service/current.ts";
import { createHistoryQueries } from "./service/history/history.ts";
import { createNearby } from "./service/nearby.ts";
import { countUnacknowledged } from "./service/verify/verify.ts";
import type { Clock } from "./time/clock.ts";

/** Builds the program from its parts, in order. It holds no rules of its own. */

/** What an operator should know, as it happens. */
export interface AppEvents extends DirectoryEvents {
  onReady(opened: OpenDirectory): void;
  /** The start can't open a file for now, and tries again. */
  onWaiting(error: unknown): void;
  onKeyFile(reason: string): void;
  /** A request failed by our fault; the client knows the id. */
  onFault(requestId: string, error: unknown): void;
  /** Nothing could be answered for so long. */
  onHeldUp(delayMs: number): void;
  /** Every request; null where nobody listens, which costs nothing. */
  readonly onAnswered: ((answered: Answered) => void) | null;
}

export interface App {
  readonly url: string;
  /** The key made for a directory that had nothing in it yet. */
  readonly firstKey: NewKey | null;
  /** Resolves when every acknowledged record is queryable; rejects where the directory can't be read. */
  readonly ready: Promise<void>;
  /** Answers what was accepted, then stops. */
  close(): Promise<void>;
}

const KEY_RELOAD_MS = 1000; // Half of what the contract allows.
const STOP_GRACE_MS = 3000; // Of the 5 s that a stop may take: what comes after it takes most of a second on a busy machine.

/** Opens the data directory and serves it: listening at once, answering about data once the log is replayed. */
export async function openApp(
  config: Config,
  platform: Platform,
  clock: Clock,
  events: AppEvents,
): Promise<App> {
  const { dataDir } = config;
  const { acquireLock, pid } = platform;
  let listener: Listener | null = null;
  let directory: OpenDirectory | null = null;
  let readiness: Readiness = { status: "starting", replayed: 0, total: 0 };
  const files = createPatientFiles(platform.files, {
    isWanted: () => readiness.status === "starting",
    onWaiting: events.onWaiting,
  });
  const release = await takeDirectory(dataDir, "serve", { files, acquireLock, pid }, clock);
  let start = { isReady: false, replayedBytes: 0, totalBytes: 0 };
  const scheduler = new Scheduler();
  const hot = createHotStore(scheduler);
  const meters = createMeters();
  const eventLoop = watchEventLoop(events.onHeldUp);
  try {
    const paths = directoryPaths(dataDir);
    const keys = await openKeyStore({
      files,
      path: paths.keys,
      clock,
      acquireLock,
      process: { pid, command: "serve" },
    });
    const opened = () => {
      assert(directory !== null, "no question passes the gate before the directory is open");
      return directory;
    };
    async function countDamaged(): Promise<number> {
      const unsaved = directory?.recovery.damage.filter(({ savedAs }) => savedAs === null).length ?? 0;
      const acknowledged = await readAcknowledgedParts(files, paths.damaged);
      const parts = [...opened().archive.damaged.keys()].filter((file) => !acknowledged.has(file)).length;
      return unsaved + parts + (await countUnacknowledged(files, paths.damaged));
    }
    const queries = { hot, clock, scheduler };
    const bodies = createBodyBudget(INGEST_LIMITS);
    const server = createServer({
      services: {
        ...queries,
        version: manifest.version,
        readiness: () => readiness,
        countDamaged,
        ingest: (appId: AppId, batch) => opened().ingest(appId, batch),
        bodies,
        reports: meters.reports,
        current: createCurrentQueries(queries),
        history: createHistoryQueries({
          ...queries,
          archive: () => opened().archive,
          acknowledgedParts: () => readAcknowledgedParts(files, paths.damaged),
          lateWindow: LATE_WINDOW,
        }),
        nearby: createNearby(queries),
        scrape: createScrape({
          version: manifest.version,
          meters,
          eventLoop,
          hot,
          stores: () => directory,
          start: () => start,
          bodies,
          usage: platform.usage,
          countDamaged,
        }),
        answers: new AnswerBuffer(),
        readAsset: platform.readAsset,
      },
      keys,
      rateLimit: createRateLimit(),
      corsOrigins: config.corsOrigins,
      requests: meters.requests,
      onFault: events.onFault,
      onAnswered: events.onAnswered,
    });
    listener = platform.listen({
      hostname: config.hostname,
      port: config.port,
      fetch: inShortTurns(server.fetch),
    });
    // Only now: where the port is in use nobody would be told of the key, and the next start would make none.
    const firstKey = await createFirstKey(keys, [
      ...(await files.list(paths.log)),
      ...(await files.list(paths.archive)),
    ]);
    reportKeyFile(keys, events);
    const watch = watchKeys(keys, KEY_RELOAD_MS, () => reportKeyFile(keys, events));
    const onProgress: OnReplayProgress = (replayed, total) => {
      readiness = { status: "starting", replayed, total };
      start = { ...start, replayedBytes: replayed, totalBytes: total };
    };
    const metered = meteredEvents(events, meters, clock);
    const opening = openDirectory({
      dataDir,
      files,
      clock,
      hot,
      config,
      events: metered,
      onProgress,
      release,
      scheduler,
    });
    const ready = opening.then(async (found) => {
      directory = found;
      if (readiness.status !== "starting") return; // It was told to stop meanwhile.
      readiness = { status: "ready" };
      start = { ...start, isReady: true };
      events.onReady(found);
      await found.inspect();
      found.schedule.start();
    });
    return {
      url: listener.url,
      firstKey,
      ready,
      async close() {
        readiness = { status: "stopping" };
        watch.stop();
        eventLoop.stop();
        await listener?.stop(STOP_GRACE_MS);
        await ready.catch(() => undefined); // Whoever waits for `ready` has heard of it.
        if (directory === null) release();
        else await directory.close();
      },
    };
  } catch (error) {
    eventLoop.stop();
    await listener?.stop(0);
    release();
    throw error;
  }
}

/** The same events, counted on their way. */
function meteredEvents(events: DirectoryEvents, meters: Meters, clock: Clock): DirectoryEvents {
  const { log, seals, refusals } = meters;
  return {
    ...events,
    onRefusal(refusal) {
      refusals.set(refusal.kind, (refusals.get(refusal.kind) ?? 0) + 1);
      events.onRefusal(refusal);
    },
    onLogWritten({ entries, bytes, syncMs }) {
      log.entries += entries;
      log.writtenBytes += bytes;
      log.syncs.add(syncMs);
    },
    onSealed(report) {
      seals.durations.add(report.durationMs);
      seals.records += report.records;
      seals.lastMs = clock.nowMs();
      events.onSealed(report);
    },
    onSealFailed(error) {
      seals.failed++;
      events.onSealFailed(error);
    },
  };
}

/** Only a directory with neither keys nor data gets a key by itself: a lost key file must not open a full one. */
async function createFirstKey(keys: KeyStore, dataFiles: readonly string[]): Promise<NewKey | null> {
  if (keys.state !== "missing" || dataFiles.length > 0) return null;
  const created = await keys.create({
    appId: "default" as AppId,
    permissions: ["read", "write"],
    tier: "unlimited",
    label: "first key",
    expiresMs: null,
  });
  assert(created.ok, "a missing key file can be written");
  return created.value;
}

const NO_KEY_FILE =
  "there is no keys.json beside the data, so every key is unknown. Make one with: keys create --app APP --permission read --permission write";

function reportKeyFile({ state }: KeyStore, events: AppEvents): void {
  if (state === "missing") events.onKeyFile(NO_KEY_FILE);
  else if (state !== "ok")
    events.onKeyFile(`keys.json can't be used, every key is unknown: ${state.damaged}`);
}

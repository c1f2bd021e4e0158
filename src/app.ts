import manifest from "../package.json" with { type: "json" };
import { type KeyStore, type NewKey, openKeyStore } from "./auth/key-store.ts";
import { createRateLimit } from "./auth/rate-limit.ts";
import { watchKeys } from "./auth/watch-keys.ts";
import { type Config, LOG_QUEUE_BYTES_MAX, SEGMENT_BYTES_MAX } from "./config.ts";
import { directoryPaths } from "./directory.ts";
import { createHotStore, type HotStore } from "./hot/hot-store.ts";
import type { Readiness } from "./http/routes/health.ts";
import { createServer } from "./http/server.ts";
import { assert } from "./lib/assert.ts";
import type { AppId } from "./model/ids.ts";
import type { Listener } from "./runtime/listen.ts";
import type { LockOwner } from "./runtime/lock.ts";
import type { Platform } from "./runtime/platform.ts";
import { createCurrentQueries } from "./service/current.ts";
import { createHistoryQueries } from "./service/history.ts";
import { createIngest, type Ingest } from "./service/ingest.ts";
import { createNearby } from "./service/nearby.ts";
import { createUserDevices } from "./service/user-devices.ts";
import { countUnacknowledged } from "./service/verify.ts";
import type { Clock } from "./time/clock.ts";
import { type LogRecovery, type LogRefusal, openWal, type Wal } from "./wal/wal.ts";

/** Builds the program from its parts, in order. It holds no rules of its own. */

/** Another process owns the data directory. */
export class DirectoryInUseError extends Error {
  override readonly name = "DirectoryInUseError";
  constructor(dataDir: string, owner: LockOwner | null) {
    const holder = owner === null ? "another process" : `process ${owner.pid} (${owner.command})`;
    super(`The data directory "${dataDir}" is in use by ${holder}.`);
  }
}

/** A data directory that this process owns, with all its records in memory. */
export interface OpenDirectory {
  readonly hot: HotStore;
  readonly log: Wal;
  readonly ingest: Ingest;
  readonly recovery: LogRecovery;
  /** Finishes what the log accepted and gives the directory free. */
  close(): Promise<void>;
}

export type OnReplayProgress = (replayedBytes: number, totalBytes: number) => void;

/** Takes the lock and replays the log. Throws a `DirectoryInUseError` where another process has it. */
export async function openDirectory(
  dataDir: string,
  command: string,
  { files, acquireLock, pid }: Platform,
  clock: Clock,
  onProgress: OnReplayProgress,
): Promise<OpenDirectory> {
  const release = await takeDirectory(dataDir, command, { files, acquireLock, pid }, clock);
  try {
    return await openLog(dataDir, files, createHotStore(), release, onProgress, () => {}); // The command sees the refusal itself.
  } catch (error) {
    release();
    throw error;
  }
}

async function takeDirectory(
  dataDir: string,
  command: string,
  { files, acquireLock, pid }: Pick<Platform, "files" | "acquireLock" | "pid">,
  clock: Clock,
): Promise<() => void> {
  await files.makeDirectory(dataDir);
  const attempt = await acquireLock(directoryPaths(dataDir).lock, { pid, command, sinceMs: clock.nowMs() });
  if (!attempt.ok) throw new DirectoryInUseError(dataDir, attempt.owner);
  return attempt.release;
}

async function openLog(
  dataDir: string,
  files: Platform["files"],
  hot: HotStore,
  release: () => void,
  onProgress: OnReplayProgress,
  onRefusal: (refusal: LogRefusal) => void,
): Promise<OpenDirectory> {
  const paths = directoryPaths(dataDir);
  const { wal: log, recovery } = await openWal({
    files,
    directory: paths.log,
    damagedDirectory: paths.damaged,
    segmentBytesMax: SEGMENT_BYTES_MAX,
    queueBytesMax: LOG_QUEUE_BYTES_MAX,
    sequenceMin: 1,
    onEntry: ({ appId, batch }) => hot.apply(appId, batch),
    onProgress: ({ replayedBytes, totalBytes }) => onProgress(replayedBytes, totalBytes),
  });
  return {
    hot,
    log,
    recovery,
    ingest: createIngest({ log, hot, onRefusal }),
    async close() {
      await log.close();
      release();
    },
  };
}

/** What an operator should know, as it happens. */
export interface AppEvents {
  onReady(recovery: LogRecovery, hot: HotStore): void;
  onKeyFile(reason: string): void;
  /** The log did not take a batch; its sender was told to try again. */
  onRefusal(refusal: LogRefusal): void;
  /** A request failed by our fault; the client knows the id. */
  onFault(requestId: string, error: unknown): void;
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
const STOP_GRACE_MS = 4000;

/** Opens the data directory and serves it: listening at once, answering about data once the log is replayed. */
export async function openApp(
  config: Config,
  platform: Platform,
  clock: Clock,
  events: AppEvents,
): Promise<App> {
  const { dataDir } = config;
  const { files, acquireLock, pid } = platform;
  const release = await takeDirectory(dataDir, "serve", platform, clock);
  let listener: Listener;
  let directory: OpenDirectory | null = null;
  let readiness: Readiness = { status: "starting", replayed: 0, total: 0 };
  const hot = createHotStore();
  try {
    const paths = directoryPaths(dataDir);
    const keys = await openKeyStore({
      files,
      path: paths.keys,
      clock,
      acquireLock,
      process: { pid, command: "serve" },
    });
    const firstKey = await createFirstKey(keys, await files.list(paths.log));
    reportKeyFile(keys, events);
    const queries = { hot, clock };
    const server = createServer({
      version: manifest.version,
      clock,
      keys,
      rateLimit: createRateLimit(),
      corsOrigins: config.corsOrigins,
      readiness: () => readiness,
      async countDamaged() {
        const unsaved = directory?.recovery.damage.filter(({ savedAs }) => savedAs === null).length ?? 0;
        return unsaved + (await countUnacknowledged(files, paths.damaged));
      },
      ingest: (appId: AppId, batch) => {
        assert(directory !== null, "no report passes the gate before the log is open");
        return directory.ingest(appId, batch);
      },
      current: createCurrentQueries(queries),
      history: createHistoryQueries(queries),
      nearby: createNearby(queries),
      userDevices: createUserDevices(queries),
      readAsset: platform.readAsset,
      onFault: events.onFault,
    });
    listener = platform.listen({
      hostname: config.hostname,
      port: config.port,
      fetch: server.fetch,
    });
    const watch = watchKeys(keys, KEY_RELOAD_MS, () => reportKeyFile(keys, events));
    const onProgress: OnReplayProgress = (replayed, total) => {
      readiness = { status: "starting", replayed, total };
    };
    const ready = openLog(dataDir, files, hot, release, onProgress, events.onRefusal).then((opened) => {
      directory = opened;
      if (readiness.status === "starting") readiness = { status: "ready" };
      events.onReady(opened.recovery, hot);
    });
    return {
      url: listener.url,
      firstKey,
      ready,
      async close() {
        readiness = { status: "stopping" };
        watch.stop();
        await listener.stop(STOP_GRACE_MS);
        await ready.catch(() => undefined); // Whoever waits for `ready` has heard of it.
        if (directory === null) release();
        else await directory.close();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** Only a directory with neither keys nor log gets a key by itself: a lost key file must not open a full one. */
async function createFirstKey(keys: KeyStore, logFiles: readonly string[]): Promise<NewKey | null> {
  if (keys.state !== "missing" || logFiles.length > 0) return null;
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

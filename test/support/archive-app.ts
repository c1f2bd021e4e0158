import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_ARCHIVE_CONFIG } from "../../src/app/config.ts";
import type { OpenDirectory, OpenDirectoryOptions } from "../../src/app/directory.ts";
import { openDirectory } from "../../src/app/open-directory.ts";
import type { AccessDependencies } from "../../src/auth/erase-access.ts";
import { directoryPaths } from "../../src/directory/paths.ts";
import { createHotStore } from "../../src/hot/hot-store.ts";
import type { ReadAsset } from "../../src/http/services.ts";
import { messageOf } from "../../src/lib/message-of.ts";
import { ok } from "../../src/lib/result.ts";
import { Scheduler } from "../../src/lib/schedule/scheduler.ts";
import { createManualClock, type ManualClock } from "../../src/model/time/clock.ts";
import { DEFAULT_RETENTION, type Retention } from "../../src/model/time/retention.ts";
import { createNodeFiles } from "../../src/runtime/node-files.ts";
import { openNodeSqlite } from "../../src/runtime/node-sqlite.ts";
import type { LateWindowSize } from "../../src/service/queries/history/read-stretches.ts";
import type { SealReport } from "../../src/service/upkeep/seal/seal.ts";
import type { WebhookParts } from "../../src/service/webhooks/open-webhooks.ts";
import { openMemorySqlite } from "./disk/memory-sqlite.ts";
import { createTestApp, createWebhookParts, type TestApp, type TestStores } from "./test-app.ts";

/** The service over a data directory with an archive, a log, and a manual clock. */
export interface ArchiveApp extends TestApp {
  readonly directory: OpenDirectory;
  readonly dataDir: string;
  /** Notes about the archive. */
  readonly notes: readonly string[];
  seal(): Promise<SealReport>;
  /** Closes the app and opens the same directory again. */
  restart(): Promise<ArchiveApp>;
  close(): Promise<void>;
}

export interface ArchiveAppOptions {
  readonly clock?: ManualClock;
  readonly startMs?: number;
  readonly retention?: Retention;
  readonly dataDir?: string;
  /** Defaults to the machine's disk. */
  readonly disk?: Pick<OpenDirectoryOptions, "files"> &
    Partial<Pick<OpenDirectoryOptions, "openSqlite">> &
    Pick<OpenDirectoryOptions, "archiveDisk" | "archiveEngine" | "startHelper" | "timers" | "stream">;
  /** Defaults to the server's value. */
  readonly sealDaysAtOnce?: number;
  /** A smaller window than usual, so that few late rows fill it. */
  readonly lateWindow?: LateWindowSize;
  /** Reads the files of the documentation page. */
  readonly readAsset?: ReadAsset;
  /** Smaller than usual, so that few entries fill a segment of the log. */
  readonly segmentBytesMax?: number;
  /** Defaults to one that measures its time. */
  readonly scheduler?: Scheduler;
  /** Defaults to receivers that take everything. */
  readonly webhooks?: WebhookParts;
}

const directories: string[] = [];
/** Those on the machine's disk that are open, as after a failure: Bun throws for an open file that is collected. */
const opened = new Set<OpenDirectory>();

/** Creates a directory for a test; `removeArchiveApps` removes it. */
export function temporaryDataDir(): string {
  const directory = mkdtempSync(join(tmpdir(), "wherehouse-archive-"));
  directories.push(directory);
  return directory;
}

/** Closes what is still open, whatever comes of it: the failure that left it open has been reported. */
export async function removeArchiveApps(): Promise<void> {
  await Promise.allSettled([...opened].map((directory) => directory.close()));
  opened.clear();
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
}

/** The app's keys are not those of the directory. */
const NO_ACCESS: AccessDependencies = {
  keys: { list: () => [], refresh: async () => undefined, removeAll: async () => ok([]) },
  passPhrases: { list: () => [], reload: async () => undefined, removeAll: async () => ok([]) },
};

export async function createArchiveApp(options: ArchiveAppOptions = {}): Promise<ArchiveApp> {
  const clock = options.clock ?? createManualClock(options.startMs ?? Date.UTC(2026, 0, 28, 12));
  const retention = options.retention ?? DEFAULT_RETENTION;
  const dataDir = options.dataDir ?? temporaryDataDir();
  const disk = options.disk ?? { files: createNodeFiles() };
  const { scheduler = new Scheduler() } = options;
  const hot = createHotStore(scheduler);
  const notes: string[] = [];
  const directory = await openDirectory({
    // A simulated disk has no place for a database.
    openSqlite: options.disk === undefined ? openNodeSqlite : openMemorySqlite,
    ...disk,
    ...(options.sealDaysAtOnce === undefined ? {} : { sealDaysAtOnce: options.sealDaysAtOnce }),
    ...(options.segmentBytesMax === undefined ? {} : { segmentBytesMax: options.segmentBytesMax }),
    dataDir,
    clock,
    retention,
    hot,
    scheduler,
    config: DEFAULT_ARCHIVE_CONFIG,
    events: {
      onRefusal: () => {},
      onArchiveNote: (note) => notes.push(note),
      onSealed: () => {},
      onSealFailed: () => {},
      onDamage: () => {},
      onEntryLeftOut: ({ message }) => notes.push(message),
      onBroken: (error) => notes.push(`broken: ${messageOf(error)}`),
    },
    onProgress: () => {},
    release: () => {},
    access: NO_ACCESS,
    webhooks: options.webhooks ?? (await createWebhookParts(clock)),
    keepsChanges: true,
  });
  if (options.disk === undefined) opened.add(directory);
  const { lateWindow, readAsset } = options;
  const damagedDirectory = directoryPaths(dataDir).damaged;
  const stores: TestStores = { hot, scheduler, files: disk.files, damagedDirectory, directory };
  const app = await createTestApp({
    clock,
    retention,
    ...(readAsset === undefined ? {} : { readAsset }),
    stores: lateWindow === undefined ? stores : { ...stores, lateWindow },
  });
  async function close(): Promise<void> {
    opened.delete(directory);
    await directory.close();
  }
  return {
    ...app,
    directory,
    dataDir,
    notes,
    seal: () => directory.schedule.sealNow(),
    async restart() {
      await close();
      return createArchiveApp({ ...options, clock, dataDir });
    },
    close,
  };
}

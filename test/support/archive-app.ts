import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_ARCHIVE_CONFIG, LATE_WINDOW } from "../../src/app/config.ts";
import {
  type OpenDirectory,
  type OpenDirectoryOptions,
  openDirectory,
} from "../../src/app/open-directory.ts";
import { readAcknowledgedParts } from "../../src/directory/damaged-files.ts";
import { createHotStore } from "../../src/hot/hot-store.ts";
import type { ReadAsset } from "../../src/http/services.ts";
import { messageOf } from "../../src/lib/message-of.ts";
import { Scheduler } from "../../src/lib/schedule/scheduler.ts";
import { createManualClock, type ManualClock } from "../../src/model/time/clock.ts";
import { DEFAULT_RETENTION, type Retention } from "../../src/model/time/retention.ts";
import { createNodeFiles } from "../../src/runtime/node-files.ts";
import { createCurrentQueries } from "../../src/service/queries/current.ts";
import { createHistoryQueries } from "../../src/service/queries/history/history.ts";
import type { LateWindowSize } from "../../src/service/queries/history/read-stretches.ts";
import { createNearby } from "../../src/service/queries/nearby.ts";
import { createReadPositions, type ReadPositions } from "../../src/service/queries/positions.ts";
import { createReadCoordinates } from "../../src/service/queries/read-coordinates.ts";
import { createVersions } from "../../src/service/queries/versions.ts";
import type { SealReport } from "../../src/service/upkeep/seal/seal.ts";
import { createTestApp, type TestApp } from "./test-app.ts";

/** The service over a whole data directory, with an archive, a log, and a clock that is turned by hand. */
export interface ArchiveApp extends TestApp {
  readonly directory: OpenDirectory;
  readonly dataDir: string;
  readonly readPositions: ReadPositions;
  /** What was said of the archive. */
  readonly notes: readonly string[];
  seal(): Promise<SealReport>;
  /** Closes it and opens the same directory again. */
  restart(): Promise<ArchiveApp>;
  close(): Promise<void>;
}

export interface ArchiveAppOptions {
  readonly clock?: ManualClock;
  readonly startMs?: number;
  readonly retention?: Retention;
  readonly dataDir?: string;
  /** Another disk than the machine's. */
  readonly disk?: Pick<
    OpenDirectoryOptions,
    "files" | "archiveDisk" | "archiveEngine" | "startHelper" | "timers"
  >;
  /** A server's where it is left out. */
  readonly sealDaysAtOnce?: number;
  /** Of another size than usual, so that few late rows fill many. */
  readonly lateWindow?: LateWindowSize;
  /** For the files of the documents' page. */
  readonly readAsset?: ReadAsset;
}

const directories: string[] = [];

/** A directory of its own for a test, removed by `removeArchiveApps`. */
export function temporaryDataDir(): string {
  const directory = mkdtempSync(join(tmpdir(), "wherehouse-archive-"));
  directories.push(directory);
  return directory;
}

export function removeArchiveApps(): void {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
}

export async function createArchiveApp(options: ArchiveAppOptions = {}): Promise<ArchiveApp> {
  const clock = options.clock ?? createManualClock(options.startMs ?? Date.UTC(2026, 0, 28, 12));
  const retention = options.retention ?? DEFAULT_RETENTION;
  const dataDir = options.dataDir ?? temporaryDataDir();
  const disk = options.disk ?? { files: createNodeFiles() };
  const scheduler = new Scheduler();
  const hot = createHotStore(scheduler);
  const notes: string[] = [];
  const directory = await openDirectory({
    ...disk,
    ...(options.sealDaysAtOnce === undefined ? {} : { sealDaysAtOnce: options.sealDaysAtOnce }),
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
  });
  hot.keepChanges(directory.log.lastSequence);
  const queries = { hot, clock, retention, scheduler };
  const archived = {
    ...queries,
    archive: () => directory.archive,
    acknowledgedParts: () => readAcknowledgedParts(disk.files, join(dataDir, "damaged")),
    lateWindow: options.lateWindow ?? LATE_WINDOW,
  };
  const readPositions = createReadPositions(archived);
  const app = await createTestApp({
    ...queries,
    ...(options.readAsset === undefined ? {} : { readAsset: options.readAsset }),
    ingest: directory.ingest,
    exactIngest: directory.exactIngest,
    current: createCurrentQueries(queries),
    history: createHistoryQueries(archived),
    readPositions,
    readCoordinates: createReadCoordinates(archived),
    exports: () => directory.exports,
    nearby: createNearby(queries),
    versions: createVersions({ ...queries, archive: () => directory.archive }),
  });
  return {
    ...app,
    directory,
    dataDir,
    readPositions,
    notes,
    seal: () => directory.schedule.sealNow(),
    async restart() {
      await directory.close();
      return createArchiveApp({ ...options, clock, dataDir, disk });
    },
    close: () => directory.close(),
  };
}

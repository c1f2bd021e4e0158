import { DEFAULT_ARCHIVE_CONFIG } from "../../../../src/app/config.ts";
import type { ArchiveEngine, DirectoryStream, OpenDirectory } from "../../../../src/app/directory.ts";
import { openDirectory } from "../../../../src/app/open-directory.ts";
import type { Archive } from "../../../../src/archive/archive.ts";
import { readAcknowledgedParts } from "../../../../src/directory/damaged-files.ts";
import { createHotStore, type HotStore } from "../../../../src/hot/hot-store.ts";
import type { CreateSalt } from "../../../../src/lib/frames/head.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import type { Clock } from "../../../../src/model/time/clock.ts";
import type { Retention } from "../../../../src/model/time/retention.ts";
import type { Files } from "../../../../src/runtime/files.ts";
import { createCurrentQueries } from "../../../../src/service/queries/current.ts";
import { createHistoryQueries } from "../../../../src/service/queries/history/history.ts";
import { createUserDevices } from "../../../../src/service/queries/user-devices.ts";
import type { EntryError } from "../../../../src/wal/entry/entry.ts";
import { openMemorySqlite } from "../../../support/disk/memory-sqlite.ts";
import { SIMULATED_DATA_DIR } from "../../../support/disk/mirrored-disk.ts";
import type { Booted } from "../disk/disk.ts";

export const DAMAGED_DIRECTORY = `${SIMULATED_DATA_DIR}/damaged`;
export const LOG_DIRECTORY = `${SIMULATED_DATA_DIR}/wal`;
export const ARCHIVE_DIRECTORY = `${SIMULATED_DATA_DIR}/archive`;

/** The real service over a simulated disk, from one start to the end of the process. */
export interface RunService {
  readonly directory: OpenDirectory;
  readonly hot: HotStore;
  readonly files: Files;
  readonly current: ReturnType<typeof createCurrentQueries>;
  readonly history: ReturnType<typeof createHistoryQueries>;
  readonly userDevices: ReturnType<typeof createUserDevices>;
  /** What was said of the archive. */
  readonly notes: readonly string[];
  /** Whether it has said that it does not know all newest positions: then nor whose all of those are that it knows. */
  mayLackNewest(): boolean;
}

/** Parts of the service that a test replaces by broken ones. */
export interface Planted {
  files?(files: Files): Files;
  hot?(hot: HotStore): HotStore;
  engine?(engine: ArchiveEngine): ArchiveEngine;
  readonly createSalt?: CreateSalt;
  /** Left out, an entry that memory can't take in fails the run. */
  onEntryLeftOut?(failure: EntryError): void;
  onBroken?(error: unknown): void;
  /** As questions see it. */
  archive?(archive: Archive): Archive;
}

export interface ServiceOptions {
  readonly machine: Booted;
  readonly clock: Clock;
  readonly retention: Retention;
  readonly segmentBytesMax: number;
  readonly createSalt: CreateSalt;
  readonly planted: Planted;
  /** Of a node of a cluster. */
  readonly stream?: DirectoryStream;
}

export async function openService(options: ServiceOptions): Promise<RunService> {
  const { machine, clock, retention, segmentBytesMax, createSalt, planted, stream } = options;
  const files = planted.files?.(machine.files) ?? machine.files;
  const scheduler = new Scheduler(() => 0); // What the machine's speed decides can't be repeated by a seed.
  const store = createHotStore(scheduler);
  const hot = planted.hot?.(store) ?? store;
  const notes: string[] = [];
  const directory = await openDirectory({
    dataDir: SIMULATED_DATA_DIR,
    files,
    openSqlite: openMemorySqlite,
    archiveDisk: machine.archiveDisk,
    archiveEngine: planted.engine?.(machine.engine) ?? machine.engine,
    segmentBytesMax,
    scheduler,
    createSalt: planted.createSalt ?? createSalt,
    clock,
    retention,
    hot,
    config: DEFAULT_ARCHIVE_CONFIG,
    events: {
      onRefusal: () => {},
      onArchiveNote: (note) => notes.push(note),
      onSealed: () => {},
      onSealFailed: () => {},
      onDamage: () => {},
      onEntryLeftOut: planted.onEntryLeftOut ?? rethrow,
      onBroken: planted.onBroken ?? rethrow,
    },
    onProgress: () => {},
    release: () => {},
    ...(stream === undefined ? {} : { stream }),
  });
  const queries = { hot, clock, retention, scheduler };
  return {
    directory,
    hot,
    files,
    notes,
    mayLackNewest: () => notes.some((note) => note.startsWith("The newest positions of")),
    current: createCurrentQueries(queries),
    history: createHistoryQueries({
      ...queries,
      archive: () => planted.archive?.(directory.archive) ?? directory.archive,
      acknowledgedParts: () => readAcknowledgedParts(files, DAMAGED_DIRECTORY),
      lateWindow: { firstRows: 2, rowsMax: 5 },
    }),
    userDevices: createUserDevices(queries),
  };
}

function rethrow(error: unknown): never {
  throw error;
}

/** Ends it, on whatever is left of its disk. */
export async function closeService({ directory }: RunService): Promise<void> {
  await directory.close().catch(() => undefined);
  directory.archive.close();
}

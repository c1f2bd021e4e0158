import { DEFAULT_ARCHIVE_CONFIG } from "../../../src/app/config.ts";
import type { ArchiveDisk, OpenDirectory } from "../../../src/app/directory.ts";
import { openDirectory } from "../../../src/app/open-directory.ts";
import { createHotStore, type HotStore } from "../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION } from "../../../src/model/time/retention.ts";
import type { Files } from "../../../src/runtime/files.ts";
import { SEGMENT_HEAD_BYTES } from "../../../src/wal/segment.ts";
import { openMemorySqlite } from "../../support/disk/memory-sqlite.ts";
import { SIMULATED_DATA_DIR } from "../../support/disk/mirrored-disk.ts";
import {
  createSimulatedFiles,
  type FileOperation,
  type SimulatedFiles,
} from "../../support/disk/simulated-files.ts";
import { seededRandom } from "../../support/seeded-random.ts";

export const CRASH_RUN_MS = Date.UTC(2026, 0, 28, 12);

const FAILURES: readonly FileOperation[] = ["append", "sync", "replace", "remove", "rename", "syncDirectory"];

/** How a run reaches its disk; DuckDB needs a real directory if there are records to seal. */
interface CrashRunDisk {
  readonly files: Files;
  readonly archiveDisk?: ArchiveDisk;
}

/** A data directory on a disk that fails and loses its power, all of it drawn from a seed. */
export abstract class CrashRun {
  readonly clock = createManualClock(CRASH_RUN_MS);
  files = createSimulatedFiles();
  directory!: OpenDirectory;
  hot!: HotStore;
  seals = 0;
  /** Aborted when the power fails: nothing can be read any more. */
  power = new AbortController();
  readonly #random: () => number;
  /** Few entries fill a segment of the log, so that seals have something to trim. */
  readonly #entryBytes: number;

  constructor(seed: number, entryBytes: number) {
    this.#random = seededRandom(seed);
    this.#entryBytes = entryBytes;
  }

  /** What the service reaches of `files`. */
  protected abstract disk(): CrashRunDisk;

  /** Compares what a start found with what was acknowledged. */
  protected abstract expectPossible(): Promise<void>;

  draw(below: number): number {
    return Math.floor(this.#random() * below);
  }

  async open(): Promise<void> {
    const scheduler = new Scheduler();
    this.hot = createHotStore(scheduler);
    this.directory = await openDirectory({
      ...this.disk(),
      openSqlite: openMemorySqlite,
      dataDir: SIMULATED_DATA_DIR,
      clock: this.clock,
      retention: DEFAULT_RETENTION,
      hot: this.hot,
      scheduler,
      config: DEFAULT_ARCHIVE_CONFIG,
      segmentBytesMax: SEGMENT_HEAD_BYTES + this.#entryBytes,
      events: {
        onRefusal: () => {},
        onArchiveNote: () => {},
        onSealed: () => {},
        onSealFailed: () => {},
        onDamage: () => {},
        onEntryLeftOut: (failure) => {
          throw failure;
        },
        onBroken: (error) => {
          throw error;
        },
      },
      onProgress: () => {},
      release: () => {},
    });
    await this.expectPossible();
  }

  async seal(): Promise<void> {
    await this.directory.schedule.sealNow().then(
      () => this.seals++,
      () => {},
    );
  }

  failSomething(): void {
    const operation = FAILURES[this.draw(FAILURES.length)]!;
    this.files.failNext(operation, this.draw(2) === 0 ? "ENOSPC" : "EIO", this.draw(40));
  }

  /** The power fails at an operation of the work, or after it. */
  async crashDuring(work: () => Promise<void>): Promise<void> {
    let left = this.draw(12);
    let disk: SimulatedFiles | null = null;
    this.files.beforeOperation = () => {
      if (left-- > 0) return;
      disk ??= this.files.crash(this.#random);
      this.power.abort();
    };
    await work().catch(() => {});
    this.files.beforeOperation = null;
    const after: SimulatedFiles = disk ?? this.files.crash(this.#random);
    await this.directory.close().catch(() => {});
    this.files = after;
    this.power = new AbortController();
    await this.open();
  }
}

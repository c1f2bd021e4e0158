import type { HotStore } from "../../../hot/hot-store.ts";
import { pause, type Timers } from "../../../lib/schedule/timers.ts";
import type { ReportBatch } from "../../../model/report-batch.ts";
import type { Clock } from "../../../model/time/clock.ts";
import { utcDayStartMs } from "../../../model/time/utc-day.ts";
import type { SealProgress } from "./fold.ts";
import { hasLateRows, planSeal, windowStart } from "./plan.ts";
import type { Seal, SealReport } from "./seal.ts";

/** Decides when to seal: at intervals, and as soon as memory has many old records. */
export interface SealSchedule {
  /** Begins the first interval. */
  start(): void;
  /** Seals now, or after the running seal. */
  sealNow(onProgress?: (progress: SealProgress) => void): Promise<SealReport>;
  /** Like `sealNow()`, but resolves with null if the seal fails, which the operator is told. */
  trySeal(): Promise<SealReport | null>;
  /** Must be called after reports are in memory. */
  noteReports(): void;
  /** Begins a seal, unless one is running or has just failed. */
  sealSoon(): void;
  /** False if a batch has old reports while too many already wait for the archive. */
  hasRoomFor(batch: ReportBatch): boolean;
  /** Like `hasRoomFor`, but for entries of other nodes, with a higher limit: a log that waits delays every client. */
  hasRoomToFollow(batch: ReportBatch): boolean;
  /** Waits until there is room for the batch; rejects if the seal that should make room fails. */
  makeRoomFor(batch: ReportBatch, onProgress: (progress: SealProgress) => void): Promise<void>;
  /**
   * Resolves once each record is in one place: no seal is running, and memory has no late rows beside the archive's,
   * except of days that can't be read. A seal that fails is repeated. Never resolves if `stop()` is called before.
   */
  foldLate(): Promise<void>;
  /** Begins no more seals, and aborts the running one. */
  stop(): Promise<void>;
  readonly state: SealState;
}

/** When the last seal ended. */
export interface SealState {
  /** When the last successful one ended, Unix ms; null if there was none since the start. */
  readonly lastMs: number | null;
  /** Whether that, or the start, is more than three intervals ago. */
  readonly isLate: boolean;
}

export interface SealScheduleOptions {
  readonly seal: Seal;
  readonly hot: Pick<HotStore, "daysInMemory" | "forgetIdle">;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly intervalMs: number;
  /** Old records in memory that start a seal; `oldRecordsMax` of them stop accepting reports. */
  readonly oldRecordsSeal: number;
  readonly oldRecordsMax: number;
  readonly onSealed: (report: SealReport) => void;
  readonly onFailed: (error: unknown) => void;
  /** No seal has ended for more than three intervals. */
  readonly onLate: (state: SealState) => void;
}

/** After a failed seal, reports start no new one for this long: the disk is probably still full. */
const RETRY_MS = 60_000;

/**
 * A cluster's log waits only at this multiple of the limit for old records: nodes may have accepted that much while
 * they did not know of each other. While they all make room, it accepts nothing more anyway.
 */
const FOLLOWED_TIMES = 4;

/** Intervals after which a seal is late: one may fail, and the next take long. */
const LATE_INTERVALS = 3;

/** Old records are counted once in this many batches, because counting visits all days in memory. */
const BATCHES_A_COUNT = 16;

export function createSealSchedule(options: SealScheduleOptions): SealSchedule {
  const { seal, hot, clock, timers, intervalMs, oldRecordsSeal, oldRecordsMax, onSealed, onFailed } = options;
  const controller = new AbortController();
  const lateness = new Lateness(options);
  let cancelNext: () => void = () => undefined;
  const seals = new SealQueue();
  const old = new OldRecords(hot, clock);
  let retryAtMs = Number.NEGATIVE_INFINITY;
  /** Progress listeners of the running seal. */
  const watchers = new Set<(progress: SealProgress) => void>();
  const hasRoomFor = (batch: ReportBatch) => old.hasRoom(batch, oldRecordsMax);

  function sealNow(onProgress?: (progress: SealProgress) => void): Promise<SealReport> {
    return seals.add(async () => {
      try {
        const report = await seal(controller.signal, (progress) => {
          for (const watch of [onProgress, ...watchers]) watch?.(progress);
        });
        lateness.noteSealed();
        return report;
      } finally {
        old.recount();
        hot.forgetIdle();
      }
    });
  }

  async function trySeal(): Promise<SealReport | null> {
    try {
      const report = await sealNow();
      onSealed(report);
      return report;
    } catch (error) {
      if (!controller.signal.aborted) {
        retryAtMs = timers.nowMs() + RETRY_MS;
        onFailed(error);
      }
      return null;
    }
  }

  function sealSoon(): void {
    if (!seals.isAny && timers.nowMs() >= retryAtMs) void trySeal();
  }

  function wait(delayMs: number): void {
    cancelNext = timers.after(delayMs, async () => {
      await trySeal();
      if (!controller.signal.aborted) wait(intervalMs);
    });
  }

  return {
    start() {
      old.recount();
      lateness.start();
      wait(0); // Seals immediately, because days may have become due before the start.
    },
    sealNow,
    trySeal,
    noteReports() {
      if (old.noteBatch(oldRecordsSeal)) sealSoon();
    },
    sealSoon,
    hasRoomFor,
    hasRoomToFollow: (batch) => old.hasRoom(batch, FOLLOWED_TIMES * oldRecordsMax),
    async makeRoomFor(batch, onProgress) {
      watchers.add(onProgress);
      try {
        // While the seal runs, more may arrive that it does not archive. Waiting is better than starting another one.
        while (seals.isAny && !hasRoomFor(batch)) await seals.end();
        if (!hasRoomFor(batch)) await sealNow();
      } finally {
        watchers.delete(onProgress);
      }
    },
    foldLate: () => foldLate(options, seals, sealNow, controller.signal),
    async stop() {
      controller.abort();
      cancelNext();
      lateness.stop();
      await seals.end();
    },
    get state() {
      return lateness.state;
    },
  };
}

/** Runs seals one after the other. */
class SealQueue {
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;

  /** Whether a seal is running, or waits. */
  get isAny(): boolean {
    return this.#count > 0;
  }

  /** Resolves once those that are in here have ended. */
  async end(): Promise<void> {
    await this.#last;
  }

  add(seal: () => Promise<SealReport>): Promise<SealReport> {
    this.#count++;
    const sealed = this.#last.then(seal).finally(() => {
      this.#count--;
    });
    this.#last = sealed.catch(() => undefined); // The caller of the seal gets the error.
    return sealed;
  }
}

const NEVER = new Promise<never>(() => {});

async function foldLate(
  { hot, timers, onFailed }: Pick<SealScheduleOptions, "hot" | "timers" | "onFailed">,
  seals: SealQueue,
  sealNow: SealSchedule["sealNow"],
  signal: AbortSignal,
): Promise<void> {
  for (let isFolded = false; seals.isAny || (hasLateRows(hot) && !isFolded); ) {
    try {
      if (seals.isAny) await seals.end();
      else {
        await sealNow();
        isFolded = true;
      }
    } catch (error) {
      if (!signal.aborted) onFailed(error);
      await pause(timers, RETRY_MS, signal); // The disk is probably still full.
    }
    if (signal.aborted) await NEVER;
  }
}

/** The number of records in memory that belong into the archive, at the last count. */
class OldRecords {
  readonly #hot: SealScheduleOptions["hot"];
  readonly #clock: Clock;
  count = 0;
  #batches = 0;

  constructor(hot: SealScheduleOptions["hot"], clock: Clock) {
    this.#hot = hot;
    this.#clock = clock;
  }

  recount(): void {
    const days = this.#hot.daysInMemory();
    const due = new Set(planSeal(days, this.#clock.nowMs()));
    const old = days.filter(({ day }) => due.has(day));
    this.count = old.reduce((sum, { records, fixSize }) => sum + records + fixSize, 0);
  }

  /** Returns whether there are more than a limit. Counts now and then, and again before it says so. */
  noteBatch(limit: number): boolean {
    if (++this.#batches % BATCHES_A_COUNT === 0 || this.count > limit) this.recount();
    return this.count > limit;
  }

  hasRoom({ timestampMs }: ReportBatch, recordsMax: number): boolean {
    if (this.count <= recordsMax) return true;
    const startMs = utcDayStartMs(windowStart(this.#clock.nowMs()));
    return timestampMs.every((each) => each >= startMs);
  }
}

type LatenessOptions = Pick<SealScheduleOptions, "clock" | "timers" | "intervalMs" | "onLate">;

/** Knows when the last seal ended, and calls `onLate` if that was long ago. Before the start nothing is late. */
class Lateness {
  readonly #options: LatenessOptions;
  #lastMs: number | null = null;
  /** By the timers, which are independent of the clock; null before the start. */
  #sinceMs: number | null = null;
  #cancel: () => void = () => undefined;

  constructor(options: LatenessOptions) {
    this.#options = options;
  }

  get state(): SealState {
    const { timers, intervalMs } = this.#options;
    const isLate = this.#sinceMs !== null && timers.nowMs() - this.#sinceMs > LATE_INTERVALS * intervalMs;
    return { lastMs: this.#lastMs, isLate };
  }

  start(): void {
    this.#sinceMs = this.#options.timers.nowMs();
    this.#look();
  }

  noteSealed(): void {
    this.#lastMs = this.#options.clock.nowMs();
    if (this.#sinceMs !== null) this.start();
  }

  stop(): void {
    this.#cancel();
    this.#sinceMs = null;
  }

  /** Runs once an interval, because a timer can't be as long as three of them may be. */
  #look(): void {
    this.#cancel();
    const { state } = this;
    if (state.isLate) this.#options.onLate(state);
    else this.#cancel = this.#options.timers.after(this.#options.intervalMs, () => this.#look());
  }
}

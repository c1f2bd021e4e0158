import type { HotStore } from "../../../hot/hot-store.ts";
import type { Timers } from "../../../lib/schedule/timers.ts";
import type { ReportBatch } from "../../../model/report-batch.ts";
import type { Clock } from "../../../model/time/clock.ts";
import { utcDayStartMs } from "../../../model/time/utc-day.ts";
import type { SealProgress } from "./fold.ts";
import { planSeal, windowStart } from "./plan.ts";
import type { Seal, SealReport } from "./seal.ts";

/** When seals happen: at intervals, and as soon as memory holds much that belongs into the archive. */
export interface SealSchedule {
  /** Begins the first interval. */
  start(): void;
  /** Seals now, or after the seal under way. */
  sealNow(onProgress?: (progress: SealProgress) => void): Promise<SealReport>;
  /** To be called when memory has taken reports in. */
  noteReports(): void;
  /** False where a batch has old reports while so many wait for the archive that no more should be taken. */
  hasRoomFor(batch: ReportBatch): boolean;
  /** The same of what others have taken, for which there is more room: a log that waits keeps everybody waiting. */
  hasRoomToFollow(batch: ReportBatch): boolean;
  /** Waits until there is room for the batch; rejects where the seal fails that should make it. */
  makeRoomFor(batch: ReportBatch, onProgress: (progress: SealProgress) => void): Promise<void>;
  /** Begins no more seals, and breaks off the one under way. */
  stop(): Promise<void>;
  readonly state: SealState;
}

/** How long ago the last seal ended, whatever keeps the next one from its end. */
export interface SealState {
  /** When the last one that did not fail ended, Unix ms; null if none has since the start. */
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
  /** Old records in memory that begin a seal, and that stop reports from being taken. */
  readonly oldRecordsSeal: number;
  readonly oldRecordsMax: number;
  readonly onSealed: (report: SealReport) => void;
  readonly onFailed: (error: unknown) => void;
  /** None has ended for more than three intervals. */
  readonly onLate: (state: SealState) => void;
}

/** After a seal that failed, reports begin no new one for this long: the disk is as full as it was. */
const RETRY_MS = 60_000;

/**
 * As many times the old records that stop reports from being taken may be in memory before the log of a cluster waits:
 * what its nodes have let in while they did not know of each other, and nothing while they all make room.
 */
const FOLLOWED_TIMES = 4;

/** Intervals after which a seal is late: one may fail, and the next take long. */
const LATE_INTERVALS = 3;

/** How often old records are counted: every so many batches, or a year of days would be walked for each report. */
const BATCHES_A_COUNT = 16;

export function createSealSchedule(options: SealScheduleOptions): SealSchedule {
  const { seal, hot, clock, timers, intervalMs, oldRecordsSeal, oldRecordsMax, onSealed, onFailed } = options;
  const controller = new AbortController();
  const lateness = new Lateness(options);
  let cancelNext: () => void = () => undefined;
  let running: Promise<unknown> = Promise.resolve();
  let sealsWaiting = 0;
  const old = new OldRecords(hot, clock);
  let batches = 0;
  let retryAtMs = Number.NEGATIVE_INFINITY;
  /** Told of whatever seal is under way. */
  const watchers = new Set<(progress: SealProgress) => void>();

  const hasRoomFor = (batch: ReportBatch) => old.hasRoom(batch, oldRecordsMax);

  function sealNow(onProgress?: (progress: SealProgress) => void): Promise<SealReport> {
    sealsWaiting++;
    const sealed = running.then(async () => {
      try {
        const report = await seal(controller.signal, (progress) => {
          onProgress?.(progress);
          for (const watch of watchers) watch(progress);
        });
        lateness.noteSealed();
        return report;
      } finally {
        sealsWaiting--;
        old.recount();
        hot.forgetIdle();
      }
    });
    running = sealed.catch(() => undefined); // Who asked for the seal hears of it.
    return sealed;
  }

  async function sealBySchedule(): Promise<void> {
    try {
      onSealed(await sealNow());
    } catch (error) {
      if (controller.signal.aborted) return;
      retryAtMs = timers.nowMs() + RETRY_MS;
      onFailed(error);
    }
  }

  function wait(delayMs: number): void {
    cancelNext = timers.after(delayMs, async () => {
      await sealBySchedule();
      if (!controller.signal.aborted) wait(intervalMs);
    });
  }

  return {
    start() {
      old.recount();
      lateness.start();
      wait(0); // What became due while nothing ran.
    },
    sealNow,
    noteReports() {
      if (++batches % BATCHES_A_COUNT === 0 || old.count > oldRecordsSeal) old.recount();
      if (old.count <= oldRecordsSeal || sealsWaiting > 0 || timers.nowMs() < retryAtMs) return;
      void sealBySchedule();
    },
    hasRoomFor,
    hasRoomToFollow: (batch) => old.hasRoom(batch, FOLLOWED_TIMES * oldRecordsMax),
    async makeRoomFor(batch, onProgress) {
      watchers.add(onProgress);
      try {
        // What the seal under way leaves is sealed while more comes: another seal would keep everybody waiting.
        while (sealsWaiting > 0 && !hasRoomFor(batch)) await running;
        if (!hasRoomFor(batch)) await sealNow();
      } finally {
        watchers.delete(onProgress);
      }
    },
    async stop() {
      controller.abort();
      cancelNext();
      lateness.stop();
      await running;
    },
    get state() {
      return lateness.state;
    },
  };
}

/** Records in memory that belong into the archive, as they were when they were last counted. */
class OldRecords {
  readonly #hot: SealScheduleOptions["hot"];
  readonly #clock: Clock;
  count = 0;

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

  hasRoom({ timestampMs }: ReportBatch, recordsMax: number): boolean {
    if (this.count <= recordsMax) return true;
    const startMs = utcDayStartMs(windowStart(this.#clock.nowMs()));
    return timestampMs.every((each) => each >= startMs);
  }
}

type LatenessOptions = Pick<SealScheduleOptions, "clock" | "timers" | "intervalMs" | "onLate">;

/** Knows when the last seal ended, and says so if that was long ago. Nothing is late before it is started. */
class Lateness {
  readonly #options: LatenessOptions;
  #lastMs: number | null = null;
  /** By the timers, which no clock that is set moves; null before the start. */
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

  /** Once an interval, of which no three are longer than a timer can be. */
  #look(): void {
    this.#cancel();
    const { state } = this;
    if (state.isLate) this.#options.onLate(state);
    else this.#cancel = this.#options.timers.after(this.#options.intervalMs, () => this.#look());
  }
}

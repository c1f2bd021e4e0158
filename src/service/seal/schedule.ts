import type { DayInMemory, HotStore } from "../../hot/hot-store.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import type { Clock } from "../../time/clock.ts";
import { utcDayStartMs } from "../../time/utc-day.ts";
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
}

export interface SealScheduleOptions {
  readonly seal: Seal;
  readonly hot: Pick<HotStore, "daysInMemory" | "forgetIdle">;
  readonly clock: Clock;
  readonly intervalMs: number;
  /** Old records in memory that begin a seal, and that stop reports from being taken. */
  readonly oldRecordsSeal: number;
  readonly oldRecordsMax: number;
  readonly onSealed: (report: SealReport) => void;
  readonly onFailed: (error: unknown) => void;
}

/** After a seal that failed, reports begin no new one for this long: the disk is as full as it was. */
const RETRY_MS = 60_000;

/**
 * As many times the old records that stop reports from being taken may be in memory before the log of a cluster waits:
 * what its nodes have let in while they did not know of each other, and nothing while they all make room.
 */
const FOLLOWED_TIMES = 4;

/** How often old records are counted: every so many batches, or a year of days would be walked for each report. */
const BATCHES_A_COUNT = 16;

function oldRecordsOf(days: readonly DayInMemory[], nowMs: number): number {
  const due = new Set(planSeal(days, nowMs));
  return days.reduce((sum, { day, records }) => (due.has(day) ? sum + records : sum), 0);
}

export function createSealSchedule(options: SealScheduleOptions): SealSchedule {
  const { seal, hot, clock, intervalMs, oldRecordsSeal, oldRecordsMax, onSealed, onFailed } = options;
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | null = null;
  let running: Promise<unknown> = Promise.resolve();
  let sealsWaiting = 0;
  let oldRecords = 0;
  let batches = 0;
  let retryAtMs = Number.NEGATIVE_INFINITY;
  /** Told of whatever seal is under way. */
  const watchers = new Set<(progress: SealProgress) => void>();

  function countOldRecords(): void {
    oldRecords = oldRecordsOf(hot.daysInMemory(), clock.nowMs());
  }

  function hasRoom({ timestampMs }: ReportBatch, recordsMax: number): boolean {
    if (oldRecords <= recordsMax) return true;
    const startMs = utcDayStartMs(windowStart(clock.nowMs()));
    return timestampMs.every((each) => each >= startMs);
  }

  const hasRoomFor = (batch: ReportBatch) => hasRoom(batch, oldRecordsMax);

  function sealNow(onProgress?: (progress: SealProgress) => void): Promise<SealReport> {
    sealsWaiting++;
    const sealed = running.then(async () => {
      try {
        return await seal(controller.signal, (progress) => {
          onProgress?.(progress);
          for (const watch of watchers) watch(progress);
        });
      } finally {
        sealsWaiting--;
        countOldRecords();
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
      retryAtMs = performance.now() + RETRY_MS;
      onFailed(error);
    }
  }

  function wait(delayMs: number): void {
    timer = setTimeout(async () => {
      await sealBySchedule();
      if (!controller.signal.aborted) wait(intervalMs);
    }, delayMs);
  }

  return {
    start() {
      countOldRecords();
      wait(0); // What became due while nothing ran.
    },
    sealNow,
    noteReports() {
      if (++batches % BATCHES_A_COUNT === 0 || oldRecords > oldRecordsSeal) countOldRecords();
      if (oldRecords <= oldRecordsSeal || sealsWaiting > 0 || performance.now() < retryAtMs) return;
      void sealBySchedule();
    },
    hasRoomFor,
    hasRoomToFollow: (batch) => hasRoom(batch, FOLLOWED_TIMES * oldRecordsMax),
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
      if (timer !== null) clearTimeout(timer);
      await running;
    },
  };
}

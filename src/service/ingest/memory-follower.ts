import type { AppliedBatch } from "../../hot/batch-writer.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import { assert } from "../../lib/assert.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import { inOneStep } from "../../lib/schedule/steps.ts";
import { pause, systemTimers, type Timers } from "../../lib/schedule/timers.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import { applyEntry, type LogEntry } from "../../wal/entry/entry.ts";
import type { LogFollower } from "../../wal/log.ts";
import type { SealSchedule } from "../upkeep/seal/schedule.ts";

/** Told of reports that memory took in, and asked for room. */
export type FollowedSchedule = Pick<SealSchedule, "noteReports" | "hasRoomFor" | "hasRoomToFollow">;

/** What waits for a seal looks for room this often. */
const ROOM_PAUSE_MS = 200;

/** Who waits for memory, all apps together: its order is that of the log. No app is called so. */
const MEMORY = "";

/**
 * Lays entries of the log over memory, in its order, each in a step of its own. What came of those that this process
 * appended is kept until it is asked for: the answer to whoever sent them. After an entry that memory can't take in
 * comes no other one: the next seal would cover an entry that is in no part.
 */
export class MemoryFollower implements LogFollower {
  readonly #hot: Pick<HotStore, "apply">;
  readonly #scheduler: Scheduler;
  readonly #schedule: FollowedSchedule;
  readonly #timers: Timers;
  readonly #applied = new Map<number, Promise<AppliedBatch>>();
  #failure: { readonly error: unknown } | null = null;

  constructor(
    hot: Pick<HotStore, "apply">,
    scheduler: Scheduler,
    schedule: FollowedSchedule,
    timers: Timers = systemTimers,
  ) {
    this.#hot = hot;
    this.#scheduler = scheduler;
    this.#schedule = schedule;
    this.#timers = timers;
  }

  /** Rejects with an `EntryError` where memory can't take the entry in, or could not take in an earlier one. */
  take(entry: LogEntry, isOwn: boolean): Promise<unknown> {
    const applied = this.#scheduler.run(
      MEMORY,
      inOneStep(() => this.#apply(entry)),
    );
    if (isOwn) this.#applied.set(entry.sequence, applied);
    return applied;
  }

  #apply(entry: LogEntry): AppliedBatch {
    if (this.#failure !== null) throw this.#failure.error;
    try {
      return applyEntry(entry, ({ appId, batch, sequence }) => {
        const applied = this.#hot.apply(appId, batch, sequence);
        this.#schedule.noteReports();
        return applied;
      });
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }

  async makeRoomFor(batch: ReportBatch, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#schedule.hasRoomToFollow(batch)) {
      this.#schedule.noteReports(); // Begins a seal where none is under way and the last one did not just fail.
      await pause(this.#timers, ROOM_PAUSE_MS, signal);
    }
  }

  /** What the entry came to, once memory shows it; asked once of each that the log has taken. */
  applied(sequence: number): Promise<AppliedBatch> {
    const applied = this.#applied.get(sequence);
    assert(applied !== undefined, "the log hands an entry over before it says that it has it");
    this.#applied.delete(sequence);
    return applied;
  }
}

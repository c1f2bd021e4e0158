import type { AppliedBatch } from "../../hot/batch-writer.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import { assert } from "../../lib/assert.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import { inOneStep } from "../../lib/schedule/steps.ts";
import { pause, systemTimers, type Timers } from "../../lib/schedule/timers.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import { applyEntry, type LogEntry } from "../../wal/entry/entry.ts";
import type { LogFollower, Wal } from "../../wal/log.ts";
import type { SealSchedule } from "../upkeep/seal/schedule.ts";
import { applyToMemory } from "./apply-entry.ts";

/** The schedule, as far as a follower of the log needs it. */
export type FollowedSchedule = Pick<SealSchedule, "noteReports" | "hasRoomFor" | "hasRoomToFollow">;

/** Memory, as far as a follower of the log changes it. */
type FollowedMemory = Pick<HotStore, "apply" | "applyStanding">;

/** Pause between two checks for room during a seal. */
const ROOM_PAUSE_MS = 200;

/** The owner of all waits for memory, because its order is that of the log. No app has this name. */
const MEMORY = "";

export interface FollowLogDependencies {
  readonly log: Pick<Wal, "follow">;
  readonly hot: FollowedMemory;
  /** Notified of batches in memory, and decides whether memory can take more. */
  readonly schedule: FollowedSchedule;
  /** Shares the time for applying entries to memory. */
  readonly scheduler: Scheduler;
  /** Times the checks for room; defaults to the system's timers. */
  readonly timers?: Timers;
}

/** From now on memory has what the log has. */
export function followLog({ log, hot, schedule, scheduler, timers }: FollowLogDependencies): MemoryFollower {
  const memory = new MemoryFollower(hot, scheduler, schedule, timers);
  log.follow(memory);
  return memory;
}

/**
 * Applies log entries to memory in their order, each in a step of its own. The results of entries that this process
 * appended are stored until the request for them is answered. After an entry that memory can't apply, no other one is
 * applied: the next seal would cover an entry that is in no part.
 */
export class MemoryFollower implements LogFollower {
  readonly #hot: FollowedMemory;
  readonly #scheduler: Scheduler;
  readonly #schedule: FollowedSchedule;
  readonly #timers: Timers;
  readonly #applied = new Map<number, Promise<AppliedBatch>>();
  #failure: { readonly error: unknown } | null = null;

  constructor(
    hot: FollowedMemory,
    scheduler: Scheduler,
    schedule: FollowedSchedule,
    timers: Timers = systemTimers,
  ) {
    this.#hot = hot;
    this.#scheduler = scheduler;
    this.#schedule = schedule;
    this.#timers = timers;
  }

  /** Rejects with an `EntryError` if memory can't apply the entry, or could not apply an earlier one. */
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
      return applyEntry(entry, () => {
        const applied = applyToMemory(this.#hot, entry);
        if (entry.kind === "reports") this.#schedule.noteReports();
        return applied;
      });
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }

  async makeRoomFor(batch: ReportBatch, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#schedule.hasRoomToFollow(batch)) {
      this.#schedule.noteReports(); // Starts a seal, unless one is running or has just failed.
      await pause(this.#timers, ROOM_PAUSE_MS, signal);
    }
  }

  /** The result of an entry once memory shows it; may be called once for each of this process's entries. */
  applied(sequence: number): Promise<AppliedBatch> {
    const applied = this.#applied.get(sequence);
    assert(applied !== undefined, "the log hands an entry over before it says that it has it");
    this.#applied.delete(sequence);
    return applied;
  }
}

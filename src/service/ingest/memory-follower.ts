import type { AppliedBatch } from "../../hot/batch-writer.ts";
import { assert } from "../../lib/assert.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { pause, systemTimers, type Timers } from "../../lib/schedule/timers.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import { applyEntry, type LogEntry } from "../../wal/entry/entry.ts";
import type { LogFollower, Wal } from "../../wal/log.ts";
import type { SealSchedule } from "../upkeep/seal/schedule.ts";
import { type AppliedMemory, applyInSteps } from "./apply-entry.ts";

/** The schedule, as far as a follower of the log needs it. */
export type FollowedSchedule = Pick<
  SealSchedule,
  "noteReports" | "hasRoomFor" | "hasRoomToFollow" | "foldLate"
>;

/** Pause between two checks for room during a seal. */
const ROOM_PAUSE_MS = 200;

/** The owner of all waits for memory, because its order is that of the log. No app has this name. */
const MEMORY = "";

export interface FollowLogDependencies extends AppliedMemory {
  readonly log: Pick<Wal, "follow">;
  /** Notified of batches in memory, and decides whether memory can take more. */
  readonly schedule: FollowedSchedule;
  /** Shares the time for applying entries to memory. */
  readonly scheduler: Scheduler;
  /** Times the checks for room; defaults to the system's timers. */
  readonly timers?: Timers;
}

/** Kinds of entries that take several steps. */
const STEPPED: ReadonlySet<LogEntry["kind"]> = new Set(["correction", "erasure", "watch"]);

const noop = () => {};

/** From now on memory has what the log has. */
export function followLog({
  log,
  schedule,
  scheduler,
  timers,
  ...applied
}: FollowLogDependencies): MemoryFollower {
  const memory = new MemoryFollower(applied, scheduler, schedule, timers);
  log.follow(memory);
  return memory;
}

/**
 * Applies log entries to memory in their order, each in steps of its own. The results of entries that this process
 * appended are stored until the request for them is answered. After an entry that memory can't apply, no other one is
 * applied: the next seal would cover an entry that is in no part.
 */
export class MemoryFollower implements LogFollower {
  readonly #memory: AppliedMemory;
  readonly #scheduler: Scheduler;
  readonly #schedule: FollowedSchedule;
  readonly #timers: Timers;
  readonly #applied = new Map<number, Promise<AppliedBatch>>();
  /** Resolves after the last entry that takes several steps, or waits for one that does; null if there is none. */
  #turn: Promise<unknown> | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(
    memory: AppliedMemory,
    scheduler: Scheduler,
    schedule: FollowedSchedule,
    timers: Timers = systemTimers,
  ) {
    this.#memory = memory;
    this.#scheduler = scheduler;
    this.#schedule = schedule;
    this.#timers = timers;
  }

  /**
   * Rejects with an `EntryError` if memory can't apply the entry, or could not apply an earlier one. Never resolves if
   * the entry waits for a seal when seals end.
   */
  take(entry: LogEntry, isOwn: boolean): Promise<unknown> {
    const apply = () => this.#scheduler.run(MEMORY, this.#apply(entry));
    const run = () => (needsWholeRecords(entry) ? this.#schedule.foldLate().then(apply) : apply());
    const applied = this.#turn === null ? run() : this.#turn.then(run);
    // The scheduler keeps the order of works of a single step only.
    if (this.#turn !== null || STEPPED.has(entry.kind)) this.#takeTurn(applied);
    if (isOwn) this.#applied.set(entry.sequence, applied);
    return applied;
  }

  /** Entries that come while this one is applied wait for it. */
  #takeTurn(applied: Promise<unknown>): void {
    const turn = applied.then(noop, noop).then(() => {
      if (this.#turn === turn) this.#turn = null;
    });
    this.#turn = turn;
  }

  *#apply(entry: LogEntry): Steps<AppliedBatch> {
    if (this.#failure !== null) throw this.#failure.error;
    const steps = applyInSteps(this.#memory, entry);
    try {
      for (;;) {
        const { done, value } = applyEntry(entry, () => steps.next());
        if (done !== true) {
          yield;
          continue;
        }
        if (entry.kind === "reports") applyEntry(entry, () => this.#schedule.noteReports());
        return value;
      }
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

/**
 * Whether the entry must find each record in one place. An erasure destroys the records whose last named user is its
 * own: of a record with a late row in memory, neither that row nor the archive's alone may tell the user.
 */
export function needsWholeRecords(entry: LogEntry): boolean {
  return entry.kind === "erasure" && entry.erasure.userId !== null && !entry.erasure.continues;
}

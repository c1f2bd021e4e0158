import type { Blocks } from "../../directory/erasure-ledger.ts";
import type { AppliedBatch } from "../../hot/batch-writer.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { Semaphore } from "../../lib/schedule/semaphore.ts";
import { type ServiceError, unavailable } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import { halvesOf } from "../../wal/batch-parts.ts";
import type { LogRefusal, Wal } from "../../wal/log.ts";
import { withoutBlocked } from "./blocked-reports.ts";
import type { FollowedSchedule, MemoryFollower } from "./memory-follower.ts";

/*
 * Stores a batch: first on disk, then in memory, then it is answered. So what is acknowledged is durable, and what is
 * visible is durable too. Batches reach memory in the order of the log.
 */

export interface IngestDependencies {
  readonly log: Pick<Wal, "append" | "lastSequence" | "state">;
  /** Devices and users of which nothing is stored. This is the one place that all reports pass. */
  readonly blocks: Blocks;
  readonly hot: HotStore;
  /** Lays the entries of the log over memory. */
  readonly memory: Pick<MemoryFollower, "applied">;
  /** Decides whether memory can take more. */
  readonly schedule: Pick<FollowedSchedule, "hasRoomFor">;
  /** Called for every batch that the log refused. */
  readonly onRefusal: (refusal: LogRefusal) => void;
  /**
   * Whether memory has all of the log. A segment that can't be read at the moment may contradict memory, and so may an
   * entry of another node that is on its way to this one.
   */
  readonly hasWholeLog: boolean;
}

export interface IngestAnswer extends AppliedBatch {
  /** Accepted reports that repeat a record that only the archive has; known if the archive was queried. */
  readonly repeated: number;
  /** Rows that were refused, because their device or user was erased and is blocked. */
  readonly blocked: readonly number[];
  /** Position in the log after this batch. */
  readonly sequence: number;
}

export type Ingest = (appId: AppId, batch: ReportBatch) => Promise<Result<IngestAnswer, ServiceError>>;

/**
 * Reports plus distinct texts of one app on their way to disk and memory, a few microseconds of work each. Memory takes
 * all apps' batches in the order of the log, so the other apps wait for them. Sixteen batches of a fleet share one
 * sync; of batches in which every text is new there are three.
 */
const UNDER_WAY_MAX = 40_000;

export function createIngest(dependencies: IngestDependencies): Ingest {
  const { log, blocks, hot, memory, schedule, onRefusal, hasWholeLog } = dependencies;
  /** Batches that memory does not show yet. Each app has its own share, so no app waits for another. */
  const underWay = new Semaphore<AppId>(Number.POSITIVE_INFINITY, { runningOfOwnerMax: UNDER_WAY_MAX });

  /** Checks for blocks in the turn of the append, so that no blocked report comes behind its erasure in the log. */
  async function store(appId: AppId, batch: ReportBatch, isAlone: boolean): ReturnType<Ingest> {
    const appBlocks = blocks.blocked(appId);
    const allowed = appBlocks === null ? null : withoutBlocked(batch, appBlocks);
    if (allowed === null) return storeAllowed(appId, batch, isAlone);
    const { rows, blocked } = allowed;
    if (rows.length === 0) return ok({ ...NOTHING_TAKEN, blocked, sequence: log.lastSequence });
    const stored = await storeAllowed(appId, allowed.batch, isAlone);
    if (!stored.ok) return stored;
    const { createdLate, blocked: others } = stored.value;
    return ok({
      ...stored.value,
      createdLate: createdLate.map((row) => rows[row]!),
      blocked: [...blocked, ...others.map((row) => rows[row]!)].sort((a, b) => a - b),
    });
  }

  async function storeAllowed(appId: AppId, batch: ReportBatch, isAlone: boolean): ReturnType<Ingest> {
    // If the log has failed, perhaps at the start, memory may show what the disk lacks.
    const knowsDisk = isAlone && hasWholeLog && log.state !== "failed";
    // If all of it is on the disk already, nothing must be stored, and no batch in progress could change that.
    const repeated = knowsDisk ? hot.findRepeated(appId, batch) : null;
    if (repeated !== null) return ok({ ...repeated, ...NEITHER, sequence: log.lastSequence });
    if (!schedule.hasRoomFor(batch)) {
      return fail(unavailable("old reports arrive faster than they are archived; send again shortly", 2));
    }
    const appended = await log.append(appId, batch);
    if (!appended.ok && appended.error.kind === "log_entry_too_long" && batch.count > 1)
      return storeHalves(appId, batch);
    if (!appended.ok) {
      // Otherwise each waiting batch would wait for the unreachable servers in turn.
      if (appended.error.kind === "log_unreachable") underWay.turnAway(appId);
      onRefusal(appended.error);
      return fail(refusalError(appended.error));
    }
    const sequence = appended.value;
    return ok({ ...(await memory.applied(sequence)), ...NEITHER, sequence });
  }

  /** Stores halves as two entries: a replicated log accepts smaller entries than a client may send. */
  async function storeHalves(appId: AppId, batch: ReportBatch): ReturnType<Ingest> {
    const [first, second] = halvesOf(batch);
    const before = await store(appId, first, false);
    if (!before.ok) return before;
    const after = await store(appId, second, false);
    if (!after.ok) return after;
    return ok(addedUp(before.value, after.value));
  }

  return async function ingest(appId, batch) {
    if (batch.count === 0) return ok({ ...NOTHING_TAKEN, sequence: log.lastSequence });
    const weight = batch.count + batch.texts.length;
    const admission = await underWay.enter(appId, { weight });
    if (admission === "refused") return fail(refusalError({ kind: "log_unreachable", cause: null }));
    try {
      return await store(appId, batch, admission === "alone");
    } finally {
      underWay.leave(appId, weight);
    }
  };
}

/**
 * Stores batches one after the other, each as an entry. If one fails, those before it stay stored, as if the answer had
 * been lost: they are duplicates when the client sends everything again.
 */
export async function ingestBatches(
  ingest: Ingest,
  appId: AppId,
  batches: readonly ReportBatch[],
): Promise<Result<IngestAnswer, ServiceError>> {
  let all = NOTHING_TAKEN;
  for (const batch of batches) {
    const stored = await ingest(appId, batch);
    if (!stored.ok) return stored;
    all = addedUp(all, stored.value);
  }
  return ok(all);
}

/**
 * The scheduler's owner for parsing an app's bodies, so that the app's queries need not wait for them. No app has this
 * name.
 */
export function bodiesOf(appId: AppId): string {
  return `bodies of ${appId}`;
}

/** What an answer adds about a batch that memory has taken. */
const NEITHER = { repeated: 0, blocked: [] } as const;

/** The answer for no batch. */
const NOTHING_TAKEN: IngestAnswer = {
  ...{ accepted: 0, duplicates: 0, created: 0, outranked: 0, createdLate: [] },
  ...{ ...NEITHER, sequence: 0 },
};

/** How many rows a batch had. */
function rowsOf({ accepted, duplicates, blocked }: IngestAnswer): number {
  return accepted + duplicates + blocked.length;
}

/** Reports at times that had a record, which they changed or of which they are a better fix. */
export function sameTimeOf({ accepted, created, outranked, repeated }: IngestAnswer): number {
  return accepted - created - repeated + outranked;
}

/** Adds up the answers of two batches in the order of the log. */
function addedUp(first: IngestAnswer, second: IngestAnswer): IngestAnswer {
  return {
    accepted: first.accepted + second.accepted,
    duplicates: first.duplicates + second.duplicates,
    created: first.created + second.created,
    outranked: first.outranked + second.outranked,
    createdLate: [...first.createdLate, ...second.createdLate.map((row) => row + rowsOf(first))],
    blocked: [...first.blocked, ...second.blocked.map((row) => row + rowsOf(first))],
    repeated: first.repeated + second.repeated,
    sequence: second.sequence,
  };
}

/** The error for a caller whose entry the log refused. */
export function refusalError(refusal: LogRefusal): ServiceError {
  switch (refusal.kind) {
    case "log_full":
      return unavailable("the disk is full: no reports are taken until there is room", 10);
    case "log_unopened":
      return unavailable("too many files are open: no reports are taken until some are closed", 5);
    case "log_failed":
      return unavailable("the log failed: no reports are taken until the server is restarted", 60);
    case "log_unreachable":
      return unavailable("no majority of the log's servers answers: send again shortly", 2);
    case "log_queue_full":
      return unavailable("too many reports are waiting for the disk; send again shortly", 1);
    case "log_entry_too_long":
      return unavailable("the report is longer than the log's servers take", 60);
    case "log_closed":
      return unavailable("the server is stopping", 5);
  }
}

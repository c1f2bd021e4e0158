import type { HotStore } from "../hot/hot-store.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import type { Scheduler } from "../lib/schedule/scheduler.ts";
import { inOneStep } from "../lib/schedule/steps.ts";
import type { ServiceError } from "../model/errors.ts";
import type { AppId } from "../model/ids.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import type { LogRefusal, Wal } from "../wal/wal.ts";
import { IngestLane } from "./ingest-lane.ts";
import type { SealSchedule } from "./seal/schedule.ts";

/*
 * Takes a batch in: onto the disk first, then into memory, then the answer, so that what is acknowledged is durable and
 * what is visible is durable too. Batches reach memory in the order of the log.
 */

export interface IngestDependencies {
  readonly log: Pick<Wal, "append" | "lastSequence" | "state">;
  readonly hot: HotStore;
  /** Told of batches that memory took in, and asked whether it can take more. */
  readonly schedule: Pick<SealSchedule, "noteReports" | "hasRoomFor">;
  /** Told of every batch that the log did not take. */
  readonly onRefusal: (refusal: LogRefusal) => void;
  /** Whether memory has all of the log: a segment that can't be read for now may say otherwise than it does. */
  readonly hasWholeLog: boolean;
  /** Gives the time to lay batches over memory. */
  readonly scheduler: Scheduler;
}

export interface IngestAnswer {
  readonly accepted: number;
  readonly duplicates: number;
  /** Position in the log after this batch. */
  readonly sequence: number;
}

export type Ingest = (appId: AppId, batch: ReportBatch) => Promise<Result<IngestAnswer, ServiceError>>;

/**
 * Reports and distinct texts of one app that are on their way to disk and memory, some microseconds of work each.
 * Memory takes in all apps' batches in the order of the log, so others wait for as much. Sixteen batches of a fleet
 * share one sync; of reports whose every text is new there are three.
 */
const UNDER_WAY_MAX = 40_000;

/** Who waits for memory, all apps together: its order is that of the log. No app is called so. */
const MEMORY = "";

export function createIngest(dependencies: IngestDependencies): Ingest {
  const { log, hot, schedule, onRefusal, hasWholeLog, scheduler } = dependencies;
  /** Batches of each app that memory does not show yet. */
  const lanes = new Map<AppId, IngestLane>();

  async function store(appId: AppId, batch: ReportBatch, isAlone: boolean): ReturnType<Ingest> {
    // Of a log that has failed, perhaps at the start, memory may show what the disk has not.
    const knowsDisk = isAlone && hasWholeLog && log.state !== "failed";
    if (knowsDisk && hot.repeats(appId, batch)) {
      // Nothing to keep: all of it is on the disk already, and nothing under way could change that.
      return ok({ accepted: 0, duplicates: batch.count, sequence: log.lastSequence });
    }
    if (!schedule.hasRoomFor(batch)) {
      return fail(unavailable("old reports arrive faster than they are archived; send again shortly", 2));
    }
    const appended = await log.append(appId, batch);
    if (!appended.ok) {
      onRefusal(appended.error);
      return fail(refusalError(appended.error));
    }
    const sequence = appended.value;
    const applied = await scheduler.run(
      MEMORY,
      inOneStep(() => hot.apply(appId, batch, sequence)),
    );
    schedule.noteReports();
    return ok({ ...applied, sequence });
  }

  return async function ingest(appId, batch) {
    if (batch.count === 0) return ok({ accepted: 0, duplicates: 0, sequence: log.lastSequence });
    const lane = lanes.get(appId) ?? new IngestLane(UNDER_WAY_MAX);
    lanes.set(appId, lane);
    const size = batch.count + batch.texts.length;
    const isAlone = await lane.enter(size);
    try {
      return await store(appId, batch, isAlone);
    } finally {
      lane.leave(size);
      if (lane.isEmpty) lanes.delete(appId);
    }
  };
}
function refusalError(refusal: LogRefusal): ServiceError {
  switch (refusal.kind) {
    case "log_full":
      return unavailable("the disk is full: no reports are taken until there is room", 10);
    case "log_unopened":
      return unavailable("too many files are open: no reports are taken until some are closed", 5);
    case "log_failed":
      return unavailable("the log failed: no reports are taken until the server is restarted", 60);
    case "log_queue_full":
      return unavailable("too many reports are waiting for the disk; send again shortly", 1);
    case "log_closed":
      return unavailable("the server is stopping", 5);
  }
}

function unavailable(message: string, retryAfterSeconds: number): ServiceError {
  return { kind: "unavailable", message, retryAfterSeconds };
}

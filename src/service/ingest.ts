import type { HotStore } from "../hot/hot-store.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import type { ServiceError } from "../model/errors.ts";
import type { AppId } from "../model/ids.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import type { LogRefusal, Wal } from "../wal/wal.ts";
import type { SealSchedule } from "./seal-schedule.ts";

export interface IngestDependencies {
  readonly log: Wal;
  readonly hot: HotStore;
  /** Told of batches that memory took in, and asked whether it can take more. */
  readonly schedule: Pick<SealSchedule, "noteReports" | "hasRoomFor">;
  /** Told of every batch that the log did not take. */
  readonly onRefusal: (refusal: LogRefusal) => void;
  /** Whether memory has all of the log: a segment that can't be read for now may say otherwise than it does. */
  readonly hasWholeLog: boolean;
}

export interface IngestAnswer {
  readonly accepted: number;
  readonly duplicates: number;
  /** Position in the log after this batch. */
  readonly sequence: number;
}

export type Ingest = (appId: AppId, batch: ReportBatch) => Promise<Result<IngestAnswer, ServiceError>>;

/**
 * Takes a batch in: onto the disk first, then into memory, then the answer, so that what is acknowledged is
 * durable and what is visible is durable too. Batches reach memory in the order of the log.
 */
export function createIngest(dependencies: IngestDependencies): Ingest {
  const { log, hot, schedule, onRefusal, hasWholeLog } = dependencies;
  /** Batches of each app that the log has not confirmed: memory does not show yet what they change. */
  const waiting = new Map<AppId, number>();

  return async function ingest(appId, batch) {
    if (batch.count === 0) return ok({ accepted: 0, duplicates: 0, sequence: log.lastSequence });
    const waitingBefore = waiting.get(appId) ?? 0;
    // Of a log that has failed, perhaps at the start, memory may show what the disk has not.
    const knowsDisk = waitingBefore === 0 && hasWholeLog && log.state !== "failed";
    if (knowsDisk && hot.repeats(appId, batch)) {
      // Nothing to keep: all of it is on the disk already, and nothing under way could change that.
      return ok({ accepted: 0, duplicates: batch.count, sequence: log.lastSequence });
    }
    if (!schedule.hasRoomFor(batch)) {
      return fail(unavailable("old reports arrive faster than they are archived; send again shortly", 2));
    }
    waiting.set(appId, waitingBefore + 1);
    const appended = await log.append(appId, batch);
    const left = waiting.get(appId)! - 1;
    if (left === 0) waiting.delete(appId);
    else waiting.set(appId, left);
    if (!appended.ok) {
      onRefusal(appended.error);
      return fail(refusalError(appended.error));
    }
    const applied = hot.apply(appId, batch, appended.value);
    schedule.noteReports();
    return ok({ ...applied, sequence: appended.value });
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

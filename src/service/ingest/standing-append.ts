import { fail, ok, type Result } from "../../lib/result.ts";
import { nextTurn } from "../../lib/schedule/timers.ts";
import { type ServiceError, unavailable } from "../../model/errors.ts";
import type { QuarantineEntry } from "../../model/quarantine-entry.ts";
import type { StandingEntry } from "../../model/standing-entry.ts";
import type { LogRefusal, Wal } from "../../wal/log.ts";
import type { MemoryFollower } from "./memory-follower.ts";

/** Appends an entry that has no reports. Resolves once it is durable and applied. */
export type StandingAppend = (entry: StandingEntry) => Promise<Result<number, LogRefusal>>;

export interface StandingAppendDependencies {
  readonly log: Pick<Wal, "appendStanding">;
  readonly memory: Pick<MemoryFollower, "applied">;
  readonly onRefusal: (refusal: LogRefusal) => void;
}

export function createStandingAppend(dependencies: StandingAppendDependencies): StandingAppend {
  const { log, memory, onRefusal } = dependencies;
  return async function append(entry) {
    const appended = await log.appendStanding(entry);
    if (appended.ok) await memory.applied(appended.value);
    else onRefusal(appended.error);
    return appended;
  };
}

/** Appends several entries. Resolves with the last one's sequence once memory has all of them. */
export async function appendAll(
  append: StandingAppend,
  entries: readonly StandingEntry[],
): Promise<Result<number, LogRefusal>> {
  const appends: ReturnType<StandingAppend>[] = [];
  for (const [index, entry] of entries.entries()) {
    if (index > 0) await nextTurn(); // To encode one takes up to a few milliseconds.
    const appending = append(entry);
    appending.catch(() => undefined); // Thrown below.
    appends.push(appending);
  }
  let last = 0;
  for (const appended of await Promise.all(appends)) {
    if (!appended.ok) return appended;
    last = Math.max(last, appended.value);
  }
  return ok(last);
}

/** Like `StandingAppend`, for entries of the quarantine, with the error for the sender of a message. */
export type QuarantineAppend = (entry: QuarantineEntry) => Promise<Result<unknown, ServiceError>>;

export function createQuarantineAppend(append: StandingAppend): QuarantineAppend {
  return async function appendToQuarantine(entry) {
    const appended = await append(entry);
    return appended.ok ? appended : fail(refusalError(appended.error));
  };
}

/** What the sender of a message that could not be used is told. */
function refusalError(refusal: LogRefusal): ServiceError {
  switch (refusal.kind) {
    case "log_full":
      return unavailable("the disk is full", 30);
    case "log_unreachable":
      return unavailable("no majority of the log's servers answers: send again shortly", 2);
    case "log_queue_full":
      return unavailable("too many unusable messages are waiting for the disk: send again shortly", 2);
    case "log_closed":
      return unavailable("the server is stopping", 5);
    case "log_entry_too_long":
    case "log_unopened":
    case "log_failed":
      return unavailable("the quarantine can't be written", 30);
  }
}

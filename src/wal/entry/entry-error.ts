import { messageOf } from "../../lib/message-of.ts";
import type { LogEntry } from "./entry.ts";

/** An entry of the log that is whole, and can't be laid over memory: a bug, which may be any entry's or this one's. */
export class EntryError extends Error {
  override readonly name = "EntryError";
  readonly sequence: number;

  constructor({ sequence, appId, batch }: LogEntry, cause: unknown) {
    const holds = `app "${appId}", reports: ${batch.count}`;
    super(`Entry ${sequence} of the log (${holds}) can't be laid over memory: ${messageOf(cause)}`, {
      cause,
    });
    this.sequence = sequence;
  }
}

/** Hands the entry over. Throws an `EntryError` if the other side throws. */
export function handOver<Taken>(entry: LogEntry, take: (entry: LogEntry) => Taken): Taken {
  try {
    return take(entry);
  } catch (cause) {
    throw new EntryError(entry, cause);
  }
}

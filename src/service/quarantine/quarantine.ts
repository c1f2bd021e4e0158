import type { RefusedMessage } from "../../clients/refused-message.ts";
import type { Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import type { QuarantineEntry } from "./entry.ts";
import type { EntryFilter, EntryPage, KindCount } from "./entry-index.ts";

/**
 * Keeps what clients sent and could not be used, until somebody has looked at it, tried it again or deleted it. The
 * same from the same key is kept once and counted.
 */
export interface Quarantine {
  /**
   * Keeps messages of one sender; all of them are on the disk where it is `ok`, some of them may be where it is not.
   * `unavailable` where the key, its app or all of the quarantine has its share, or where the disk refuses.
   * What a broker brings makes the oldest entries of its topic give way, else those of its app's brokers: a message
   * that is not kept would keep all other phones of its connection waiting.
   */
  put(messages: readonly RefusedMessage[]): Promise<Result<void, ServiceError>>;
  /** Apps that have anything here. */
  apps(): readonly AppId[];
  /** An app's entries, the newest first. */
  list(appId: AppId, filter: EntryFilter, offset: number, limit: number): EntryPage;
  /** A whole entry of an app; null where there is none. Throws a `FileError` where the disk can't give it back. */
  find(appId: AppId, id: string): Promise<QuarantineEntry | null>;
  /**
   * Deletes entries for good, and says how many there were. Where it is `unavailable` some of them may be gone, and may
   * come back when the power fails.
   */
  delete(appId: AppId, ids: readonly string[]): Promise<Result<number, ServiceError>>;
  /** Deletes what came last before this instant, and writes down how often the others came. */
  sweep(oldestMs: number): Promise<void>;
  readonly totals: QuarantineTotals;
  /** Finishes what was begun. */
  close(): Promise<void>;
}

export interface QuarantineTotals {
  readonly entries: number;
  /** As they count in the shares. */
  readonly bytes: number;
  readonly bytesMax: number;
  /** Entries of brokers that gave way to newer ones of the same topic or broker. */
  readonly displaced: number;
  /** Puts that found a share or the disk full, or the disk failing. */
  readonly refused: number;
  readonly kinds: readonly KindCount[];
}

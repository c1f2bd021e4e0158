import type { RefusedMessage } from "../../clients/refused-message.ts";
import type { Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import type { QuarantineEntry } from "./entry.ts";
import type { EntryFilter, EntryPage, KindCount } from "./entry-index.ts";

/**
 * Stores messages that could not be used, until they are replayed, deleted or expire. Repetitions by a key are counted.
 */
export interface Quarantine {
  /**
   * Stores messages of one sender; on `ok` all of them are on the disk, otherwise some may be. `unavailable` if the
   * share of the key or app or the whole quarantine is full, or if the disk refuses. A broker's messages displace the
   * oldest entries of their topic, else of their app's brokers: a refused message would block all other phones of its
   * connection.
   */
  put(messages: readonly RefusedMessage[]): Promise<Result<void, ServiceError>>;
  /** Apps with entries. */
  apps(): readonly AppId[];
  /** An app's entries, the newest first. */
  list(appId: AppId, filter: EntryFilter, offset: number, limit: number): EntryPage;
  /** One entry of an app; null if there is none. Throws a `FileError` if the disk can't read it. */
  find(appId: AppId, id: string): Promise<QuarantineEntry | null>;
  /**
   * Deletes entries for good; returns how many there were. On `unavailable` some may be deleted, and may reappear after
   * a power failure.
   */
  delete(appId: AppId, ids: readonly string[]): Promise<Result<number, ServiceError>>;
  /** Deletes entries whose last arrival was before this, and saves the arrivals of the others. */
  sweep(oldestMs: number): Promise<void>;
  readonly totals: QuarantineTotals;
  /** Finishes pending work. */
  close(): Promise<void>;
}

export interface QuarantineTotals {
  readonly entries: number;
  /** Their size as it counts in the shares. */
  readonly bytes: number;
  readonly bytesMax: number;
  /** Entries of brokers that were displaced by newer ones of the same topic or broker. */
  readonly displaced: number;
  /** Calls of `put` that failed because a share or the disk was full, or the disk failed. */
  readonly refused: number;
  readonly kinds: readonly KindCount[];
}

import type { Result } from "../lib/result.ts";
import type { LockOwner } from "../runtime/lock.ts";

/** Where the bytes of a small value lie that processes share: a file of a data directory, or a value of a cluster. */
export interface SharedPlace {
  /** How people call it: `keys.json`. */
  readonly name: string;
  read(): Promise<PlaceReading>;
  /** Asks a cluster's servers, if they can be asked, so that the next reading is not older than this call. */
  ask(): Promise<void>;
  /**
   * Reads, lets `decide` say what to put in its place, and writes that: nobody else can in between. Where somebody else
   * could it decides again, so that it must not change anything itself.
   */
  change<Answer>(
    decide: (reading: PlaceReading) => PlaceDecision<Answer>,
  ): Promise<Result<Answer, PlaceError>>;
}

/** The values that the nodes of a cluster share, each under the name of the file that holds it for a single process. */
export interface SharedPlaces {
  place(name: string): SharedPlace;
}

export type PlaceReading =
  /** Null where there is nothing. */
  | { readonly kind: "read"; readonly bytes: Uint8Array | null }
  /** There is something that can't be read. */
  | { readonly kind: "unreadable"; readonly reason: string }
  /** Nobody could look now, which says nothing about what is there. */
  | { readonly kind: "unknown"; readonly reason: string };

export interface PlaceDecision<Answer> {
  /** Null where nothing is to be written. */
  readonly bytes: Uint8Array | null;
  readonly answer: Answer;
  /** It adds to what there is, and leaves room for changes that take away. */
  readonly adds: boolean;
}

export type PlaceError =
  /** Others have been changing it for longer than a change takes. */
  | { readonly kind: "file_busy"; readonly owner: LockOwner | null }
  /** Nothing can be added to it; it can still be made smaller. */
  | { readonly kind: "file_full"; readonly bytesMax: number }
  /** Nobody knows whether it was written where `mayBeWritten`; else it was not. */
  | { readonly kind: "cluster_unreachable"; readonly reason: string; readonly mayBeWritten: boolean };

/** For so long a change waits for others that are at it too. */
export const CHANGE_WAIT_MS = 5000;
export const CHANGE_RETRY_MS = 50;

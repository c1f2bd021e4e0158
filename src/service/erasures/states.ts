import type { AppId } from "../../model/ids.ts";
import type { TimeRange } from "../../model/time/range.ts";

/** An erasure as its askers see it. The subject's id is not kept. */
export interface ErasureState {
  readonly id: string;
  readonly range: TimeRange;
  readonly block: boolean;
  readonly createdMs: number;
  /** Null while files may have something of it. */
  readonly finishedMs: number | null;
  /** Archived days whose files wait to be rewritten. */
  readonly daysLeft: number;
}

/** The erasures of apps. */
export interface ErasureStates {
  /** The newest first. */
  list(appId: AppId): readonly ErasureState[];
  /** With its report, which is null until it is finished. */
  find(
    appId: AppId,
    id: string,
  ): Promise<{ readonly state: ErasureState; readonly report: ErasureReport | null } | null>;
}

/** What an erasure found and removed on this machine, and what remains. It names no subject. */
export interface ErasureReport {
  readonly places: readonly ErasedPlace[];
  readonly remains: readonly RemainingPlace[];
}

export interface ErasedPlace {
  readonly place: ErasurePlace;
  /** Records, entries, messages or keys that were removed. */
  readonly removed: number;
  /** Bytes of the files that had them. */
  readonly bytes: number;
  readonly files: readonly ErasedFile[];
}

export const ERASURE_PLACES = [
  "memory",
  "log",
  "archive",
  "checkpoint",
  "quarantine",
  "events",
  "keys",
  "damaged",
  "before_cluster",
] as const;
export type ErasurePlace = (typeof ERASURE_PLACES)[number];

export interface ErasedFile {
  /** Below the data directory. */
  readonly file: string;
  /** CRC-32 of the file, and of the one in its place; null if there is none. */
  readonly before: number;
  readonly after: number | null;
}

export interface RemainingPlace {
  readonly where: string;
  /** A sentence. */
  readonly why: string;
  /** When it goes by itself, Unix ms; null if it does not. */
  readonly untilMs: number | null;
}

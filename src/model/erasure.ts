import type { AppId, DeviceId, UserId } from "./ids.ts";

/** What an erasure destroys: what some devices reported, or what was reported with a user, in a range of time. */
export interface ErasedScope {
  readonly appId: AppId;
  /** None if it is about a user, who may have any number of devices. */
  readonly deviceIds: readonly DeviceId[];
  /** Null if it is about devices. */
  readonly userId: UserId | null;
  /** In Unix ms, without its end; infinite where it has no bound. */
  readonly range: { readonly startMs: number; readonly endMs: number };
}

/** The destruction of what is stored. It can't be undone. */
export interface Erasure extends ErasedScope {
  readonly id: string;
  /** Whether reports of the subject are refused from now on. */
  readonly block: boolean;
  readonly createdMs: number;
  /** The id of the key. */
  readonly createdBy: string;
  /** Whether its entry has only further newest records of the erasure with this id, whose own came before. */
  readonly continues: boolean;
}

/** An erasure of which files may still have something. */
export interface PendingErasure extends ErasedScope {
  /** Its entry of the log. What later entries hold is not erased. */
  readonly sequence: number;
}

/**
 * Whether files of a day may still have records that an erasure destroys. Erasures up to the entry `clearedSequence` of
 * the log are gone from them.
 */
export function masksDay(
  { range, sequence }: PendingErasure,
  { startMs, endMs }: ErasedScope["range"],
  clearedSequence: number,
): boolean {
  return sequence > clearedSequence && range.startMs < endMs && range.endMs > startMs;
}

/** Whether a range has no bound, so that all of its subject goes. */
export function isUnbounded({ startMs, endMs }: ErasedScope["range"]): boolean {
  return startMs === Number.NEGATIVE_INFINITY && endMs === Number.POSITIVE_INFINITY;
}

/** Whether an erasure destroys a record of the app, by the device and the user with which it was reported. */
export function isErased(
  { deviceIds, userId, range }: ErasedScope,
  deviceId: string,
  userOfRecord: string | null,
  timestampMs: number,
): boolean {
  if (timestampMs < range.startMs || timestampMs >= range.endMs) return false;
  return userId === null ? deviceIds.some((id) => id === deviceId) : userId === userOfRecord;
}

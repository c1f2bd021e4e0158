import type { Views } from "../../lib/frames/views.ts";
import type { AppId } from "../../model/ids.ts";
import { parseAppId } from "../../model/ids.ts";
import { BATCH_REPORTS_MAX } from "../../model/report-batch.ts";

/*
 * The head of an entry of reports. Entries of all kinds begin with the first two bytes.
 *
 *    0  u8   kind, 1                         16  u32  distinct states
 *    1  u8   bytes of the app id             20  u8   number columns
 *    2  u16  reports                         21  u8   fields of a profile
 *    4  u32  texts, less the placeholder     22  u8   fields of a state
 *    8  u32  bytes of all texts              23  u8   zero
 *   12  u32  distinct profiles               24  app id
 */
export const REPORTS_KIND = 1;
export const ENTRY_HEAD_BYTES = 24;

/** Several times the texts of the largest batch. Decoding allocates no more than this for a damaged or forged head. */
export const TEXTS_MAX = 64 * BATCH_REPORTS_MAX;

export interface EntryHead {
  readonly count: number;
  /** Includes the placeholder. */
  readonly textCount: number;
  readonly textBytes: number;
  readonly profileCount: number;
  readonly stateCount: number;
  readonly numberColumns: number;
  readonly profileFields: number;
  readonly stateFields: number;
  readonly appId: AppId;
  readonly end: number;
}

export function writeEntryHead(target: Views, at: number, head: Omit<EntryHead, "end">): number {
  const { bytes, u32 } = target;
  const words = at >> 2;
  u32[words + 1] = head.textCount - 1;
  u32[words + 2] = head.textBytes;
  u32[words + 3] = head.profileCount;
  u32[words + 4] = head.stateCount;
  const idBytes = bytes.write(head.appId, at + ENTRY_HEAD_BYTES);
  u32[words] = REPORTS_KIND | (idBytes << 8) | (head.count << 16);
  bytes[at + 20] = head.numberColumns;
  bytes[at + 21] = head.profileFields;
  bytes[at + 22] = head.stateFields;
  bytes[at + 23] = 0;
  return at + ENTRY_HEAD_BYTES + idBytes;
}

/** The head of the entry of reports from `start` to `end`; null if the bytes are not valid. */
export function readEntryHead({ bytes, u32 }: Views, start: number, end: number): EntryHead | null {
  if (start + ENTRY_HEAD_BYTES > end || end > bytes.length) return null;
  const words = start >> 2;
  const count = u32[words]! >>> 16;
  const textCount = u32[words + 1]! + 1;
  const profileCount = u32[words + 3]!;
  const stateCount = u32[words + 4]!;
  if (textCount > TEXTS_MAX || bytes[start + 23] !== 0) return null;
  if (Math.max(count, profileCount, stateCount) > BATCH_REPORTS_MAX) return null;
  const idStart = start + ENTRY_HEAD_BYTES;
  const idEnd = idStart + bytes[start + 1]!;
  if (idEnd > end) return null;
  const appId = parseAppId(bytes.toString("latin1", idStart, idEnd));
  if (appId === null) return null;
  return {
    count,
    textCount,
    textBytes: u32[words + 2]!,
    profileCount,
    stateCount,
    numberColumns: bytes[start + 20]!,
    profileFields: bytes[start + 21]!,
    stateFields: bytes[start + 22]!,
    appId,
    end: idEnd,
  };
}

import { padded } from "../../lib/frames/views.ts";
import type { EntryDecoder } from "./entry.ts";
import { readColumns } from "./entry-columns.ts";
import { readEntryHead } from "./entry-head.ts";
import type { TextColumnReader } from "./text-column.ts";

/*
 * An entry of version 1, which is read and never written: as one of version 2, without the column numbers. What its
 * columns are follows from their order and how many of each kind there are. The lists are those of 0.1, for ever.
 */
const NUMBERS = [4, 5, 6, 7, 8, 9, 10, 11]; // latitude to battery_level
const PROFILE = [2, 18, 19, 20, 21, 22, 23, 24, 25]; // user_id, then tz_offset to app_version_code
const STATE = [12, 13, 14, 15, 16, 17]; // type to tracking_mode
const ALL = Uint8Array.from([...NUMBERS, ...PROFILE, ...STATE]);

/** Reads what such a segment has; it never has columns that are not known. */
export function createEntryV1Decoder(texts: TextColumnReader): EntryDecoder {
  return {
    decode(source, start, end, sequence) {
      const head = readEntryHead(source, start, end);
      if (head === null) return null;
      const { numberColumns, profileFields, stateFields } = head;
      const isWhole =
        numberColumns === NUMBERS.length && profileFields === PROFILE.length && stateFields === STATE.length;
      if (!isWhole) return null;
      const batch = readColumns(source, padded(head.end), end, head, { bytes: ALL, at: 0 }, texts);
      return batch === null ? null : { sequence, appId: head.appId, batch };
    },
  };
}

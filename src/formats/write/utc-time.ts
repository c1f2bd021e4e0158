import { createLocalTimeFormatter } from "../../model/time/local-time.ts";
import { UTC } from "../../model/time/zone.ts";

/** Writes instants as ISO 8601 in UTC, `2026-03-29T03:00:00.000Z`. */
export interface UtcTimeWriter {
  /** Writes into `out` at `position` and returns the position after it; five bytes more may be written over. */
  write(timestampMs: number, out: Uint8Array, position: number): number;
}

const UTC_TIME_BYTES = 24;
const Z = 0x5a;

export function createUtcTimeWriter(): UtcTimeWriter {
  const formatter = createLocalTimeFormatter(UTC);
  return {
    write(timestampMs, out, position) {
      formatter.write(timestampMs, out, position);
      out[position + UTC_TIME_BYTES - 1] = Z; // Where the local time has its offset.
      return position + UTC_TIME_BYTES;
    },
  };
}

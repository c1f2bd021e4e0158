import type { PositionReading } from "../../../../src/service/queries/positions.ts";

/** One record as a reading was told of it: its time, where, then its fields, null for none. */
export type ReadRow = readonly (number | null)[];

/** A reading that keeps all it is told, and may take long over each block. */
export function collect(work?: PositionReading<unknown>["work"]): PositionReading<ReadRow[]> {
  const rows: ReadRow[] = [];
  return {
    add({ count, timestampMs, latitude, longitude, numbers }) {
      for (let row = 0; row < count; row++) {
        const fields = numbers.map((column) => (Number.isNaN(column[row]!) ? null : column[row]!));
        rows.push([timestampMs[row]!, latitude[row]!, longitude[row]!, ...fields]);
      }
    },
    ...(work === undefined ? {} : { work }),
    // biome-ignore lint/correctness/useYield: there is nothing left to do.
    *end() {
      return rows;
    },
  };
}

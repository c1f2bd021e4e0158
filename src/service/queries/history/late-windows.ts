import type { LateScan, LateWindow } from "../../../hot/late/late-rows.ts";
import type { Order, TimeRange } from "../../../model/time/range.ts";

/** How many late rows are laid over at once. */
export interface LateWindowSize {
  readonly firstRows: number;
  readonly rowsMax: number;
}

/** A range of sealed days in windows, in order, of as many late rows as can be laid over at once. */
export async function* lateWindows(
  late: LateScan,
  range: TimeRange,
  order: Order,
  { firstRows, rowsMax }: LateWindowSize,
): AsyncIterable<LateWindow> {
  let rows = firstRows;
  for (let rest = range; rest.startMs < rest.endMs; ) {
    const window = await late.window(rest, order, rows);
    yield window;
    const { startMs, endMs } = window.range;
    rest = order === "asc" ? { ...rest, startMs: endMs } : { ...rest, endMs: startMs };
    if (window.late !== null) rows = Math.min(4 * rows, rowsMax);
  }
}

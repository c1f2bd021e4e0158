import type { Order, TimeRange } from "../../../model/time/range.ts";

/** What is asked of a history, whichever devices it is of: a time range, a page of it, and what is left out. */
export interface HistoryQuery {
  readonly range: TimeRange;
  readonly order: Order;
  readonly offset: number;
  readonly limit: number;
  /** Leaves out records whose horizontal accuracy is greater. */
  readonly accuracyMetersMax: number | null;
  readonly withDistance: boolean;
}

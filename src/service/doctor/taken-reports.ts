import type { ClientName } from "../../clients/client.ts";
import type { RefusalReason, ValueFault } from "../../clients/point.ts";
import type { ReportBatch } from "../../model/report-batch.ts";

/** Who speaks: one of the clients, or a caller of our own interface. */
export type Speaker = ClientName | "native";

/** What became of one message, once all of it is durable. */
export interface TakenReports {
  /** Unix ms. */
  readonly arrivedMs: number;
  /** What was understood and stored. */
  readonly batches: readonly ReportBatch[];
  /** How many of them changed nothing. */
  readonly duplicates: number;
  readonly refused: readonly RefusedReport[];
  /** What was no position, by what it was instead: an event, a heartbeat. */
  readonly skipped: ReadonlyMap<string, number>;
  /** Optional fields that were left out of reports because their values can't be read, or can't be. */
  readonly leftOut: readonly LeftOutField[];
  /** How many reports have the time of their arrival, since their message had none. */
  readonly timedByArrival: number;
}

/** A field by its name in a report, why it was left out, and of how many reports. */
export interface LeftOutField {
  readonly field: string;
  readonly fault: ValueFault;
  readonly count: number;
}

export interface RefusedReport {
  /** Whose it is, by the same rules as that of a report; null where that can't be told. */
  readonly deviceId: string | null;
  /** `invalid` for what our own interface rejects. */
  readonly reason: RefusedFor;
  /** What is wrong with the value that it was refused for; null where it was not for one. */
  readonly fault: ValueFault | null;
  /** More about it than the reason says, without a word of its sender's; null where there is no more. */
  readonly detail: string | null;
  /** Where in the message it stood, as `locations[3]`; null for all of it. */
  readonly position: string | null;
}

export type RefusedFor = RefusalReason | "invalid";

/** What is said of a message in which nothing was skipped. */
export const NONE: ReadonlyMap<string, number> = new Map();

import type { ClientName } from "../../clients/client.ts";
import type { RefusalReason, ValueFault } from "../../clients/point.ts";
import type { ReportBatch } from "../../model/report-batch.ts";

/** The sender's protocol: one of the clients, or our own interface. */
export type SenderClient = ClientName | "native";

/** The result of one message, once all of it is durable. */
export interface IngestedReports {
  /** Unix ms. */
  readonly arrivedMs: number;
  /** The accepted reports. */
  readonly batches: readonly ReportBatch[];
  /** How many of them changed nothing. */
  readonly duplicates: number;
  readonly refused: readonly RefusedReport[];
  /** Contents other than positions, by kind: an event, a heartbeat. */
  readonly skipped: ReadonlyMap<string, number>;
  /** Optional fields that were omitted because their values can't be read or are out of range. */
  readonly leftOut: readonly LeftOutField[];
  /** How many reports have the time of their arrival because their message had none. */
  readonly timedByArrival: number;
}

/** A field by its name in a report, why it was omitted, and from how many reports. */
export interface LeftOutField {
  readonly field: string;
  readonly fault: ValueFault;
  readonly count: number;
}

export interface RefusedReport {
  /** The device, by the same rules as for a report; null if it is unknown. */
  readonly deviceId: string | null;
  /** `invalid` if our own interface rejected it. */
  readonly reason: RefusedFor;
  /** The fault of the value that it was refused for; null if it was refused for another reason. */
  readonly fault: ValueFault | null;
  /** More about the reason, without text from the sender; null if there is no more. */
  readonly detail: string | null;
  /** Its place in the message, such as `locations[3]`; null for the whole message. */
  readonly position: string | null;
}

export type RefusedFor = RefusalReason | "invalid";

/** The counts of a message in which nothing was skipped. */
export const NONE: ReadonlyMap<string, number> = new Map();

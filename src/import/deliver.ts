import type { Result } from "../lib/result.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import {
  type Fault,
  type ImportBatch,
  type ImportPosition,
  rejectedRow,
  type Skip,
} from "./reading/import-batch.ts";
import { SourceNeedsOption } from "./reading/read-sources.ts";
import type { Delivered, Tally } from "./tally/tally.ts";

/** Stores batches in the order of the calls. Fails with a sentence for the operator. */
export type Deliver = (batch: ReportBatch) => Promise<Result<Delivered, string>>;

/** Events during delivery. The import waits for each handler. */
export interface DeliveryEvents {
  onSkips(skips: readonly Skip[]): Promise<void>;
  /** The rest of this file can't be read; the import continues with the next one. */
  onFault(fault: Fault): Promise<void>;
  /** Everything before the position is acknowledged. */
  onAcknowledged(position: ImportPosition): Promise<void>;
}

export type ImportEnd =
  | { readonly kind: "finished" }
  /** The signal aborted the import; everything up to the position is acknowledged. */
  | { readonly kind: "interrupted" }
  | { readonly kind: "failed"; readonly reason: string }
  /** A file needs an option that is not set. */
  | { readonly kind: "option_needed"; readonly reason: string };

interface DeliveryDependencies {
  readonly deliver: Deliver;
  readonly events: DeliveryEvents;
  /** Ends the import after the batches in flight. */
  readonly signal: AbortSignal;
}

/** Batches between reading and acknowledgement: one on the disk, one waiting for it, one being applied. */
const IN_FLIGHT_MAX = 3;

/** Delivers batches in order, a few ahead of the acknowledged ones, and counts the results by group. */
export function createDelivery({ deliver, events, signal }: DeliveryDependencies) {
  return async function deliverAll(
    batches: AsyncIterable<ImportBatch>,
    tallies: readonly Tally[],
  ): Promise<ImportEnd> {
    let failure: string | null = null;
    const inFlight: { readonly read: ImportBatch; readonly answer: ReturnType<Deliver> }[] = [];

    /** Waits for the oldest batch; batches after a failed one don't count. */
    async function awaitOldest(): Promise<void> {
      const { read, answer } = inFlight.shift()!;
      const delivered = await answer;
      if (failure !== null) return;
      if (delivered.ok) await settle(read, delivered.value);
      else failure = delivered.error;
    }

    async function settle(read: ImportBatch, delivered: Delivered): Promise<void> {
      const { rejected } = delivered;
      const tally = tallies[read.group]!;
      tally.addBatch(read);
      tally.addDelivered(delivered);
      const refused = rejected.map(({ index, message }) => rejectedRow(read, index, message));
      for (const skip of refused) tally.addRejected(skip);
      if (read.skips.length + refused.length > 0) await events.onSkips([...read.skips, ...refused]);
      for (const fault of read.faults) await events.onFault(fault);
      await events.onAcknowledged(read.end);
    }

    async function settleDownTo(count: number): Promise<void> {
      while (inFlight.length > count) await awaitOldest();
    }

    let optionNeeded: string | null = null;
    try {
      for await (const read of batches) {
        if (signal.aborted || failure !== null) break;
        const answer = deliver(read.batch);
        answer.catch(() => undefined); // The `await` of it throws the error.
        inFlight.push({ read, answer });
        await settleDownTo(IN_FLIGHT_MAX - 1);
      }
    } catch (error) {
      if (!(error instanceof SourceNeedsOption)) throw error;
      optionNeeded = error.message;
    }
    await settleDownTo(0);
    if (failure !== null) return { kind: "failed", reason: failure };
    if (optionNeeded !== null) return { kind: "option_needed", reason: optionNeeded };
    return signal.aborted ? { kind: "interrupted" } : { kind: "finished" };
  };
}

import { ok, type Result } from "../../lib/result.ts";
import { pause, type Timers } from "../../lib/schedule/timers.ts";
import { type ServiceError, unavailable } from "../../model/errors.ts";
import type { QuarantineStore } from "../../service/quarantine/store.ts";
import type { Operation } from "./operation.ts";
import type { Outcome } from "./operation-sender.ts";

/** An operation from the stream. */
export interface ReceivedOperation {
  readonly operation: Operation;
  /** Reports the outcome of the first attempt. Later calls have no effect. */
  report(outcome: Outcome): void;
}

export interface OperationApplierOptions {
  readonly store: Pick<QuarantineStore, "keep" | "delete" | "countAgain">;
  readonly timers: Timers;
  readonly signal: AbortSignal;
  /** An operation waits for the disk. */
  onStuck(): void;
}

const FIRST_PAUSE_MS = 500;
const PAUSE_MS_MAX = 30_000;

/** Applies the operations of the stream to this node's quarantine, and retries while the disk refuses. */
export class OperationApplier {
  readonly #options: OperationApplierOptions;
  /** Operations that wait for the disk, with the reason. */
  readonly #waiting = new Map<ReceivedOperation, ServiceError>();

  constructor(options: OperationApplierOptions) {
    this.#options = options;
  }

  /** Why an operation waits for the disk; null if none does. */
  get stuck(): ServiceError | null {
    return this.#waiting.values().next().value ?? null;
  }

  /**
   * Resolves with true once all operations are on the disk, or with false if the signal was aborted before. Puts
   * without a topic run concurrently, so that they share a sync.
   */
  async apply(received: readonly ReceivedOperation[], mayRepeat: boolean): Promise<boolean> {
    const applyOne = (each: ReceivedOperation) => this.#applyOne(each, received, mayRepeat);
    let puts: Promise<boolean>[] = [];
    for (const each of received) {
      const { operation } = each;
      const isPlainPut = operation.kind === "put" && operation.entries[0]!.message.topic === null;
      if (isPlainPut) {
        puts.push(applyOne(each));
        continue;
      }
      const isApplied = (await areAll(puts)) && (await applyOne(each));
      if (!isApplied) return false;
      puts = [];
    }
    return areAll(puts);
  }

  async #applyOne(
    each: ReceivedOperation,
    all: readonly ReceivedOperation[],
    mayRepeat: boolean,
  ): Promise<boolean> {
    const { timers, signal, onStuck } = this.#options;
    let outcome = await this.#try(each.operation, mayRepeat);
    each.report(outcome);
    for (let pauseMs = FIRST_PAUSE_MS; !outcome.ok; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
      for (const { report } of all) report(outcome); // Callers don't wait for a disk that may refuse for hours.
      if (signal.aborted) return false;
      this.#waiting.set(each, outcome.error);
      onStuck();
      await pause(timers, pauseMs, signal);
      outcome = await this.#try(each.operation, true);
    }
    this.#waiting.delete(each);
    return true;
  }

  async #try(operation: Operation, mayRepeat: boolean): Promise<Outcome> {
    const { store, signal } = this.#options;
    if (signal.aborted) return { ok: false, error: unavailable("the server is stopping", 5) };
    switch (operation.kind) {
      case "put":
        return counted(await store.keep(operation.entries, mayRepeat));
      case "delete":
        return store.delete(operation.appId, operation.ids);
      case "again":
        for (const arrival of operation.arrivals) store.countAgain(arrival, mayRepeat);
        return ok(0);
    }
  }
}

async function areAll(applied: readonly Promise<boolean>[]): Promise<boolean> {
  return (await Promise.all(applied)).every((each) => each);
}

function counted(result: Result<void, ServiceError>): Outcome {
  return result.ok ? ok(0) : result;
}

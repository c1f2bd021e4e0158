import { ok, type Result } from "../../lib/result.ts";
import { pause, type Timers } from "../../lib/schedule/timers.ts";
import { type ServiceError, unavailable } from "../../model/errors.ts";
import type { QuarantineStore } from "../../service/quarantine/store.ts";
import type { Operation } from "./operation.ts";
import type { Outcome } from "./sending.ts";

/** An operation that came, and what hears of it. */
export interface Received {
  readonly operation: Operation;
  /** Of the first try; the first call counts. */
  settle(outcome: Outcome): void;
}

export interface ApplyingOptions {
  readonly store: Pick<QuarantineStore, "keep" | "delete" | "countAgain">;
  readonly timers: Timers;
  readonly signal: AbortSignal;
  /** Something waits for the disk. */
  onStuck(): void;
}

const FIRST_PAUSE_MS = 500;
const PAUSE_MS_MAX = 30_000;

/** Does what the stream says to this node's quarantine, again and again where the disk refuses: nothing is left out. */
export class Applying {
  readonly #options: ApplyingOptions;
  /** What waits for the disk, and why. */
  readonly #waiting = new Map<Received, ServiceError>();

  constructor(options: ApplyingOptions) {
    this.#options = options;
  }

  /** Why an operation waits for the disk; null where none does. */
  get stuck(): ServiceError | null {
    return this.#waiting.values().next().value ?? null;
  }

  /**
   * Resolves once all of a message is on the disk, or with false where the signal came before. What one key put is not
   * waited for by the next: they share a sync.
   */
  async apply(received: readonly Received[], mayRepeat: boolean): Promise<boolean> {
    const applyOne = (each: Received) => this.#applyOne(each, received, mayRepeat);
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

  async #applyOne(each: Received, all: readonly Received[], mayRepeat: boolean): Promise<boolean> {
    const { timers, signal, onStuck } = this.#options;
    let outcome = await this.#try(each.operation, mayRepeat);
    each.settle(outcome);
    for (let pauseMs = FIRST_PAUSE_MS; !outcome.ok; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
      for (const { settle } of all) settle(outcome); // Nobody waits for a disk that may refuse for hours.
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

function counted(kept: Result<void, ServiceError>): Outcome {
  return kept.ok ? ok(0) : kept;
}

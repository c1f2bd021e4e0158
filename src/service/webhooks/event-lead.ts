import { pause, type Timers } from "../../lib/schedule/timers.ts";
import { deliveriesEntry } from "../../model/webhooks/deliveries-entry.ts";
import type { StandingAppend } from "../ingest/standing-append.ts";
import type { EventPublisher } from "../watching/event-publisher.ts";
import type { SharedEntries } from "../watching/shared-entries.ts";
import type { WatchClock } from "../watching/watch-clock.ts";
import type { WebhookDelivery } from "./delivery.ts";

/** After a failure of the log. */
const RETRY_MS = 1000;

export interface EventLeadDependencies {
  readonly append: StandingAppend;
  readonly shared: Pick<SharedEntries, "settle">;
  readonly publisher: Pick<EventPublisher, "start" | "stop">;
  readonly watchClock: Pick<WatchClock, "takeOver" | "stop">;
  /** Null if this process sends no webhooks. */
  readonly delivery: Pick<WebhookDelivery, "start" | "stop"> | null;
  readonly timers: Timers;
}

/**
 * What one node of a cluster does at a time: it publishes events, moves the clock of timed ones, and sends webhooks. It
 * begins with an entry of the log, so it knows all that its predecessor has appended; what that one appends later about
 * deliveries counts no more.
 */
export class EventLead {
  readonly #dependencies: EventLeadDependencies;
  #ending: AbortController | null = null;
  #isClosed = false;
  #isHeld = () => false;
  #takeovers = 0;
  #work: Promise<void> = Promise.resolve();

  constructor(dependencies: EventLeadDependencies) {
    this.#dependencies = dependencies;
  }

  /** Whether it is this node; asked before each piece of the work: the process may have been stopped meanwhile. */
  get isHere(): boolean {
    return this.#ending !== null && this.#isHeld();
  }

  /** How often this node has begun the work. */
  get takeovers(): number {
    return this.#takeovers;
  }

  /** This node has the lease, as long as `isHeld` says so. Terms rise from owner to owner. */
  begin(term: number, isHeld: () => boolean): void {
    if (this.#isClosed) return;
    const ending = new AbortController();
    this.#ending = ending;
    this.#isHeld = isHeld;
    this.#work = this.#work.then(() => this.#begin(term, ending.signal));
  }

  async #begin(term: number, signal: AbortSignal): Promise<void> {
    const { append, shared, publisher, watchClock, delivery, timers } = this.#dependencies;
    while (!signal.aborted) {
      const appended = await append(deliveriesEntry(term, [], []));
      if (appended.ok) break;
      await pause(timers, RETRY_MS, signal);
    }
    await shared.settle();
    if (signal.aborted) return;
    this.#takeovers++;
    publisher.start();
    watchClock.takeOver();
    delivery?.start(term);
  }

  /** Ends the work, and keeps where each webhook is. */
  end(): Promise<void> {
    this.#ending?.abort();
    this.#ending = null;
    this.#work = this.#work.then(() => this.#end());
    return this.#work;
  }

  /** Ends the work for good. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.end();
  }

  async #end(): Promise<void> {
    const { publisher, watchClock, delivery } = this.#dependencies;
    await Promise.all([publisher.stop(), watchClock.stop(), delivery?.stop()]);
  }
}

import { messageOf } from "../../lib/message-of.ts";
import { pause, type Timers } from "../../lib/schedule/timers.ts";
import type { AppId } from "../../model/ids.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { PublishedEvent } from "../../model/watches/events-entry.ts";
import { isDatabaseFailure } from "../../runtime/sqlite.ts";
import type { StandingAppend } from "../ingest/standing-append.ts";
import type { DecidedEvents } from "./decided-events.ts";
import type { EventStore } from "./event-store.ts";
import { publishedOf } from "./shared-entries.ts";
import { isLateEvent, type NewRevision } from "./stored-event.ts";

/** Events that are published at once: an entry of the log for each app that they are of, some 30 KB in all. */
const EVENTS_AT_ONCE = 64;
/** After a failure of the log or the disk. */
const RETRY_MS = 1000;

export interface EventPublisherDependencies {
  readonly events: Pick<EventStore, "find" | "lastSeq">;
  readonly decided: DecidedEvents;
  readonly append: StandingAppend;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Whether this node is still the one that publishes. */
  mayPublish(): boolean;
  /** Called with a sentence for the operator. */
  onNote(note: string): void;
}

/** Publishes what this node of a cluster has decided, while it is the one that does. */
export class EventPublisher {
  readonly #dependencies: EventPublisherDependencies;
  #stopping = new AbortController();
  #publishing: Promise<void> = Promise.resolve();
  #wake = () => {};
  /** What this process decided up to this number is published. */
  #number = 0;
  #lastSeq = 0;
  /** Whether something was decided since it was looked last. */
  #hasNew = false;
  #isFailing = false;

  constructor(dependencies: EventPublisherDependencies) {
    this.#dependencies = dependencies;
  }

  start(): void {
    this.#stopping = new AbortController();
    this.#dependencies.decided.onUnpublished = () => {
      this.#hasNew = true;
      this.#wake();
    };
    this.#publishing = this.#publish(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    await this.#publishing;
  }

  async #publish(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const done = await this.#tryPublishSome();
      if (done === "failed") await pause(this.#dependencies.timers, RETRY_MS, signal);
      else if (done === "nothing") await this.#rest(signal);
    }
  }

  #rest(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (signal.aborted || this.#hasNew) resolve();
    });
  }

  async #tryPublishSome(): Promise<"some" | "nothing" | "failed"> {
    try {
      const done = await this.#publishSome();
      if (done !== "failed") this.#isFailing = false;
      return done;
    } catch (error) {
      if (!isDatabaseFailure(error)) throw error;
      if (!this.#isFailing) this.#dependencies.onNote(`Events are not published now: ${messageOf(error)}`);
      this.#isFailing = true;
      return "failed";
    }
  }

  async #publishSome(): Promise<"some" | "nothing" | "failed"> {
    const { decided, append, mayPublish } = this.#dependencies;
    this.#hasNew = false;
    const rows = decided.unpublished(this.#number, EVENTS_AT_ONCE);
    if (rows.length === 0) return "nothing";
    if (!mayPublish()) return "failed";
    const byApp = new Map<AppId, PublishedEvent[]>();
    for (const { revision } of rows) {
      const events = byApp.get(revision.appId) ?? [];
      events.push(this.#publishedOf(revision));
      byApp.set(revision.appId, events);
    }
    const appending = Array.from(byApp, ([appId, events]) => append({ kind: "events", appId, events }));
    const appended = await Promise.all(appending);
    if (!appended.every(({ ok }) => ok)) return "failed";
    this.#number = rows.at(-1)!.number;
    return "some";
  }

  #publishedOf(revision: NewRevision): PublishedEvent {
    const { events, clock } = this.#dependencies;
    const { appId, event } = revision;
    const madeMs = clock.nowMs();
    this.#lastSeq = Math.max(this.#lastSeq + 1, events.lastSeq() + 1, madeMs);
    return publishedOf({
      ...revision,
      ...{ madeMs, isLate: isLateEvent(event, madeMs), seq: this.#lastSeq },
      revision: (events.find(appId, event.id)?.revision ?? 0) + 1,
    });
  }
}

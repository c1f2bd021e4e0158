import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { AppId } from "../../model/ids.ts";
import { EventPages } from "../watching/event-pages.ts";
import type { EventStore } from "../watching/event-store.ts";
import type { StoredEvent } from "../watching/stored-event.ts";
import { isWanted, type WantedEvents } from "../watching/wanted-events.ts";
import { type Pace, Rounds } from "./rounds.ts";
import { type WaitingEvents, WaitingViewer } from "./waiting-viewer.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Events that are read and sent at once: some 50 kB. */
const PAGE_EVENTS = 128;

/** Which events of geofences and alerts a viewer subscribes to. */
export interface EventViewerQuery extends WantedEvents {
  /** The position in the order of storing up to which the viewer knows all; null to start with the next event. */
  readonly sinceSeq: number | null;
}

/** Writes messages with events, synchronously. */
export interface EventsWriter {
  events(events: readonly StoredEvent[], seq: number): Bytes;
  /** The viewer's position is not one of this server's. The stream continues after `seq`. */
  reset(seq: number): Bytes;
}

export type EventFeedStore = Pick<EventStore, "after" | "lastSeqOf" | "isErased" | "removals">;

export interface EventFeedDependencies {
  readonly events: EventFeedStore;
  readonly scheduler: Scheduler;
  readonly pace: Pace;
  /** Events from before this are in no answer. */
  oldestMs(): number;
  /** The app has no viewers any more. */
  onEmpty(): void;
}

/** A viewer's progress among the events of its app. It holds nothing else. */
export class EventViewer extends WaitingViewer {
  readonly isWithinEvent = false;
  readonly wanted: WantedEvents;
  readonly writer: EventsWriter;
  /** The last position that the viewer knows. */
  sentSequence: number;
  /** Whether the store may have more. */
  mayHaveMore: boolean;
  /** Whether much is stored already, which need not wait for the next round. */
  isBehind: boolean;
  isLost: boolean;

  constructor(
    { sinceSeq, ...wanted }: EventViewerQuery,
    writer: EventsWriter,
    lastSeq: number,
    on: WaitingEvents<EventViewer>,
  ) {
    super({ wanted: () => on.wanted(this), closed: () => on.closed(this) });
    this.wanted = wanted;
    this.writer = writer;
    this.sentSequence = sinceSeq ?? lastSeq;
    this.isLost = this.sentSequence > lastSeq;
    this.mayHaveMore = this.sentSequence !== lastSeq;
    this.isBehind = this.mayHaveMore;
  }
}

/** Sends the events of one app to its viewers, in the order in which they were stored. */
export class EventFeed {
  readonly #appId: AppId;
  readonly #dependencies: EventFeedDependencies;
  readonly #owner: string;
  readonly #viewers = new Set<EventViewer>();
  readonly #pages: EventPages;
  #removals = 0;
  readonly #rounds: Rounds;

  constructor(appId: AppId, dependencies: EventFeedDependencies) {
    this.#appId = appId;
    this.#dependencies = dependencies;
    this.#pages = new EventPages(dependencies.events, PAGE_EVENTS);
    this.#owner = `viewers of ${appId}`;
    this.#rounds = new Rounds({
      ...{ ...dependencies, owner: this.#owner },
      isAnyBehind: () => this.#viewers.values().some(isIdle),
      tellInSteps: () => this.#tellInSteps(),
    });
  }

  /** Closes all viewers. */
  close(): void {
    for (const viewer of [...this.#viewers]) viewer.close();
  }

  open(query: EventViewerQuery, writer: EventsWriter): EventViewer {
    const lastSeq = this.#dependencies.events.lastSeqOf(this.#appId);
    const viewer = new EventViewer(query, writer, lastSeq, this.#listener);
    this.#viewers.add(viewer);
    return viewer;
  }

  /** Events were stored. */
  wake(): void {
    this.#pages.clear();
    for (const viewer of this.#viewers) viewer.mayHaveMore = true;
    this.#rounds.begin();
  }

  readonly #listener = {
    wanted: (viewer: EventViewer) => {
      if (viewer.isBehind) void this.#dependencies.scheduler.run(this.#owner, this.#tell(viewer));
      else this.#rounds.begin();
    },
    closed: (viewer: EventViewer) => {
      this.#viewers.delete(viewer);
      if (this.#viewers.size === 0) this.#dependencies.onEmpty();
    },
  };

  *#tellInSteps(): Steps<void> {
    for (const viewer of [...this.#viewers].filter(isIdle)) {
      yield* this.#tell(viewer);
      yield;
    }
  }

  /** Reads until there is something for the viewer, or nothing is left. */
  *#tell(viewer: EventViewer): Steps<void> {
    while (viewer.isWaiting && viewer.mayHaveMore) {
      this.#rounds.spend(() => this.#tryToAdvance(viewer));
      if (viewer.isWaiting && viewer.mayHaveMore) yield;
    }
  }

  /** A failure for one viewer does not affect the others. */
  #tryToAdvance(viewer: EventViewer): void {
    try {
      this.#advance(viewer);
    } catch (error) {
      viewer.fail(error);
    }
  }

  #advance(viewer: EventViewer): void {
    const { events, oldestMs } = this.#dependencies;
    if (viewer.isLost) {
      viewer.isLost = false;
      viewer.sentSequence = events.lastSeqOf(this.#appId);
      viewer.give(viewer.writer.reset(viewer.sentSequence));
      return;
    }
    const page = this.#read(viewer.sentSequence);
    const last = page.at(-1);
    viewer.isBehind = page.length === PAGE_EVENTS;
    viewer.mayHaveMore = last !== undefined;
    if (last === undefined) return;
    viewer.sentSequence = last.seq;
    const fromMs = oldestMs();
    const selected = page.filter(
      // It may have been erased since it was read.
      (stored) =>
        stored.event.timestampMs >= fromMs && isWanted(viewer.wanted, stored) && !events.isErased(stored),
    );
    if (selected.length > 0) viewer.give(viewer.writer.events(selected, last.seq));
  }

  #read(seq: number): readonly StoredEvent[] {
    const { removals } = this.#dependencies.events;
    if (this.#removals !== removals) this.#pages.clear();
    this.#removals = removals;
    return this.#pages.after(this.#appId, seq);
  }
}

/** Whether the viewer waits for what was stored lately. */
function isIdle({ isWaiting, mayHaveMore, isBehind }: EventViewer): boolean {
  return isWaiting && mayHaveMore && !isBehind;
}

import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import type { AppId } from "../../model/ids.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { Retention } from "../../model/time/retention.ts";
import type { EventStore } from "../watching/event-store.ts";
import { EventFeed, type EventFeedStore, type EventsWriter, type EventViewerQuery } from "./event-feed.ts";
import type { Viewer } from "./live.ts";
import { PACE, type Pace } from "./rounds.ts";

/** The parts of a server that the feeds of all apps need. */
export interface EventFeedsDependencies {
  /** Called once the directory is open. */
  readonly events: () => EventFeedStore & Pick<EventStore, "onAppended">;
  readonly scheduler: Scheduler;
  readonly clock: Clock;
  readonly retention: Retention;
  /** Defaults to that of positions. */
  readonly pace?: Pace;
}

/** Viewers of events of geofences and alerts, by app. */
export class EventFeeds {
  readonly #dependencies: EventFeedsDependencies;
  readonly #feeds = new Map<AppId, EventFeed>();
  #isListening = false;
  #isClosed = false;

  constructor(dependencies: EventFeedsDependencies) {
    this.#dependencies = dependencies;
  }

  open(appId: AppId, query: EventViewerQuery, writer: EventsWriter): Viewer {
    const viewer = this.#findOrOpen(appId).open(query, writer);
    if (this.#isClosed) viewer.close();
    return viewer;
  }

  /** Closes all viewers; one that is opened later is closed too. */
  close(): void {
    this.#isClosed = true;
    for (const feed of [...this.#feeds.values()]) feed.close();
  }

  #findOrOpen(appId: AppId): EventFeed {
    const known = this.#feeds.get(appId);
    if (known !== undefined) return known;
    const { scheduler, pace = PACE, clock, retention } = this.#dependencies;
    const events = this.#dependencies.events();
    if (!this.#isListening) events.onAppended((appIds) => this.#wake(appIds));
    this.#isListening = true;
    const feed = new EventFeed(appId, {
      ...{ events, scheduler, pace },
      oldestMs: () => retention.startMs(clock.nowMs()),
      onEmpty: () => void this.#feeds.delete(appId),
    });
    this.#feeds.set(appId, feed);
    return feed;
  }

  #wake(appIds: ReadonlySet<AppId>): void {
    for (const appId of appIds) this.#feeds.get(appId)?.wake();
  }
}

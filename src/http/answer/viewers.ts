import { assert } from "../../lib/assert.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { systemTimers, type Timers } from "../../lib/schedule/timers.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { EventViewerQuery } from "../../service/live/event-feed.ts";
import type { EventFeeds } from "../../service/live/event-feeds.ts";
import type { Live, Viewer, ViewerQuery } from "../../service/live/live.ts";
import { MergedViewer } from "../../service/live/merged-viewer.ts";
import type { ViewerSlots } from "../../service/live/viewer-slots.ts";
import type { ViewerCounts } from "../../service/metrics/meters.ts";
import type { Call } from "../call.ts";
import type { AnswerBuffer } from "../encode/answer-buffer.ts";
import type { NamesForm } from "../encode/record-names.ts";
import {
  beat,
  beginning,
  LiveEventWriter,
  type ProfileSource,
  type StreamMember,
  ViewEventWriter,
  WatchEventWriter,
} from "./live-events.ts";
import type { Sendable } from "./piecewise.ts";

/* Viewers of the live stream over HTTP, and the stream of each. */

export interface ViewersDependencies {
  readonly live: Live;
  readonly feeds: Pick<EventFeeds, "open" | "close">;
  readonly answers: AnswerBuffer;
  readonly slots: ViewerSlots;
  readonly counts: ViewerCounts;
  readonly hot: ProfileSource;
  readonly timers?: Timers;
}

export type LiveCall = Pick<Call, "request" | "appId" | "keyId" | "view" | "isStillAllowed">;

/** What a viewer subscribes to. */
export interface LiveQuery extends ViewerQuery {
  /** What records get from the profiles of their devices; absent for nothing. */
  readonly names?: NamesForm;
}

/** How often keys are checked: a revoked one is known after a second, and its streams must end within five. */
const LOOK_MS = 1000;
/** A slow connection may need minutes for the content of the buffers on the way. */
const STALL_MS_MAX = 300_000;

const NO_NAMES: NamesForm = { withNames: false, withProfiles: false };

const TOO_MANY: ServiceError = {
  kind: "unavailable",
  message: "the key, its app or the server has too many live streams; try again once one has ended",
  retryAfterSeconds: 10,
};

/** Opens a stream for each viewer and ends it in time. */
export class Viewers {
  readonly #live: Live;
  readonly #feeds: ViewersDependencies["feeds"];
  readonly #slots: ViewerSlots;
  readonly #counts: ViewerCounts;
  readonly #onReset = () => this.#counts.resets++;
  readonly #answers: AnswerBuffer;
  /** One for each form of names, shared, so that viewers may be sent the same bytes. */
  readonly #writers = new Map<string, LiveEventWriter>();
  readonly #eventWriter = new WatchEventWriter(this.#onReset);
  readonly #hot: ProfileSource;
  readonly #timers: Timers;
  readonly #open = new Map<ViewerStream, LiveCall>();
  #stopLooking: (() => void) | null = null;

  constructor({ live, feeds, slots, counts, answers, hot, timers = systemTimers }: ViewersDependencies) {
    this.#hot = hot;
    this.#live = live;
    this.#feeds = feeds;
    this.#slots = slots;
    this.#counts = counts;
    this.#timers = timers;
    this.#answers = answers;
  }

  /** Opens a stream of positions. It ends with its client, with its key, or after a stall of minutes. */
  open(call: LiveCall, query: LiveQuery): Result<ViewerStream, ServiceError> {
    return this.#openStream(call, ["locations"], () => idOfPlace(this.#openPositions(call, query)));
  }

  /** Opens a stream of events of geofences and alerts, which share links have none of. */
  openEvents(call: LiveCall, query: EventViewerQuery): Result<ViewerStream, ServiceError> {
    return this.#openStream(call, ["events"], () => idOfPlace(this.#openWatched(call, query)));
  }

  /** Opens a stream of both. */
  openBoth(
    call: LiveCall,
    query: LiveQuery,
    eventQuery: EventViewerQuery,
  ): Result<ViewerStream, ServiceError> {
    return this.#openStream(call, ["locations", "events"], () => {
      const events = this.#openWatched(call, eventQuery); // First, since it may fail.
      const viewer = new MergedViewer(this.#openPositions(call, query), events);
      return { viewer, idOf: () => viewer.sentId };
    });
  }

  #openPositions({ appId, view }: LiveCall, { names, ...query }: LiveQuery): Viewer {
    return this.#live.open(appId, query, this.#writerFor(view, names ?? NO_NAMES));
  }

  #openWatched({ appId, view }: LiveCall, query: EventViewerQuery): Viewer {
    assert(view === null, "events have exact times and places");
    return this.#feeds.open(appId, query, this.#eventWriter);
  }

  #openStream(
    call: LiveCall,
    members: readonly StreamMember[],
    openViewer: () => Pick<ViewerStreamOptions, "viewer" | "idOf">,
  ): Result<ViewerStream, ServiceError> {
    const { appId, keyId, view } = call;
    const leave = this.#slots.take({ appId, keyId, isView: view !== null });
    if (leave === null) {
      this.#counts.refused++;
      return fail(TOO_MANY);
    }
    let opened: Pick<ViewerStreamOptions, "viewer" | "idOf">;
    try {
      opened = openViewer();
    } catch (error) {
      leave();
      throw error;
    }
    const { signal } = call.request;
    const stream: ViewerStream = new ViewerStream({
      timers: this.#timers,
      ...opened,
      members,
      onEvent: () => this.#counts.events++,
      onEnd: () => {
        leave();
        signal.removeEventListener("abort", end);
        this.#remove(stream);
      },
    });
    const end = () => stream.close();
    this.#add(stream, call);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
    return ok(stream);
  }

  /** Ends all streams, and any that are opened later. */
  stop(): void {
    this.#live.close();
    this.#feeds.close();
    for (const stream of this.#open.keys()) stream.close();
  }

  #writerFor(view: LiveCall["view"], form: NamesForm): LiveEventWriter | ViewEventWriter {
    const { withNames, withProfiles } = form;
    const added = withNames || withProfiles ? { source: this.#hot, form } : null;
    if (view !== null) return new ViewEventWriter(view, this.#onReset, added);
    const name = `${withNames} ${withProfiles}`;
    const known = this.#writers.get(name);
    if (known !== undefined) return known;
    const writer = new LiveEventWriter(this.#answers, this.#onReset, added);
    this.#writers.set(name, writer);
    return writer;
  }

  #add(stream: ViewerStream, call: LiveCall): void {
    this.#open.set(stream, call);
    this.#stopLooking ??= this.#timers.after(LOOK_MS, () => this.#look());
  }

  #remove(stream: ViewerStream): void {
    this.#open.delete(stream);
    if (this.#open.size > 0) return;
    this.#stopLooking?.();
    this.#stopLooking = null;
  }

  #look(): void {
    this.#stopLooking = this.#timers.after(LOOK_MS, () => this.#look());
    for (const [stream, call] of this.#open)
      if (!call.isStillAllowed() || stream.stalledMs() > STALL_MS_MAX) stream.close();
  }
}

function idOfPlace(viewer: Viewer): Pick<ViewerStreamOptions, "viewer" | "idOf"> {
  return { viewer, idOf: () => String(viewer.sentSequence) };
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Proxies, and Bun, close a connection that is silent for about a minute. */
const BEAT_MS = 15_000;

export interface ViewerStreamOptions {
  readonly viewer: Pick<Viewer, "next" | "isWithinEvent" | "close">;
  /** What its events have. */
  readonly members: readonly StreamMember[];
  /** The id up to which the viewer knows everything. */
  readonly idOf: () => string;
  /** Called when an event has been sent to its end. */
  readonly onEvent: () => void;
  readonly onEnd: () => void;
  readonly timers: Timers;
}

/**
 * The stream of one viewer. It requests a piece when its connection has room, so a stalled one holds one piece at most.
 */
export class ViewerStream implements Sendable {
  readonly #viewer: ViewerStreamOptions["viewer"];
  readonly #members: readonly StreamMember[];
  readonly #idOf: () => string;
  readonly #onEvent: () => void;
  readonly #onEnd: () => void;
  readonly #timers: Timers;
  /** The piece requested from the viewer and not sent yet. */
  #coming: Promise<Bytes | null> | null = null;
  #isReady = false;
  /** Gives the waiting connection its next piece. */
  #send: ((piece: Bytes | null | Promise<Bytes | null>) => void) | null = null;
  #isOver = false;
  #readMs: number;

  constructor({ viewer, members, idOf, onEvent, onEnd, timers }: ViewerStreamOptions) {
    this.#viewer = viewer;
    this.#members = members;
    this.#idOf = idOf;
    this.#onEvent = onEvent;
    this.#onEnd = onEnd;
    this.#timers = timers;
    this.#readMs = timers.nowMs();
  }

  async *pieces(): AsyncIterable<Bytes> {
    try {
      let piece = this.#isOver ? null : beginning(this.#members, this.#idOf());
      for (; piece !== null; piece = await this.#next()) yield piece;
    } finally {
      this.close();
    }
  }

  /** For how long the connection has had no room. */
  stalledMs(): number {
    return this.#send === null ? this.#timers.nowMs() - this.#readMs : 0;
  }

  /** Ends the stream after what has been sent, and drops the rest. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#viewer.close();
    this.#send?.(null);
    this.#onEnd();
  }

  /** The next piece, or a beat if none comes for long; null at the end. */
  async #next(): Promise<Bytes | null> {
    if (this.#isOver) return null;
    this.#readMs = this.#timers.nowMs();
    const { promise, resolve } = Promise.withResolvers<Bytes | null>();
    this.#send = resolve;
    let isBeat = false;
    const stopQuiet = this.#timers.after(BEAT_MS, () => {
      isBeat = !this.#viewer.isWithinEvent;
      if (isBeat) resolve(beat(this.#idOf()));
    });
    if (this.#coming === null) this.#request();
    else if (this.#isReady) resolve(this.#coming);
    try {
      const piece = await promise;
      if (isBeat) return piece;
      this.#coming = null;
      if (piece !== null && !this.#viewer.isWithinEvent) this.#onEvent();
      return piece;
    } finally {
      stopQuiet();
      this.#send = null;
      this.#readMs = this.#timers.nowMs();
    }
  }

  /** One request for many beats: racing both each time would add a callback to the piece's promise for every beat. */
  #request(): void {
    const coming = this.#viewer.next();
    const deliver = () => {
      this.#isReady = true;
      this.#send?.(coming);
    };
    this.#coming = coming;
    this.#isReady = false;
    coming.then(deliver, deliver);
  }
}

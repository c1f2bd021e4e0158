import { StreamError } from "../../cluster/stream/stream.ts";
import { presentEvent } from "../../geofences/present-event.ts";
import { messageOf } from "../../lib/message-of.ts";
import { atMost, nextTurn, pause, type Timers } from "../../lib/schedule/timers.ts";
import type { AppId } from "../../model/ids.ts";
import type { Clock } from "../../model/time/clock.ts";
import { MS_PER_DAY } from "../../model/time/units.ts";
import type { BrokerConnection, BrokerListener } from "../../runtime/broker.ts";
import { isDatabaseFailure } from "../../runtime/sqlite.ts";
import type { EventStore } from "../watching/event-store.ts";
import type { StoredEvent } from "../watching/stored-event.ts";
import { isWanted, type WantedEvents } from "../watching/wanted-events.ts";
import type { Positions, SentPositions } from "./sent-positions.ts";

/*
 * Publishes events of geofences and alerts to the broker, at least once, over a connection of its own: some brokers
 * disconnect a client that may not publish, which must not keep positions from coming. Each app has a place in its
 * events, and a window of messages that the broker does not have for sure. When the connection ends, the window is
 * dropped and read again, so what was corrected or erased meanwhile is not sent.
 */

/** Messages of an app that the broker has not acknowledged: some 30 kB. */
const WINDOW_MAX = 64;
/** Windows that are filled in one turn of the event loop, in a few milliseconds. */
const TURN_WINDOWS_MAX = 8;
const SAVE_MS = 1000;
/** After a failure of the database, or of the cluster. */
const RETRY_MS = 5000;
/** At a stop, for what the broker acknowledges late. */
const CLOSE_MS_MAX = 1000;
/** Events that have waited for longer are not sent any more, like those of a webhook that is paused. */
const WAIT_MS_MAX = 30 * MS_PER_DAY;

const WANTED: WantedEvents = { types: null, watches: null, devices: null, users: null, sendsLate: false };

export interface EventSenderOptions {
  /** The apps whose events are published. */
  readonly appIds: readonly AppId[];
  readonly events: Pick<EventStore, "after" | "lastSeqOf" | "onAppended">;
  readonly positions: SentPositions;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Whether this process may publish; asked before each message. */
  mayPublish(): boolean;
  connect(listener: BrokerListener): BrokerConnection;
  onConnected(): void;
  onDisconnected(reason: string): void;
  /** Called with a sentence for the operator. */
  onNote(note: string): void;
}

export interface EventSenderStatus {
  readonly isConnected: boolean;
  /** Messages that the broker has acknowledged since the start. */
  readonly sent: number;
  /** For how long the oldest event has waited. */
  readonly behindMs: number;
}

interface Parcel {
  readonly seq: number;
  readonly madeMs: number;
  isTaken: boolean;
}

type Work = "sending" | "saving";

/** Where an app is. */
interface Lane {
  readonly appId: AppId;
  window: Parcel[];
  /** Up to here all events were read. */
  readTo: number;
  savedSeq: number;
  /** Since when there is something to send; null if there is nothing, as far as is known. */
  waitingSinceMs: number | null;
}

export class EventSender {
  readonly #options: EventSenderOptions;
  readonly #lanes = new Map<AppId, Lane>();
  /** Those that may have something to send. */
  readonly #ready = new Set<Lane>();
  #areTurnsUnderWay = false;
  readonly #stopping = new AbortController();
  #connection: BrokerConnection | null = null;
  #isConnected = false;
  #sent = 0;
  /** What fails at the moment, and was noted. */
  readonly #failing = new Set<Work>();
  #ignoreAppended = () => {};
  #onTaken = () => {};
  readonly #running: Promise<void>;

  /** Begins to publish, once it is known where. */
  constructor(options: EventSenderOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  get status(): EventSenderStatus {
    const nowMs = this.#options.clock.nowMs();
    const times = [...this.#lanes.values()].map((lane) => oldestMs(lane) ?? nowMs);
    return { isConnected: this.#isConnected, sent: this.#sent, behindMs: nowMs - Math.min(nowMs, ...times) };
  }

  /** Waits shortly for the broker, notes what it has, and disconnects. */
  async close(): Promise<void> {
    const { timers } = this.#options;
    this.#stopping.abort();
    this.#ignoreAppended();
    await atMost(timers, CLOSE_MS_MAX, this.#running);
    if (this.#isConnected) await atMost(timers, CLOSE_MS_MAX, this.#untilTaken());
    await this.#save();
    this.#connection?.drop();
  }

  /** Ends at once: another process publishes from here on. */
  drop(): void {
    this.#stopping.abort();
    this.#ignoreAppended();
    this.#connection?.drop();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    if (!(await this.#begin())) return;
    const { events, timers, connect } = this.#options;
    this.#ignoreAppended = events.onAppended((appIds) => this.#noteAppended(appIds));
    this.#connection = connect({
      onMessage: async () => "acknowledge", // Nothing is subscribed to.
      onConnected: () => this.#noteConnected(),
      onDisconnected: (reason) => this.#noteDisconnected(reason),
    });
    while (!signal.aborted) {
      await pause(timers, SAVE_MS, signal);
      if (this.#failing.has("sending")) this.#sendOf(this.#lanes.values());
      if (!signal.aborted) await this.#save();
    }
  }

  /** Reads where each app is. An app that is new begins now, and its place is noted before anything happens. */
  async #begin(): Promise<boolean> {
    const { appIds, events, positions, clock, timers } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        const known = await positions.read();
        const nowMs = clock.nowMs();
        const places = new Map(appIds.map((appId) => [appId, known.get(appId) ?? events.lastSeqOf(appId)]));
        await positions.write(places);
        // A place is no earlier than the time at which its event was stored.
        for (const [appId, seq] of places) {
          const isBehind = events.lastSeqOf(appId) > seq;
          const readTo = Math.max(seq, nowMs - WAIT_MS_MAX);
          const lane = { appId, window: [], readTo, savedSeq: seq, waitingSinceMs: isBehind ? nowMs : null };
          this.#lanes.set(appId, lane);
        }
        this.#failing.delete("saving");
        return !signal.aborted;
      } catch (error) {
        this.#noteFailure("saving", error);
        await pause(timers, RETRY_MS, signal);
      }
    }
    return false;
  }

  #noteConnected(): void {
    this.#isConnected = true;
    this.#options.onConnected();
    this.#sendOf(this.#lanes.values());
  }

  #noteDisconnected(reason: string): void {
    this.#isConnected = false;
    for (const lane of this.#lanes.values()) {
      lane.waitingSinceMs = oldestMs(lane);
      lane.readTo = cursorOf(lane);
      lane.window = [];
    }
    this.#onTaken();
    if (!this.#stopping.signal.aborted) this.#options.onDisconnected(reason);
  }

  #noteAppended(appIds: ReadonlySet<AppId>): void {
    const nowMs = this.#options.clock.nowMs();
    for (const appId of appIds) {
      const lane = this.#lanes.get(appId);
      if (lane === undefined) continue;
      lane.waitingSinceMs ??= nowMs;
      void this.#sendSoon(lane);
    }
  }

  /** The caller is in the middle of something. */
  async #sendSoon(lane: Lane): Promise<void> {
    await Promise.resolve();
    this.#sendOf([lane]);
  }

  #sendOf(lanes: Iterable<Lane>): void {
    for (const lane of lanes) this.#ready.add(lane);
    if (!this.#areTurnsUnderWay) void this.#takeTurns();
  }

  /** Apps take turns: after an outage one may have a million late events to read, of which none is sent. */
  async #takeTurns(): Promise<void> {
    this.#areTurnsUnderWay = true;
    let windows = 0;
    for (const lane of this.#ready) {
      if (windows++ % TURN_WINDOWS_MAX === TURN_WINDOWS_MAX - 1) await nextTurn();
      this.#ready.delete(lane);
      if (this.#trySend(lane)) this.#ready.add(lane); // Behind the others.
    }
    this.#areTurnsUnderWay = false;
  }

  #trySend(lane: Lane): boolean {
    try {
      const mayHaveMore = this.#send(lane);
      this.#failing.delete("sending");
      return mayHaveMore;
    } catch (error) {
      this.#noteFailure("sending", error);
      return false;
    }
  }

  /** Fills the window once it is half empty. Returns whether there may be more to read now. */
  #send(lane: Lane): boolean {
    const { events, mayPublish } = this.#options;
    if (lane.window.length > WINDOW_MAX / 2) return false;
    if (!this.#isConnected || this.#stopping.signal.aborted || !mayPublish()) return false;
    const page = events.after(lane.appId, lane.readTo, WINDOW_MAX - lane.window.length);
    for (const stored of page) {
      if (isWanted(WANTED, stored)) this.#publish(lane, stored);
      lane.readTo = stored.seq;
    }
    if (page.length === 0) lane.waitingSinceMs = null;
    return page.length > 0;
  }

  #publish(lane: Lane, stored: StoredEvent): void {
    const { seq, madeMs, event } = stored;
    const parcel = { seq, madeMs, isTaken: false };
    lane.window.push(parcel);
    const topic = `wherehouse/${lane.appId}/events/${event.kind}`;
    this.#connection!.publish(topic, JSON.stringify(presentEvent(stored)), () => {
      this.#sent++;
      parcel.isTaken = true; // Without effect if it is of an earlier connection.
      const first = lane.window.findIndex(({ isTaken }) => !isTaken);
      lane.window.splice(0, first === -1 ? lane.window.length : first);
      this.#sendOf([lane]);
      this.#onTaken();
    });
  }

  /** Resolves once the broker has all that was published, or is gone. */
  async #untilTaken(): Promise<void> {
    const isOver = () => [...this.#lanes.values()].every(({ window }) => window.length === 0);
    while (!isOver()) {
      await new Promise<void>((resolve) => {
        this.#onTaken = resolve;
      });
    }
  }

  async #save(): Promise<void> {
    const moved = [...this.#lanes.values()].filter((lane) => cursorOf(lane) !== lane.savedSeq);
    if (moved.length === 0) return;
    const places: Positions = new Map([...this.#lanes.values()].map((lane) => [lane.appId, cursorOf(lane)]));
    try {
      await this.#options.positions.write(places);
      for (const lane of moved) lane.savedSeq = places.get(lane.appId)!;
      this.#failing.delete("saving");
    } catch (error) {
      this.#noteFailure("saving", error);
    }
  }

  /** The database or the cluster fails. What is not sent is in the database, and the next second tries again. */
  #noteFailure(work: Work, error: unknown): void {
    if (!isDatabaseFailure(error) && !(error instanceof StreamError)) throw error;
    if (!this.#failing.has(work))
      this.#options.onNote(
        work === "sending"
          ? `Events wait before the MQTT broker: ${messageOf(error)}`
          : `How far the MQTT broker has events can't be noted, so some may come again: ${messageOf(error)}`,
      );
    this.#failing.add(work);
  }
}

/** Up to here the broker has everything. */
function cursorOf({ window, readTo }: Lane): number {
  const first = window[0];
  return first === undefined ? readTo : first.seq - 1;
}

function oldestMs({ window, waitingSinceMs }: Lane): number | null {
  return window[0]?.madeMs ?? waitingSinceMs;
}

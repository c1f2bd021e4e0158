import { presentEvent } from "../../geofences/present-event.ts";
import type { WebhookStore } from "../../hot/webhook-store.ts";
import { messageOf } from "../../lib/message-of.ts";
import { atMost, nextTurn, type Timers } from "../../lib/schedule/timers.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { Delivery, Failing, Outcome, SavedCursor } from "../../model/webhooks/delivery.ts";
import { originOf, type Webhook, type WebhookState } from "../../model/webhooks/webhook.ts";
import { isDatabaseFailure } from "../../runtime/sqlite.ts";
import { EventPages } from "../watching/event-pages.ts";
import type { EventStore } from "../watching/event-store.ts";
import type { StoredEvent } from "../watching/stored-event.ts";
import { isWanted } from "../watching/wanted-events.ts";
import { type DeliveryStore, type ErasedSubject, forgetSubject } from "./delivery-store.ts";
import { bodyOf } from "./message.ts";
import { type Lane, Places } from "./places.ts";
import { FAILURES_MAX } from "./retry-schedule.ts";
import type { Send, Sent } from "./sender.ts";
import { type Parcel, Subscription } from "./subscription.ts";
import { Unsaved, type UnsavedBatch } from "./unsaved.ts";

/*
 * Sends events to webhooks, at least once. Each webhook has a cursor in the events of its app (`subscription.ts`).
 * Whenever events are stored or a request ends, webhooks that may have something to send take turns. Requests to
 * receivers that fail have places of their own, so that they can't take those of the others.
 */

/** Requests under way at once to receivers that work. Each takes a socket and some 50 KB. */
const SENDING_MAX = 192;
/** Requests under way at once to receivers that failed last. */
const PROBING_MAX = 64;

/** Events that are read at once. */
const READ_MAX = 64;

/** Webhooks whose cursors are looked up in one turn at the start. */
const BEGIN_MAX = 100;

/** Work that goes on in one turn of the event loop. */
const TURN_MS_MAX = 4;

const SAVE_MS = 1000;
/** How long a stop waits for answers. */
const ENDING_MS = 1000;

const KEY_REVOKED = "the key that made it was revoked";

/** How long a webhook that is paused keeps its place. */
const PLACE_MS_MAX = 30 * 86_400_000;

export interface DeliveryDependencies {
  readonly events: Pick<EventStore, "after" | "find" | "lastSeq" | "onAppended">;
  readonly store: DeliveryStore;
  readonly webhooks: WebhookStore;
  readonly send: Send;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Whether the webhook was ended together with the key that made it. */
  isRevoked(webhookId: string): boolean;
  /** Sets the state of a webhook; false if that is not possible now. */
  suspend(webhook: Webhook, state: WebhookState, reason: string): Promise<boolean>;
  /** Set on a node of a cluster: what it sends is known to all nodes by the log. */
  readonly sharing?: DeliverySharing;
  /** Called with a sentence for the operator. */
  onNote(note: string): void;
  /** From 0 to 1. */
  random?(): number;
}

export interface DeliverySharing {
  /** Whether this node is still the one that sends. */
  mayDeliver(): boolean;
  /**
   * Resolves once the database has it, on this node; with false if that is not possible now. Without a term, the
   * webhooks go on from these cursors.
   */
  keep(
    term: number | null,
    cursors: readonly SavedCursor[],
    deliveries: readonly Delivery[],
  ): Promise<boolean>;
}

export interface DeliveryMeters {
  /** Requests since the start. */
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Webhooks that are neither paused nor disabled. */
  readonly active: number;
  /** Webhooks whose receivers fail. */
  readonly failing: number;
}

export class WebhookDelivery {
  readonly #dependencies: DeliveryDependencies;
  readonly #lanes = new Map<string, Lane>();
  readonly #sending = new Places(SENDING_MAX);
  readonly #probing = new Places(PROBING_MAX);
  readonly #pages: EventPages;
  readonly #bodies = new WeakMap<StoredEvent, string>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #counts = { delivered: 0, failed: 0, rejected: 0, parked: 0 };
  readonly #unsaved = new Unsaved();
  #hasFault = false;
  /** Whether lanes are not in line that may have something to send, because the database failed. */
  #mustLookAgain = false;
  /** Whether active webhooks may have no lane, for the same reason. */
  #mustContinue = false;
  #pumping: Promise<void> | null = null;
  #saving: Promise<void> = Promise.resolve();
  #isRunning = false;
  /** That of the node's lease; null while another node sends. */
  #term: number | null = null;
  #cancelTick = () => {};
  #ignoreAppended = () => {};

  constructor(dependencies: DeliveryDependencies) {
    this.#dependencies = dependencies;
    this.#pages = new EventPages(dependencies.events, READ_MAX);
    dependencies.webhooks.watch((former, webhook) => this.#tryNoteChange(former, webhook));
  }

  get meters(): DeliveryMeters {
    const lanes = [...this.#lanes.values()];
    const failing = lanes.filter(({ subscription }) => subscription.failing !== null).length;
    return { outcomes: this.#counts, active: lanes.length, failing };
  }

  /** May be called again after a stop. A node of a cluster tells the term of its lease. */
  start(term = 0): void {
    const { events } = this.#dependencies;
    this.#isRunning = true;
    this.#term = term;
    void this.#continueAll();
    this.#ignoreAppended = events.onAppended((appIds) => {
      this.#pages.clear();
      for (const lane of this.#lanes.values()) if (appIds.has(lane.webhook.appId)) this.#enqueue(lane);
      this.#pump();
    });
    this.#tick();
  }

  /** Begins with all active webhooks that have no lane yet. */
  async #continueAll(): Promise<void> {
    this.#mustContinue = false;
    try {
      await this.#continueInSteps();
    } catch (error) {
      this.#noteFault(error);
      this.#mustContinue = true;
    }
  }

  async #continueInSteps(): Promise<void> {
    for (const [index, { appId, id }] of [...this.#dependencies.webhooks.all()].entries()) {
      if (index % BEGIN_MAX === BEGIN_MAX - 1) await nextTurn();
      if (!this.#isRunning) return;
      // It may have changed meanwhile.
      const webhook = this.#dependencies.webhooks.find(appId, id);
      if (webhook?.state === "active" && !this.#lanes.has(id)) this.#continue(webhook);
    }
  }

  /** Ends the requests that are under way, and writes where each webhook is. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#ignoreAppended();
    this.#cancelTick();
    // What a receiver is about to acknowledge need not be sent again.
    const work = Promise.all([this.#pumping, ...this.#underWay]);
    await atMost(this.#dependencies.timers, ENDING_MS, work);
    for (const { ending } of this.#lanes.values()) ending.abort();
    await work;
    await this.save();
    if (this.#isRunning) return;
    this.#lanes.clear();
    for (const { ready } of [this.#sending, this.#probing]) ready.clear();
    this.#unsaved.forgetPlaces();
    this.#term = null;
  }

  /** Resolves once the cursors are in the database, and so are the requests that ended before. */
  save(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#write());
    return this.#saving;
  }

  /** Whether the receiver of an active webhook fails, and when it is tried again. */
  findFailing(webhookId: string): Failing | null {
    const { sharing, store } = this.#dependencies;
    if (sharing !== undefined && !this.#isRunning) return store.findCursor(webhookId)?.failing ?? null;
    return this.#lanes.get(webhookId)?.subscription.failing ?? null;
  }

  /** Sends again what was made at this time or later. False if that can't be written now. */
  async rewind(webhook: Webhook, madeMs: number): Promise<boolean> {
    const { sharing, store, events } = this.#dependencies;
    const seq = store.positionBefore(webhook.appId, madeMs, events.lastSeq());
    const cursor = { webhookId: webhook.id, seq, failing: null };
    if (sharing !== undefined) return sharing.keep(null, [cursor], []);
    if (this.#lanes.has(webhook.id)) this.#begin(webhook, cursor);
    else store.save([cursor], []);
    return true;
  }

  /** A client has moved webhooks, by any node of a cluster. */
  noteMoved(cursors: readonly SavedCursor[]): void {
    for (const cursor of cursors) {
      const lane = this.#lanes.get(cursor.webhookId);
      if (lane !== undefined) this.#begin(lane.webhook, cursor);
    }
  }

  /** Notes a request, also one that was sent outside the order. */
  note(delivery: Delivery): void {
    this.#counts[delivery.outcome]++;
    if (this.#unsaved.add(delivery) || !this.#isRunning) void this.save();
  }

  /** Forgets the requests about an erased subject. */
  async forgetSubject(subject: ErasedSubject): Promise<void> {
    await this.save();
    await forgetSubject(this.#dependencies.store, subject);
  }

  /** Entries of the log are applied whatever happens here. */
  #tryNoteChange(former: Webhook | null, webhook: Webhook | null): void {
    try {
      this.#noteChange(former, webhook);
    } catch (error) {
      this.#noteFault(error);
      this.#mustContinue = true;
    }
  }

  #noteChange(former: Webhook | null, webhook: Webhook | null): void {
    const id = (webhook ?? former)!.id;
    const lane = this.#lanes.get(id);
    if (webhook === null) {
      this.#drop(id);
      void this.#forget(id);
    } else if (!this.#isRunning) return;
    else if (webhook.state !== "active") this.#drop(id);
    else if (lane === undefined) this.#beginNew(former, webhook);
    else {
      // A client that sets another URL, or resumes it, wants it to be tried at once.
      if (webhook.url !== lane.webhook.url || webhook.stateMs !== lane.webhook.stateMs)
        lane.subscription.retry();
      lane.webhook = webhook;
      this.#enqueue(lane);
      this.#pump();
    }
  }

  /** A webhook that was made now, or resumed. */
  #beginNew(former: Webhook | null, webhook: Webhook): void {
    if (former?.state === "active") {
      this.#continue(webhook); // The start did not come to it yet.
      return;
    }
    const { store, events, clock } = this.#dependencies;
    const hasPlace = former?.state === "paused" && clock.nowMs() - former.stateMs < PLACE_MS_MAX;
    const place = hasPlace ? (this.#unsaved.find(webhook.id) ?? store.findCursor(webhook.id)) : null;
    this.#begin(webhook, { webhookId: webhook.id, seq: place?.seq ?? events.lastSeq(), failing: null });
  }

  /** A webhook of the time before the start. Without a cursor, none of its events may be left out. */
  #continue(webhook: Webhook): void {
    const { store, events } = this.#dependencies;
    const saved = store.findCursor(webhook.id);
    const first = () => store.positionBefore(webhook.appId, webhook.createdMs, events.lastSeq());
    this.#begin(webhook, saved ?? { webhookId: webhook.id, seq: first(), failing: null });
  }

  #begin(webhook: Webhook, cursor: SavedCursor): void {
    this.#drop(webhook.id);
    this.#unsaved.forget(webhook.id);
    const subscription = new Subscription(cursor.seq, cursor.failing);
    const lane = { webhook, subscription, ending: new AbortController(), saved: null };
    this.#lanes.set(webhook.id, lane);
    this.#enqueue(lane);
    this.#pump();
    void this.save();
  }

  #drop(id: string): void {
    const lane = this.#lanes.get(id);
    if (lane === undefined) return;
    this.#lanes.delete(id);
    lane.ending.abort();
    for (const { ready } of [this.#sending, this.#probing]) ready.delete(lane);
    const { cursor, failing } = lane.subscription;
    this.#unsaved.leave({ webhookId: id, seq: cursor, failing });
  }

  async #forget(id: string): Promise<void> {
    await this.save(); // Nothing of it is on the way to the database any more.
    try {
      while (this.#dependencies.store.forgetWebhook(id)) await nextTurn();
    } catch (error) {
      this.#noteFault(error); // It stays in the database, and no answer shows it.
    }
  }

  #enqueue(lane: Lane): void {
    (lane.subscription.failing === null ? this.#sending : this.#probing).ready.add(lane);
  }

  #pump(): void {
    if (this.#pumping !== null || !this.#isRunning) return;
    this.#pumping = this.#takeTurns();
  }

  async #takeTurns(): Promise<void> {
    await Promise.resolve(); // The caller may be in the middle of something.
    let turnMs = performance.now();
    try {
      while (this.#isRunning && this.#dependencies.sharing?.mayDeliver() !== false) {
        const places = this.#sending.hasNext ? this.#sending : this.#probing;
        const lane = places.take();
        if (lane === null) break;
        this.#advance(lane, places);
        if (performance.now() - turnMs < TURN_MS_MAX) continue;
        await nextTurn();
        turnMs = performance.now();
      }
    } catch (error) {
      this.#noteFault(error);
      this.#mustLookAgain = true;
    }
    this.#pumping = null;
  }

  /** Reads events for a lane, and sends one. */
  #advance(lane: Lane, places: Places): void {
    const { webhook, subscription } = lane;
    if (this.#lanes.get(webhook.id) !== lane) return;
    const { clock, random = Math.random } = this.#dependencies;
    const { readFrom } = subscription;
    const page = readFrom === null ? [] : this.#pages.after(webhook.appId, readFrom);
    const last = page.at(-1);
    if (last !== undefined)
      subscription.add(
        page.filter((stored) => isWanted(webhook, stored)),
        last.seq,
      );
    const nowMs = clock.nowMs();
    const parcel = subscription.take(nowMs);
    if (parcel !== null || page.length === READ_MAX) places.ready.add(lane);
    if (parcel === null) return;
    // A later revision may have taken its place, or it was erased.
    if (this.#isCurrent(subscription, parcel)) this.#start(lane, parcel, places);
    else subscription.settle(parcel, { kind: "void" }, nowMs, random());
  }

  #isCurrent(subscription: Subscription, parcel: Parcel): boolean {
    const { appId, event, seq } = parcel.stored;
    try {
      return this.#dependencies.events.find(appId, event.id)?.seq === seq;
    } catch (error) {
      subscription.putBack(parcel);
      throw error;
    }
  }

  #start(lane: Lane, parcel: Parcel, places: Places): void {
    places.running++;
    const delivering = this.#deliver(lane, parcel).catch((error) => this.#noteFault(error));
    const work = delivering.finally(() => {
      places.running--;
      this.#underWay.delete(work);
      if (this.#lanes.get(lane.webhook.id) === lane) this.#enqueue(lane);
      this.#pump();
    });
    this.#underWay.add(work);
  }

  async #deliver(lane: Lane, parcel: Parcel): Promise<void> {
    const { send, clock, events, random = Math.random } = this.#dependencies;
    const { webhook, subscription } = lane;
    const { appId, event, revision } = parcel.stored;
    const message = { id: `${event.id}_${revision}`, body: this.#bodyOf(parcel.stored) };
    const request = await send(webhook, message, lane.ending.signal);
    if (lane.ending.signal.aborted) return; // It is sent again, should the webhook go on.
    const { verdict, retryAfterMs } = request;
    const kind = verdict === "gone" ? "failed" : verdict;
    const consequence = subscription.settle(parcel, { kind, retryAfterMs }, clock.nowMs(), random());
    if (events.find(appId, event.id) !== null) {
      const outcome = consequence === "parked" ? "parked" : kind;
      this.note({ ...deliveryOf(webhook, request, outcome), ...subjectOf(parcel.stored) });
    }
    if (verdict === "gone") await this.#suspend(lane, "disabled", goneReason(request));
    else if (consequence === "exhausted")
      await this.#suspend(lane, "paused", `its receiver failed ${FAILURES_MAX} times in a row`);
  }

  /** Until the log has it, the receiver is tried now and then. */
  async #suspend({ webhook }: Lane, state: WebhookState, reason: string): Promise<void> {
    const { suspend, onNote } = this.#dependencies;
    const { id, appId, url } = webhook;
    if (await suspend(webhook, state, reason))
      onNote(`The webhook ${id} of the app ${appId}, to ${originOf(url)}, is ${state}: ${reason}.`);
  }

  #bodyOf(stored: StoredEvent): string {
    let body = this.#bodies.get(stored);
    if (body === undefined) {
      body = bodyOf(stored.event.kind, stored.event.timestampMs, presentEvent(stored));
      this.#bodies.set(stored, body);
    }
    return body;
  }

  #tick(): void {
    const { clock, timers, isRevoked } = this.#dependencies;
    this.#cancelTick = timers.after(SAVE_MS, () => {
      const nowMs = clock.nowMs();
      if (this.#mustContinue) void this.#continueAll();
      const all = this.#mustLookAgain;
      this.#mustLookAgain = false;
      for (const lane of this.#lanes.values()) {
        if (isRevoked(lane.webhook.id)) void this.#suspend(lane, "disabled", KEY_REVOKED);
        else if (all || (lane.subscription.dueMs ?? Number.POSITIVE_INFINITY) <= nowMs) this.#enqueue(lane);
      }
      this.#pump();
      void this.save();
      this.#tick();
    });
  }

  async #write(): Promise<void> {
    try {
      for (;;) {
        const batch = this.#unsaved.next(this.#lanes.values());
        if (batch === null) break;
        if (!(await this.#keep(batch))) {
          this.#unsaved.forgetOldest();
          return;
        }
        batch.done();
        await nextTurn();
      }
      if (!this.#mustLookAgain) this.#hasFault = false;
    } catch (error) {
      this.#noteFault(error);
      this.#unsaved.forgetOldest();
    }
  }

  /** False if it can't be written now. */
  async #keep({ cursors, deliveries }: UnsavedBatch): Promise<boolean> {
    const { sharing, store } = this.#dependencies;
    if (sharing !== undefined) return sharing.keep(this.#term, cursors, deliveries);
    store.save(cursors, deliveries);
    return true;
  }

  /** The database failed. What was under way is in memory, and the next second tries again. */
  #noteFault(error: unknown): void {
    if (!isDatabaseFailure(error)) throw error;
    if (!this.#hasFault)
      this.#dependencies.onNote(`Webhooks wait for the database of events: ${messageOf(error)}`);
    this.#hasFault = true;
  }
}

function goneReason({ status, answer }: Sent): string {
  return status === null ? answer : `its receiver answered ${status} Gone`;
}

/** What is kept of a request about no event. */
export function deliveryOf(
  { id: webhookId, appId }: Webhook,
  { atMs, status, latencyMs, answer }: Sent,
  outcome: Outcome,
): Delivery {
  const about = { eventId: null, revision: 0, deviceId: null, userId: null };
  return { webhookId, appId, ...about, atMs, outcome, status, latencyMs, answer };
}

export function subjectOf({ event, revision }: StoredEvent) {
  return { eventId: event.id, revision, deviceId: event.deviceId, userId: event.userId };
}

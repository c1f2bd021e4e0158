import { assert } from "../../lib/assert.ts";
import type { Failing } from "../../model/webhooks/delivery.ts";
import type { StoredEvent } from "../watching/stored-event.ts";
import { failureWaitMs, rejectionWaitMs } from "./retry-schedule.ts";

/*
 * Where one webhook is among the events of its app, and what it may send next. It decides and does nothing itself.
 *
 * The cursor is the position up to which all events are settled. Behind it lie some events that were read: those of
 * different devices are under way at the same time, those of one device one after the other. After a crash, what was
 * settled behind the cursor is sent again.
 */

/** Events that are read ahead. */
const WINDOW_MAX = 64;
/** Requests under way at once. The first ones after a failure are fewer. */
const SENDING_MAX = 8;

/** How long a webhook that is exhausted waits to be paused, before it is tried once more. */
const EXHAUSTED_WAIT_MS = 60_000;

/** An event on its way. */
export interface Parcel {
  readonly stored: StoredEvent;
  state: "waiting" | "sending" | "settled";
  rejections: number;
  /** Not before this time. */
  notBeforeMs: number;
}

export type Verdict =
  /** The receiver took it, does not work now, or does not want this event. */
  | { readonly kind: "delivered" | "failed" | "rejected"; readonly retryAfterMs: number }
  /** The event is not sent any more: a later revision follows, or it was erased. */
  | { readonly kind: "void" };

/** What follows from a verdict, beside a later attempt. */
export type Consequence = "none" | "parked" | "exhausted";

export class Subscription {
  readonly #window: Parcel[] = [];
  #readTo: number;
  #failing: Failing | null;
  #sending = 0;
  #sendingMax: number;

  constructor(cursor: number, failing: Failing | null) {
    this.#readTo = cursor;
    this.#failing = failing;
    this.#sendingMax = failing === null ? SENDING_MAX : 1;
  }

  /** All events up to this position are settled. */
  get cursor(): number {
    const first = this.#window[0];
    return first === undefined ? this.#readTo : first.stored.seq - 1;
  }

  get failing(): Failing | null {
    return this.#failing;
  }

  get sending(): number {
    return this.#sending;
  }

  /** The position behind which events are to be read; null if there are enough. To try a receiver, one is. */
  get readFrom(): number | null {
    const max = this.#failing === null ? WINDOW_MAX : 1;
    return this.#window.length < max ? this.#readTo : null;
  }

  /** Events that are in memory. */
  get held(): number {
    return this.#window.length;
  }

  /** Adds events that are to be sent, of those that were read up to this position. */
  add(events: readonly StoredEvent[], readTo: number): void {
    for (const stored of events)
      this.#window.push({ stored, state: "waiting", rejections: 0, notBeforeMs: 0 });
    this.#readTo = readTo;
  }

  /** When a parcel that waits for a time may be sent; null if none waits for a time. */
  get dueMs(): number | null {
    if (this.#failing !== null) return this.#failing.nextMs;
    const times = this.#window.filter(({ state }) => state === "waiting").map((parcel) => parcel.notBeforeMs);
    const next = Math.min(...times.filter((time) => time > 0));
    return next === Number.POSITIVE_INFINITY ? null : next;
  }

  /** The next parcel, which counts as under way; null if none may be sent now. */
  take(nowMs: number): Parcel | null {
    if (this.#sending >= this.#sendingMax) return null;
    if (this.#failing !== null && (nowMs < this.#failing.nextMs || this.#sending > 0)) return null;
    const parcel = this.#findNext(nowMs);
    if (parcel === null) return null;
    parcel.state = "sending";
    this.#sending++;
    return parcel;
  }

  #findNext(nowMs: number): Parcel | null {
    const busy = new Set<string>();
    for (const parcel of this.#window) {
      const { deviceId } = parcel.stored.event;
      if (parcel.state === "settled" || busy.has(deviceId)) continue;
      if (parcel.state === "waiting" && parcel.notBeforeMs <= nowMs) return parcel;
      busy.add(deviceId);
    }
    return null;
  }

  /** Takes a parcel back that was not sent. */
  putBack(parcel: Parcel): void {
    parcel.state = "waiting";
    this.#sending--;
  }

  /** Tries a receiver that fails at once. */
  retry(): void {
    this.#failing = null;
    for (const parcel of this.#window) parcel.notBeforeMs = 0;
  }

  settle(parcel: Parcel, verdict: Verdict, nowMs: number, random: number): Consequence {
    assert(parcel.state === "sending", "a parcel that is under way is settled");
    parcel.state = "waiting";
    this.#sending--;
    switch (verdict.kind) {
      case "delivered":
        this.#failing = null;
        this.#sendingMax = Math.min(2 * this.#sendingMax, SENDING_MAX);
        this.#finish(parcel);
        return "none";
      case "void":
        this.#finish(parcel);
        return "none";
      case "rejected":
        this.#failing = null;
        return this.#reject(parcel, nowMs);
      case "failed":
        return this.#fail(verdict.retryAfterMs, nowMs, random);
    }
  }

  #finish(parcel: Parcel): void {
    parcel.state = "settled";
    let settled = 0;
    while (this.#window[settled]?.state === "settled") settled++;
    this.#window.splice(0, settled);
  }

  #reject(parcel: Parcel, nowMs: number): Consequence {
    const waitMs = rejectionWaitMs(++parcel.rejections);
    if (waitMs === null) {
      this.#finish(parcel);
      return "parked";
    }
    parcel.notBeforeMs = nowMs + waitMs;
    return "none";
  }

  /** Forgets events that can be read again: thousands of webhooks may fail for days. */
  #shrink(): void {
    const lastBegun = this.#window.findLastIndex(({ state }) => state !== "waiting");
    this.#window.splice(Math.max(lastBegun, 0) + 1);
    this.#readTo = this.#window.at(-1)?.stored.seq ?? this.#readTo;
  }

  /** Counts one failure of requests that were under way together. */
  #fail(retryAfterMs: number, nowMs: number, random: number): Consequence {
    const failures = this.#failing?.failures ?? 0;
    if (this.#failing !== null && nowMs < this.#failing.nextMs) return "none";
    this.#sendingMax = 1;
    this.#shrink();
    const waitMs = failureWaitMs(failures + 1, retryAfterMs, random);
    if (waitMs === null) {
      this.#failing = { failures, nextMs: nowMs + EXHAUSTED_WAIT_MS };
      return "exhausted";
    }
    this.#failing = { failures: failures + 1, nextMs: nowMs + waitMs };
    return "none";
  }
}

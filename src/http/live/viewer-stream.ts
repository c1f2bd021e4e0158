import type { Timers } from "../../lib/schedule/timers.ts";
import type { Viewer } from "../../service/live/live.ts";
import type { Sendable } from "../answer/piecewise.ts";
import { beat, beginning } from "./live-events.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Proxies, and Bun, close a connection that is silent for a minute or so. */
const BEAT_MS = 15_000;

export interface ViewerStreamOptions {
  readonly viewer: Viewer;
  /** An event was told to its end. */
  readonly onEvent: () => void;
  /** Called once, however the stream ends. */
  readonly onEnd: () => void;
  readonly timers: Timers;
}

/**
 * What one viewer is sent. The next piece is asked for when its connection has room for it, so of who takes nothing one
 * piece is held at most.
 */
export class ViewerStream implements Sendable {
  readonly #viewer: Viewer;
  readonly #onEvent: () => void;
  readonly #onEnd: () => void;
  readonly #timers: Timers;
  /** What was asked of the viewer and is not sent yet. */
  #coming: Promise<Bytes | null> | null = null;
  #hasCome = false;
  /** Gives the connection what it waits for. */
  #send: ((piece: Bytes | null | Promise<Bytes | null>) => void) | null = null;
  #isOver = false;
  #askedMs: number;

  constructor({ viewer, onEvent, onEnd, timers }: ViewerStreamOptions) {
    this.#viewer = viewer;
    this.#onEvent = onEvent;
    this.#onEnd = onEnd;
    this.#timers = timers;
    this.#askedMs = timers.nowMs();
  }

  async *pieces(): AsyncIterable<Bytes> {
    try {
      let piece = this.#isOver ? null : beginning(this.#viewer.toldSequence);
      for (; piece !== null; piece = await this.#next()) yield piece;
    } finally {
      this.close();
    }
  }

  /** For how long the connection has had no room for more. */
  stalledMs(): number {
    return this.#send === null ? this.#timers.nowMs() - this.#askedMs : 0;
  }

  /** Ends the stream behind what was sent; what was not is given up. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#viewer.close();
    this.#send?.(null);
    this.#onEnd();
  }

  /** The next piece, or a beat where none comes for long; null at the end. */
  async #next(): Promise<Bytes | null> {
    if (this.#isOver) return null;
    this.#askedMs = this.#timers.nowMs();
    const { promise, resolve } = Promise.withResolvers<Bytes | null>();
    this.#send = resolve;
    let isBeat = false;
    const stopQuiet = this.#timers.after(BEAT_MS, () => {
      isBeat = !this.#viewer.isWithinEvent;
      if (isBeat) resolve(beat(this.#viewer.toldSequence));
    });
    if (this.#coming === null) this.#ask();
    else if (this.#hasCome) resolve(this.#coming);
    try {
      const piece = await promise;
      if (isBeat) return piece;
      this.#coming = null;
      if (piece !== null && !this.#viewer.isWithinEvent) this.#onEvent();
      return piece;
    } finally {
      stopQuiet();
      this.#send = null;
      this.#askedMs = this.#timers.nowMs();
    }
  }

  /** Many beats may come before the one piece, and to wait for both each time would pile up on the piece. */
  #ask(): void {
    const coming = this.#viewer.next();
    const come = () => {
      this.#hasCome = true;
      this.#send?.(coming);
    };
    this.#coming = coming;
    this.#hasCome = false;
    coming.then(come, come);
  }
}

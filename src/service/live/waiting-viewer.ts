import { assert } from "../../lib/assert.ts";
import type { Viewer } from "./live.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** What a feed is told of its viewers. */
export interface WaitingEvents<Waiting> {
  /** The viewer waits for its next part. */
  wanted(viewer: Waiting): void;
  closed(viewer: Waiting): void;
}

/** The part of a viewer that waits until its feed gives it something. */
export abstract class WaitingViewer implements Viewer {
  abstract readonly sentSequence: number;
  abstract readonly isWithinEvent: boolean;
  readonly #on: WaitingEvents<WaitingViewer>;
  #waiting: PromiseWithResolvers<Bytes | null> | null = null;
  #isClosed = false;

  constructor(on: WaitingEvents<WaitingViewer>) {
    this.#on = on;
  }

  get isWaiting(): boolean {
    return this.#waiting !== null;
  }

  next(): Promise<Bytes | null> {
    assert(this.#waiting === null, "a viewer waits for one part at a time");
    if (this.#isClosed) return Promise.resolve(null);
    this.#waiting = Promise.withResolvers();
    const { promise } = this.#waiting;
    this.#on.wanted(this);
    return promise;
  }

  give(bytes: Bytes): void {
    this.#end()?.resolve(bytes);
  }

  /** Closes the viewer after a bug, or a failure of the disk. */
  fail(error: unknown): void {
    const waiting = this.#end();
    this.close();
    waiting?.reject(error);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#end()?.resolve(null);
    this.#on.closed(this);
  }

  #end(): PromiseWithResolvers<Bytes | null> | null {
    const waiting = this.#waiting;
    this.#waiting = null;
    return waiting;
  }
}

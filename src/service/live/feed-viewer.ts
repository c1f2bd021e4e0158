import { assert } from "../../lib/assert.ts";
import type { Event } from "./event.ts";
import type { EventWriter, Viewer, ViewerQuery } from "./live.ts";
import { ToldRecords } from "./told-records.ts";
import { ViewerFilter } from "./viewer-filter.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Older than any position: what came since then is not known. */
const LOST = -1;

/** A viewer as its feed knows it: how far it was told, and whether it wants to be told more. */
export class FeedViewer implements Viewer {
  readonly filter: ViewerFilter;
  /** Null where every change is told. */
  readonly told: ToldRecords | null;
  /** Wants the same as everybody who wants everything. */
  readonly seesAll: boolean;
  readonly writer: EventWriter;
  /** The position of the first change that it was not told of. */
  cursor: number;
  /** What it was told the beginning of. */
  event: Event | null = null;
  toldSequence = 0;
  readonly #onWanted: (viewer: FeedViewer) => void;
  readonly #onClosed: (viewer: FeedViewer) => void;
  #waiting: PromiseWithResolvers<Bytes | null> | null = null;
  #isClosed = false;

  constructor(
    query: ViewerQuery,
    writer: EventWriter,
    cursor: number | null,
    on: { wanted(viewer: FeedViewer): void; closed(viewer: FeedViewer): void },
  ) {
    const { box, deviceIds, userId, view } = query;
    this.filter = new ViewerFilter(query);
    this.told = view === null || view.isExact ? null : new ToldRecords(view);
    this.seesAll = box === null && deviceIds === null && userId === null && view === null;
    this.writer = writer;
    this.cursor = cursor ?? LOST;
    this.#onWanted = on.wanted;
    this.#onClosed = on.closed;
  }

  get isWaiting(): boolean {
    return this.#waiting !== null;
  }

  get isWithinEvent(): boolean {
    return this.event !== null;
  }

  next(): Promise<Bytes | null> {
    assert(this.#waiting === null, "a viewer waits for one part at a time");
    if (this.#isClosed) return Promise.resolve(null);
    this.#waiting = Promise.withResolvers();
    const { promise } = this.#waiting;
    this.#onWanted(this);
    return promise;
  }

  /** What it knows is nothing to go on from. */
  lose(): void {
    this.cursor = LOST;
  }

  give(bytes: Bytes): void {
    this.#end()?.resolve(bytes);
  }

  /** It could not be told, by our fault. */
  fail(error: unknown): void {
    const waiting = this.#end();
    this.close();
    waiting?.reject(error);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#end()?.resolve(null);
    this.#onClosed(this);
  }

  #end(): PromiseWithResolvers<Bytes | null> | null {
    const waiting = this.#waiting;
    this.#waiting = null;
    return waiting;
  }
}

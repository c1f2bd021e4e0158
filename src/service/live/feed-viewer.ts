import type { AppDevices } from "../../hot/app-devices.ts";
import { assert } from "../../lib/assert.ts";
import type { Changes, EventWriter, Viewer, ViewerQuery } from "./live.ts";
import { ToldRecords, ViewerFilter } from "./viewer-filter.ts";

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

/** Some 100 kB of text: what is made for a viewer before it has taken what was made before. */
const PART_RECORDS_MAX = 256;

/** What a viewer is told at once, in parts that are made when they are asked for. */
export class Event {
  readonly sequence: number;
  readonly #app: AppDevices;
  readonly #told: ToldRecords | null;
  /** The position of the app's next change when the devices were found. */
  readonly #foundAt: number;
  #devices: Uint32Array;
  #isBegun = false;
  #isOver = false;

  /** Of the devices those that `told` has news of, where it is not null. */
  constructor(app: AppDevices, devices: Uint32Array, sequence: number, told: ToldRecords | null) {
    this.#app = app;
    this.#told = told;
    this.#devices = told?.findNews(app, devices) ?? devices;
    this.sequence = sequence;
    this.#foundAt = app.changes.end;
  }

  /** Whether there is nothing to tell. */
  get isEmpty(): boolean {
    return this.#devices.length === 0;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Records are shown as they are now, which may be newer than the event. */
  nextPart(): Changes {
    const { changes, newestRecords } = this.#app;
    // Devices went, and numbers may be others': the event ends with what was told, and a reset follows.
    if (changes.clearedAt > this.#foundAt) this.#devices = this.#devices.subarray(0, 0);
    const told = this.#told;
    const isFirst = !this.#isBegun;
    // What was news may have become what the viewer knows while the parts before were on their way.
    if (told !== null && !isFirst) this.#devices = told.findNews(this.#app, this.#devices);
    const devices = this.#devices.subarray(0, PART_RECORDS_MAX);
    told?.note(this.#app, devices);
    this.#devices = this.#devices.subarray(PART_RECORDS_MAX);
    this.#isBegun = true;
    this.#isOver = this.#devices.length === 0;
    return { records: newestRecords, devices, isFirst, isLast: this.#isOver, sequence: this.sequence };
  }
}

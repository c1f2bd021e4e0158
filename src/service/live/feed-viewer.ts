import type { AppDevices } from "../../hot/app-devices.ts";
import type { Selected } from "./change-batch.ts";
import type { Changes, EventWriter, ViewerQuery } from "./live.ts";
import { ViewerFilter, ViewerRecords } from "./viewer-filter.ts";
import { type WaitingEvents, WaitingViewer } from "./waiting-viewer.ts";

/** Before all positions: the changes since then are unknown. */
const LOST = -1;

/** A viewer's progress in its feed. */
export class FeedViewer extends WaitingViewer {
  readonly filter: ViewerFilter;
  /** Null for a viewer that gets every change. */
  readonly records: ViewerRecords | null;
  /** Whether the viewer has no filter, and shares events with its like. */
  readonly seesAll: boolean;
  readonly writer: EventWriter;
  /** The position of the first change that was not sent. */
  cursor: number;
  /** The event that is being sent. */
  event: Event | null = null;
  sentSequence = 0;

  constructor(query: ViewerQuery, writer: EventWriter, cursor: number | null, on: WaitingEvents<FeedViewer>) {
    super({ wanted: () => on.wanted(this), closed: () => on.closed(this) });
    const { box, deviceIds, userId, view } = query;
    this.filter = new ViewerFilter(query);
    this.records = view === null || view.isExact ? null : new ViewerRecords(view);
    this.seesAll = box === null && deviceIds === null && userId === null && view === null;
    this.writer = writer;
    this.cursor = cursor ?? LOST;
  }

  get isWithinEvent(): boolean {
    return this.event !== null;
  }

  /** Forces a reset, because the viewer's state is unusable. */
  lose(): void {
    this.cursor = LOST;
  }
}

/** About 100 kB of text, which is written before the viewer has taken the part before. */
const PART_RECORDS_MAX = 256;

/** An event in parts, each written when it is requested. */
export class Event {
  readonly sequence: number;
  readonly #app: AppDevices;
  readonly #viewerRecords: ViewerRecords | null;
  /** The position of the app's next change when the devices were selected. */
  readonly #foundAt: number;
  #devices: Uint32Array;
  #removed: Uint32Array;
  #isBegun = false;
  #isOver = false;

  /** With `viewerRecords`, only the devices that differ from them are sent. */
  constructor(
    app: AppDevices,
    { devices, removed, sequence }: Omit<Selected, "end">,
    viewerRecords: ViewerRecords | null,
  ) {
    this.#app = app;
    this.#viewerRecords = viewerRecords;
    this.#devices = viewerRecords?.findNews(app, devices) ?? devices;
    this.#removed = removed;
    this.sequence = sequence;
    this.#foundAt = app.changes.end;
  }

  /** Whether there is nothing to send. */
  get isEmpty(): boolean {
    return this.#devices.length + this.#removed.length === 0;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Sends records as they are now, which may be newer than the event. */
  nextPart(): Changes {
    const { changes, newestRecords, newestTimes } = this.#app;
    const viewerRecords = this.#viewerRecords;
    // Devices were removed, and their numbers may be reused: the event ends here, and a reset follows.
    if (changes.clearedAt > this.#foundAt) {
      this.#devices = this.#devices.subarray(0, 0);
      this.#removed = this.#removed.subarray(0, 0);
    }
    // A later change is about those that went, or came back, since they were selected.
    const isThere = (device: number) => newestTimes.of(device) > Number.NEGATIVE_INFINITY;
    if (this.#app.changes.end > this.#foundAt) this.#devices = this.#devices.filter(isThere);
    const removed = this.#removed;
    this.#removed = removed.subarray(0, 0);
    viewerRecords?.forget(this.#app, removed);
    const isFirst = !this.#isBegun;
    // The device may have returned to the viewer's state while the former parts were sent.
    if (viewerRecords !== null && !isFirst) this.#devices = viewerRecords.findNews(this.#app, this.#devices);
    const devices = this.#devices.subarray(0, PART_RECORDS_MAX);
    viewerRecords?.note(this.#app, devices);
    this.#devices = this.#devices.subarray(PART_RECORDS_MAX);
    this.#isBegun = true;
    this.#isOver = this.#devices.length === 0;
    return {
      records: newestRecords,
      devices,
      removed,
      isFirst,
      isLast: this.#isOver,
      sequence: this.sequence,
    };
  }
}

import { View, type ViewSpec } from "../../../../src/auth/view.ts";
import { nextTurn } from "../../../../src/lib/schedule/timers.ts";
import { BoundingBox } from "../../../../src/model/geo/bounding-box.ts";
import type { AppId, UserId } from "../../../../src/model/ids.ts";
import type { Changes, EventWriter, Live, Viewer, ViewerQuery } from "../../../../src/service/live/live.ts";
import { recordsOf } from "../../../support/answers/page-records.ts";

/** A record as an answer shows it, with what clients go by. */
export interface ShownRecord {
  readonly device_id: string;
  readonly timestamp: number;
  readonly user_id?: string;
  readonly latitude: number;
  readonly longitude: number;
}

/** What a client asks for; what is null asks for everything. */
export interface Wish {
  readonly box: readonly [number, number, number, number] | null;
  readonly deviceIds: readonly string[] | null;
  readonly userId: string | null;
  /** What a share link shows. */
  readonly view: ViewSpec | null;
}

/** All current positions, as of now, and the entry of the log that they are of or newer. */
export interface Snapshot {
  readonly sequence: number;
  readonly records: readonly ShownRecord[];
}

/** Turns of the event loop in which a feed that has something to tell has begun to tell it. */
const TURNS_MAX = 6;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A record as a share link shows it. */
function shown(view: View, { device_id, timestamp, latitude, longitude }: ShownRecord): ShownRecord {
  return { device_id, timestamp: view.timeOf(timestamp), ...view.pointOf(latitude, longitude) };
}

/** Events as JSON: parts of one are joined by who reads them. */
function createWriter(view: View | null): EventWriter {
  return {
    changes({ records, devices, isLast, sequence }: Changes) {
      const exact: ShownRecord[] = Array.from(devices).flatMap(
        (device) => recordsOf(records.pageOf(device)) as never[],
      );
      const rows = view === null ? exact : exact.map((record) => shown(view, record));
      return encoder.encode(JSON.stringify({ rows, isLast, sequence }));
    },
    reset: (sequence) => encoder.encode(JSON.stringify({ reset: true, sequence })),
  };
}

/** A part of an event as the writer above wrote it. */
type Part =
  | { readonly reset: true; readonly sequence: number }
  | { readonly rows: readonly ShownRecord[]; readonly isLast: boolean; readonly sequence: number };

/** A client that does as the documentation says, with all that it knows. */
export class WatchingClient {
  readonly known = new Map<string, ShownRecord>();
  resets = 0;
  /** Records that said nothing new to a viewer that stayed. */
  repeats = 0;
  readonly #appId: AppId;
  readonly #live: Live;
  readonly #wish: Wish;
  readonly #view: View | null;
  readonly #writer: EventWriter;
  readonly #snapshot: () => Snapshot;
  #told = new Map<string, ShownRecord>();
  #viewer: Viewer;
  #pending: Promise<Uint8Array | null> | null = null;
  #rows: ShownRecord[] = [];
  #lastEventId: number;

  /** Begins with a snapshot. */
  constructor(appId: AppId, live: Live, wish: Wish, snapshot: () => Snapshot) {
    this.#appId = appId;
    this.#live = live;
    this.#wish = wish;
    this.#view = wish.view === null ? null : new View(wish.view);
    this.#writer = createWriter(this.#view);
    this.#snapshot = snapshot;
    this.#lastEventId = this.#takeSnapshot();
    this.#viewer = this.#open();
  }

  get isBlurred(): boolean {
    return this.#view !== null && !this.#view.isExact;
  }

  /** What it should know, of all records of the app as they are. */
  shownOf(records: readonly ShownRecord[]): readonly ShownRecord[] {
    const view = this.#view;
    if (view === null) return records.filter((record) => this.#matches(record));
    const { startMs } = view.rangeOf({ startMs: 0, endMs: Number.MAX_SAFE_INTEGER });
    return records
      .filter(({ device_id, timestamp }) => view.showsDevice(device_id) && timestamp >= startMs)
      .map((record) => shown(view, record))
      .filter((record) => this.#matches(record));
  }

  #matches(record: ShownRecord): boolean {
    const { box, deviceIds, userId } = this.#wish;
    if (box !== null && !new BoundingBox(...box).contains(record.latitude, record.longitude)) return false;
    return (
      (deviceIds === null || deviceIds.includes(record.device_id)) &&
      (userId === null || record.user_id === userId)
    );
  }

  /** Takes one part, where there is one; false where there is none for now. */
  async take(): Promise<boolean> {
    this.#pending ??= this.#viewer.next();
    let bytes: Uint8Array | null | undefined;
    void this.#pending.then((value) => {
      bytes = value;
    });
    for (let turn = 0; turn < TURNS_MAX && bytes === undefined; turn++) await nextTurn();
    if (bytes === undefined) return false;
    this.#pending = null;
    if (bytes !== null) this.#read(JSON.parse(decoder.decode(bytes)) as Part);
    return bytes !== null;
  }

  /** Goes away, and comes back with the id of the last whole event. */
  reconnect(): void {
    this.close();
    this.#rows = [];
    this.#told.clear();
    this.#viewer = this.#open();
  }

  close(): void {
    this.#viewer.close();
    this.#pending = null;
  }

  #open(): Viewer {
    const { box, deviceIds, userId } = this.#wish;
    const query: ViewerQuery = {
      sinceSequence: this.#lastEventId,
      box: box === null ? null : new BoundingBox(...box),
      deviceIds: deviceIds === null ? null : new Set(deviceIds),
      userId: userId as UserId | null,
      view: this.#view,
    };
    return this.#live.open(this.#appId, query, this.#writer);
  }

  #takeSnapshot(): number {
    const { sequence, records } = this.#snapshot();
    this.known.clear();
    this.#told.clear();
    for (const record of this.shownOf(records)) this.known.set(record.device_id, record);
    return sequence;
  }

  #read(part: Part): void {
    if ("reset" in part) {
      this.resets++;
      this.#takeSnapshot();
      this.#lastEventId = part.sequence;
      return;
    }
    this.#rows.push(...part.rows);
    if (!part.isLast) return;
    for (const record of this.#rows) {
      if (Bun.deepEquals(this.#told.get(record.device_id), record)) this.repeats++;
      this.#told.set(record.device_id, record);
      if (this.#matches(record)) this.known.set(record.device_id, record);
      else this.known.delete(record.device_id);
    }
    this.#rows = [];
    this.#lastEventId = part.sequence;
  }
}

import type { AppDevices } from "../../hot/app-devices.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import { grown } from "../../lib/tables/columns.ts";
import type { EventWriter } from "./live.ts";
import { devicesOf, type ViewerFilter } from "./viewer-filter.ts";

/** Changes that many viewers are told of, looked up once for all of them. */

/** To look up so many takes well under a millisecond. */
const CHANGES_MAX = 8192;
/** Of one event. */
export const RECORDS_MAX = 5000;

/** Which devices a viewer is told of, and which changes it has heard of then. */
export interface Selected {
  readonly devices: Uint32Array;
  /** The position of the first change that it has not heard of. */
  readonly end: number;
  /** The entry of the log up to which it has heard of everything. */
  readonly sequence: number;
}

/** What changed of an app from one position of its ring on, in columns by change. */
export class ChangeBatch {
  /** The position of the first change. */
  readonly from: number;
  /** What viewers of everything are told first, by who wrote it. */
  readonly firstParts = new Map<EventWriter, Uint8Array<ArrayBuffer>>();
  readonly #app: AppDevices;
  readonly #end: number;
  readonly #sequence: number;
  readonly #devices: Uint32Array;
  /** A device that has just come was what it is. */
  readonly #before: Sides;
  readonly #now: Sides;
  /** The lesser and the greater latitude of both. */
  readonly #lowLatitudes: Float64Array;
  readonly #highLatitudes: Float64Array;
  readonly #candidates: Uint32Array;

  constructor(app: AppDevices, from: number, { dictionary }: HotStore) {
    const { changes, positions, table, touches } = app;
    this.from = from;
    this.#app = app;
    this.#end = Math.min(changes.end, from + CHANGES_MAX);
    this.#sequence = this.#end === changes.end ? touches.sequence : changes.sequenceAt(this.#end) - 1;
    const count = this.#end - from;
    const [before, now] = [createSides(count), createSides(count)];
    this.#devices = new Uint32Array(count);
    this.#before = before;
    this.#now = now;
    this.#lowLatitudes = new Float64Array(count);
    this.#highLatitudes = new Float64Array(count);
    this.#candidates = new Uint32Array(count);
    const { byDevice } = positions;
    for (let i = 0; i < count; i++) {
      const position = from + i;
      const device = changes.deviceAt(position);
      this.#devices[i] = device;
      now.latitudes[i] = byDevice.latitudeOf(device);
      now.longitudes[i] = byDevice.longitudeOf(device);
      now.userHashes[i] = dictionary.userHash(table.byNumber(device).currentUser);
      const isNew = Number.isNaN(changes.latitudeBefore(position));
      before.latitudes[i] = isNew ? now.latitudes[i]! : changes.latitudeBefore(position);
      before.longitudes[i] = isNew ? now.longitudes[i]! : changes.longitudeBefore(position);
      before.userHashes[i] = isNew ? now.userHashes[i]! : changes.userHashBefore(position);
      this.#lowLatitudes[i] = Math.min(before.latitudes[i]!, now.latitudes[i]!);
      this.#highLatitudes[i] = Math.max(before.latitudes[i]!, now.latitudes[i]!);
    }
  }

  /**
   * The devices, each once, that match a filter or did before they changed, with a newest record since `edgeMs`.
   * `marks` are kept by device number.
   */
  select(filter: ViewerFilter, edgeMs: number, marks: DeviceMarks): Selected {
    const { newestTimes } = this.#app;
    const startMs = Math.max(edgeMs, filter.startMs);
    const wanted = filter.deviceIds === null ? null : marks.setAll(devicesOf(this.#app, filter.deviceIds));
    const told = marks.next();
    const selected: number[] = [];
    const count = this.#findCandidates(filter);
    for (let at = 0; at < count; at++) {
      const i = this.#candidates[at]!;
      const device = this.#devices[i]!;
      const mark = marks.of(device);
      if (mark === told || (wanted !== null && mark !== wanted) || newestTimes.of(device) < startMs) continue;
      if (!matches(filter, this.#now, i) && !matches(filter, this.#before, i)) continue;
      if (selected.length === RECORDS_MAX) return this.#upTo(this.from + i, selected);
      marks.set(device, told);
      selected.push(device);
    }
    const sequence = Math.min(this.#sequence, filter.lastSequence(this.#app));
    return { devices: filter.inOrder(this.#app, selected), end: this.#end, sequence };
  }

  /**
   * Changes that may be in the filter's box, by its latitudes: a tenth of them where it has a hundredth of the devices,
   * found without a jump, which the processor would guess wrong as often. Returns how many.
   */
  #findCandidates({ box }: ViewerFilter): number {
    const candidates = this.#candidates;
    const lows = this.#lowLatitudes;
    const highs = this.#highLatitudes;
    const south = box?.south ?? Number.NEGATIVE_INFINITY;
    const north = box?.north ?? Number.POSITIVE_INFINITY;
    let count = 0;
    for (let i = 0; i < candidates.length; i++) {
      candidates[count] = i;
      count += Number(highs[i]! >= south) & Number(lows[i]! <= north);
    }
    return count;
  }

  /** An entry of the log that made several changes is not told before the last of them is. */
  #upTo(end: number, selected: readonly number[]): Selected {
    return { devices: new Uint32Array(selected), end, sequence: this.#app.changes.sequenceAt(end) - 1 };
  }
}

/** What filters go by, of the devices of some changes. */
interface Sides {
  readonly latitudes: Float64Array;
  readonly longitudes: Float64Array;
  readonly userHashes: Int32Array;
}

function createSides(count: number): Sides {
  return {
    latitudes: new Float64Array(count),
    longitudes: new Float64Array(count),
    userHashes: new Int32Array(count),
  };
}

function matches(filter: ViewerFilter, { latitudes, longitudes, userHashes }: Sides, i: number): boolean {
  return filter.matches(latitudes[i]!, longitudes[i]!, userHashes[i]!);
}

/** A mark on each device of an app, for whoever sorts some of them out: all are wiped by taking the next mark. */
export class DeviceMarks {
  #marks = new Uint32Array(0);
  #last = 0;

  /** One that no device has. */
  next(): number {
    if (++this.#last > 0xffff_ffff) {
      this.#marks.fill(0);
      this.#last = 1;
    }
    return this.#last;
  }

  of(device: number): number {
    return this.#marks[device] ?? 0;
  }

  set(device: number, mark: number): void {
    if (device >= this.#marks.length) this.#marks = grown(this.#marks, device + 1);
    this.#marks[device] = mark;
  }

  /** Gives these devices a mark that no other has. */
  setAll(devices: Iterable<number>): number {
    const mark = this.next();
    for (const device of devices) this.set(device, mark);
    return mark;
  }
}

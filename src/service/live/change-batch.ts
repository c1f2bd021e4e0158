import type { AppDevices } from "../../hot/app-devices.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import { grown } from "../../lib/tables/columns.ts";
import type { EventWriter } from "./live.ts";
import { devicesOf, type ViewerFilter } from "./viewer-filter.ts";

/** Changes for many viewers, looked up once for all of them. */

/** Looking up this many takes well under a millisecond. */
const CHANGES_MAX = 8192;
/** The most records of one event. */
export const RECORDS_MAX = 5000;

/** The devices of a viewer's next event, and its progress after it. */
export interface Selected {
  readonly devices: Uint32Array;
  /** Devices of which corrections hide everything that the viewer could see. */
  readonly removed: Uint32Array;
  /** The position of the first change that is not in the event. */
  readonly end: number;
  /** The entry of the log up to which the viewer then knows everything. */
  readonly sequence: number;
}

/** An app's changes from one position of its ring on, in columns by change. */
export class ChangeBatch {
  /** The position of the first change. */
  readonly from: number;
  /** The first event part for viewers without a filter, by writer. */
  readonly firstParts = new Map<EventWriter, Uint8Array<ArrayBuffer>>();
  readonly #app: AppDevices;
  readonly #end: number;
  readonly #sequence: number;
  readonly #devices: Uint32Array;
  /** The former values; of a device that has just appeared, the present ones. */
  readonly #before: Sides;
  readonly #now: Sides;
  /** The lesser and the greater of the two latitudes. */
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
      const isNowhere = app.newestTimes.of(device) === Number.NEGATIVE_INFINITY;
      now.latitudes[i] = isNowhere ? changes.latitudeBefore(position) : byDevice.latitudeOf(device);
      now.longitudes[i] = isNowhere ? changes.longitudeBefore(position) : byDevice.longitudeOf(device);
      now.userHashes[i] = isNowhere
        ? changes.userHashBefore(position)
        : dictionary.userHash(table.byNumber(device).currentUser);
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
   * `marks` are by device number.
   */
  select(filter: ViewerFilter, edgeMs: number, marks: DeviceMarks): Selected {
    const { newestTimes, olderSince, changes } = this.#app;
    const fromSequence = this.#devices.length === 0 ? 0 : changes.sequenceAt(this.from);
    const startMs = Math.max(edgeMs, filter.startMs);
    const wanted = filter.deviceIds === null ? null : marks.setAll(devicesOf(this.#app, filter.deviceIds));
    const listed = marks.next();
    const selected: number[] = [];
    const removed: number[] = [];
    const count = this.#findCandidates(filter);
    for (let at = 0; at < count; at++) {
      const i = this.#candidates[at]!;
      const device = this.#devices[i]!;
      const mark = marks.of(device);
      if (mark === listed || (wanted !== null && mark !== wanted)) continue;
      const isUnseen = newestTimes.of(device) < startMs;
      if (isUnseen && olderSince.of(device) < fromSequence) continue;
      if (!matches(filter, this.#now, i) && !matches(filter, this.#before, i)) continue;
      if (selected.length + removed.length === RECORDS_MAX)
        return this.#upTo(this.from + i, selected, removed);
      marks.set(device, listed);
      (isUnseen ? removed : selected).push(device);
    }
    const sequence = Math.min(this.#sequence, filter.lastSequence(this.#app));
    const devices = filter.inOrder(this.#app, selected);
    return { devices, removed: filter.inOrder(this.#app, removed), end: this.#end, sequence };
  }

  /**
   * Finds changes that may be in the filter's box, by latitude: a tenth of them for a box with a hundredth of the
   * devices. The loop has no branch, which the processor would mispredict that often. Returns how many.
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

  /** Leaves out an entry of several changes if this batch has only some of them. */
  #upTo(end: number, selected: readonly number[], removed: readonly number[]): Selected {
    const sequence = this.#app.changes.sequenceAt(end) - 1;
    return { devices: new Uint32Array(selected), removed: new Uint32Array(removed), end, sequence };
  }
}

/** The values that filters test, of the devices of some changes. */
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

/** A mark for each device of an app. Taking the next mark invalidates all former ones. */
export class DeviceMarks {
  #marks = new Uint32Array(0);
  #last = 0;

  /** A mark that no device has. */
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

  /** Sets a new mark on these devices. */
  setAll(devices: Iterable<number>): number {
    const mark = this.next();
    for (const device of devices) this.set(device, mark);
    return mark;
  }
}

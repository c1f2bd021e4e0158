import { haversineMeters, initialBearingDegrees } from "../geo/distance.ts";
import type { PositionRing } from "./position-ring.ts";
import { arcMeters, bearingDegrees, CHORD_MAX, CHORD_MIN } from "./squared-chord.ts";

/** Where devices are, in degrees by device number. */
export interface DevicePlaces {
  readonly latitude: readonly number[];
  readonly longitude: readonly number[];
}

const ROWS_INITIAL = 128;
/** Below so many, putting each in its place beats splitting further. */
const SPLIT_MIN = 16;
/** A bearing so near to a meridian, as a slope, is told by degrees: due north is 0, not a hair below 360. */
const MERIDIAN_SLOPE = 1e-9;

/** The page of a sorted ring, in columns that are used again by each search. */
export class PositionPage {
  count = 0;
  devices = new Uint32Array(ROWS_INITIAL);
  meters = new Float64Array(ROWS_INITIAL);
  bearings = new Float64Array(ROWS_INITIAL);
  readonly #ring: PositionRing;
  readonly #places: DevicePlaces;
  readonly #compareDevices: (a: number, b: number) => number;
  /** By number of a ring's entry, where distances had to be told by haversines. */
  #haversines = new Float64Array(0);
  #latitude = 0;
  #longitude = 0;
  #start = 0;
  #end = 0;

  constructor(ring: PositionRing, places: DevicePlaces, compareDevices: (a: number, b: number) => number) {
    this.#ring = ring;
    this.#places = places;
    this.#compareDevices = compareDevices;
  }

  /** Entries of the ring from `start` to before `end` in order of distance and then devices, as seen from a center. */
  fill(start: number, end: number, latitude: number, longitude: number): void {
    const ring = this.#ring;
    this.#latitude = latitude;
    this.#longitude = longitude;
    this.#start = start;
    this.#end = end;
    this.count = end - start;
    if (this.count > this.devices.length) this.#grow();
    let place = start;
    while (place > 0 && ring.isTie(place - 1)) place--;
    while (place < end) {
      let next = place + 1;
      while (next < ring.count && ring.isTie(next - 1)) next++;
      if (next === place + 1) this.#write(place, ring.sorted[place]!);
      else this.#writeTied(place, next);
      place = next;
    }
  }

  #grow(): void {
    const length = Math.max(this.count, 2 * this.devices.length);
    this.devices = new Uint32Array(length);
    this.meters = new Float64Array(length);
    this.bearings = new Float64Array(length);
  }

  #write(place: number, chord: number): void {
    const ring = this.#ring;
    const row = place - this.#start;
    const entry = ring.order[place]!;
    const device = ring.devices[entry]!;
    const east = ring.easts[entry]!;
    const north = ring.norths[entry]!;
    const isFair = chord > CHORD_MIN && chord < CHORD_MAX;
    this.devices[row] = device;
    this.meters[row] = isFair ? arcMeters(chord) : this.#metersOf(device);
    this.bearings[row] =
      isFair && Math.abs(east) > MERIDIAN_SLOPE * Math.abs(north)
        ? bearingDegrees(east, north)
        : this.#bearingOf(device);
  }

  /** Entries at about one distance: haversines and devices decide. */
  #writeTied(from: number, to: number): void {
    const ring = this.#ring;
    const { latitude, longitude } = this.#places;
    if (this.#haversines.length < ring.count) this.#haversines = new Float64Array(ring.devices.length);
    let lastLatitude = Number.NaN;
    let lastLongitude = Number.NaN;
    let meters = 0;
    for (let place = from; place < to; place++) {
      const entry = ring.order[place]!;
      const device = ring.devices[entry]!;
      // Thousands may be at one place.
      if (latitude[device] !== lastLatitude || longitude[device] !== lastLongitude) {
        lastLatitude = latitude[device]!;
        lastLongitude = longitude[device]!;
        meters = this.#metersOf(device);
      }
      this.#haversines[entry] = meters;
    }
    this.#sort(from, to - 1);
    const end = Math.min(to, this.#end);
    for (let place = Math.max(from, this.#start); place < end; place++) {
      const entry = ring.order[place]!;
      this.#write(place, ring.chords[entry]!);
      this.meters[place - this.#start] = this.#haversines[entry]!;
    }
  }

  /** Quicksort as the ring's, of those parts that are on the page. */
  #sort(first: number, last: number): void {
    const { order } = this.#ring;
    let low = first;
    let high = last;
    while (high - low >= SPLIT_MIN && low < this.#end && high >= this.#start) {
      const pivot = order[(low + high) >>> 1]!;
      let left = low - 1;
      let right = high + 1;
      for (;;) {
        do left++;
        while (this.#compare(order[left]!, pivot) < 0);
        do right--;
        while (this.#compare(order[right]!, pivot) > 0);
        if (left >= right) break;
        const entry = order[left]!;
        order[left] = order[right]!;
        order[right] = entry;
      }
      if (right - low < high - right) {
        this.#sort(low, right);
        low = right + 1;
      } else {
        this.#sort(right + 1, high);
        high = right;
      }
    }
    if (high - low < SPLIT_MIN) this.#insert(low, high);
  }

  #insert(first: number, last: number): void {
    const { order } = this.#ring;
    for (let next = first + 1; next <= last; next++) {
      const entry = order[next]!;
      let at = next;
      for (; at > first && this.#compare(order[at - 1]!, entry) > 0; at--) order[at] = order[at - 1]!;
      order[at] = entry;
    }
  }

  /** Of two entries of the ring. */
  #compare(a: number, b: number): number {
    const step = this.#haversines[a]! - this.#haversines[b]!;
    if (step !== 0) return step;
    const { devices } = this.#ring;
    return this.#compareDevices(devices[a]!, devices[b]!);
  }

  #metersOf(device: number): number {
    const { latitude, longitude } = this.#places;
    return haversineMeters(this.#latitude, this.#longitude, latitude[device]!, longitude[device]!);
  }

  #bearingOf(device: number): number {
    const { latitude, longitude } = this.#places;
    return initialBearingDegrees(this.#latitude, this.#longitude, latitude[device]!, longitude[device]!);
  }
}

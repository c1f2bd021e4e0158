import { numberIndex } from "../../model/location-fields.ts";
import type { ReportBatch } from "../../model/report-batch.ts";

/** The bounds of points in time and space, and their devices. */
export interface Extent {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly south: number;
  readonly west: number;
  readonly north: number;
  readonly east: number;
  /** In the order of their first points. */
  readonly devices: readonly string[];
  /** Whether there are more than these devices. */
  readonly hasMoreDevices: boolean;
}

/** Device names that are stored: as many as a person looks through, and as an import's state may hold. */
const DEVICES_MAX = 1000;

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");

/** Computes the extent of all points so far. */
export class ExtentSoFar {
  #firstMs = Number.POSITIVE_INFINITY;
  #lastMs = Number.NEGATIVE_INFINITY;
  #south = Number.POSITIVE_INFINITY;
  #west = Number.POSITIVE_INFINITY;
  #north = Number.NEGATIVE_INFINITY;
  #east = Number.NEGATIVE_INFINITY;
  readonly #devices: Set<string>;
  #hasMoreDevices = false;

  constructor(before: Extent | null = null) {
    this.#devices = new Set(before?.devices);
    if (before === null) return;
    this.#firstMs = before.firstMs;
    this.#lastMs = before.lastMs;
    this.#south = before.south;
    this.#west = before.west;
    this.#north = before.north;
    this.#east = before.east;
    this.#hasMoreDevices = before.hasMoreDevices;
  }

  add({ count, timestampMs, numbers, device, texts }: ReportBatch): void {
    const latitude = numbers[LATITUDE]!;
    const longitude = numbers[LONGITUDE]!;
    let lastDevice = -1;
    for (let row = 0; row < count; row++) {
      const atMs = timestampMs[row]!;
      if (atMs < this.#firstMs) this.#firstMs = atMs;
      if (atMs > this.#lastMs) this.#lastMs = atMs;
      this.#south = Math.min(this.#south, latitude[row]!);
      this.#north = Math.max(this.#north, latitude[row]!);
      this.#west = Math.min(this.#west, longitude[row]!);
      this.#east = Math.max(this.#east, longitude[row]!);
      if (device[row] === lastDevice) continue;
      lastDevice = device[row]!;
      this.#addDevice(texts[lastDevice]!);
    }
  }

  /** Null before the first point. */
  get extent(): Extent | null {
    if (this.#firstMs > this.#lastMs) return null;
    return {
      firstMs: this.#firstMs,
      lastMs: this.#lastMs,
      south: this.#south,
      west: this.#west,
      north: this.#north,
      east: this.#east,
      devices: [...this.#devices],
      hasMoreDevices: this.#hasMoreDevices,
    };
  }

  #addDevice(name: string): void {
    if (this.#devices.size < DEVICES_MAX) this.#devices.add(name);
    else if (!this.#devices.has(name)) this.#hasMoreDevices = true;
  }
}

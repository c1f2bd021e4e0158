import type { DeviceIcon } from "./device-icons.ts";
import { Motion } from "./motion.ts";

/** How people call and mark a device: what the page shows of its profile. */
export interface DeviceLook {
  readonly name?: string;
  /** `#rrggbb`. */
  readonly color?: string;
  readonly icon?: DeviceIcon;
}

/** A device's newest record from the live stream. A share link lacks the fields that it doesn't show. */
export interface LiveRecord {
  readonly device_id: string;
  readonly timestamp: number;
  readonly latitude: number;
  readonly longitude: number;
  /** Meters per second. */
  readonly speed?: number;
  readonly bearing?: number;
  /** Absent if the device has no name, color or icon. */
  readonly profile?: DeviceLook;
}

/** The newest record of every device, a list for each field; null for a missing value. */
export interface Columns {
  readonly sequence: number;
  readonly device_id: readonly string[];
  readonly timestamp: readonly number[];
  readonly latitude: readonly number[];
  readonly longitude: readonly number[];
  readonly speed?: readonly (number | null)[];
  readonly bearing?: readonly (number | null)[];
  readonly profile?: readonly (DeviceLook | null)[];
}

export type TableChange =
  | { readonly kind: "all" }
  /** The filter has changed, the rows have not. */
  | { readonly kind: "shown" }
  | { readonly kind: "rows"; readonly rows: readonly number[] };

type Listener = (change: TableChange) => void;

const ROWS_MIN = 64;

/**
 * The newest position of every device, in columns, so that 200,000 of them take a few megabytes and no object each. A
 * device keeps its row until a change of `kind: "all"`. Columns may be longer than `size`, and may be replaced by any
 * change, so callers must not store them.
 */
export class DeviceTable {
  readonly #listeners = new Set<Listener>();
  #rows = new Map<string, number>();
  /** 1 for each row that matches the filter; null without a filter. */
  #matches: Uint8Array | null = null;
  /** By row. Often few devices have one, or none. */
  readonly #looks = new Map<number, DeviceLook>();
  /** Null as long as no device has a name. */
  #labels: string[] | null = null;
  size = 0;
  /** Increases with each change. */
  version = 0;
  /** How often all rows were replaced. */
  edition = 0;
  /** How often a known device has got another label. */
  labelEdition = 0;
  ids: string[] = [];
  timestampMs = new Float64Array(0);
  latitude = new Float64Array(0);
  longitude = new Float64Array(0);
  /** Degrees; NaN if unknown, like the speed. */
  bearing = new Float32Array(0);
  speedMetersPerSecond = new Float32Array(0);
  readonly motion = new Motion();

  rowOf(id: string): number | undefined {
    return this.#rows.get(id);
  }

  /** What the page calls each device: its name, or its id. The ids themselves if no device has a name. */
  get labels(): readonly string[] {
    return this.#labels ?? this.ids;
  }

  /** What the page calls a device, which need not be in the table. */
  labelOf(id: string): string {
    const row = this.#rows.get(id);
    return row === undefined ? id : this.labels[row]!;
  }

  /** Null if the device has none. */
  lookOf(row: number): DeviceLook | null {
    return this.#looks.get(row) ?? null;
  }

  /** Whether all devices match the list's filter and search. */
  get isWhole(): boolean {
    return this.#matches === null;
  }

  isShown(row: number): boolean {
    return this.#matches === null || this.#matches[row] !== 0;
  }

  /** Hides all other rows; null hides none. Devices that are added later are shown. */
  showOnly(rows: Uint32Array | null): void {
    const matches = rows === null || rows.length === this.size ? null : new Uint8Array(this.size);
    if (matches !== null) for (const row of rows!) matches[row] = 1;
    if (areEqual(matches, this.#matches)) return;
    this.#matches = matches;
    this.#notify({ kind: "shown" });
  }

  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Replaces all devices. */
  fill(columns: Columns): void {
    const { device_id, timestamp, latitude, longitude, speed, bearing, profile = [] } = columns;
    this.ids = device_id.slice();
    this.size = device_id.length;
    this.#rows = new Map();
    for (let row = 0; row < this.size; row++) this.#rows.set(device_id[row]!, row);
    this.timestampMs = new Float64Array(timestamp);
    this.latitude = new Float64Array(latitude);
    this.longitude = new Float64Array(longitude);
    this.speedMetersPerSecond = numbersOf(speed, this.size);
    this.bearing = numbersOf(bearing, this.size);
    this.motion.begin(this);
    this.#looks.clear();
    this.#labels = null;
    for (const [row, look] of profile.entries()) this.#setLook(row, look);
    this.#matches = null;
    this.edition++;
    this.#notify({ kind: "all" });
  }

  /**
   * Updates some devices, each at most once. Older records change nothing unless they are accepted: right after a
   * snapshot the stream may still send earlier ones, but a correction may hide the newest one.
   */
  update(records: readonly LiveRecord[], acceptsOlder = false): void {
    const rows: number[] = [];
    for (const record of records) {
      const row = this.#rows.get(record.device_id) ?? this.#add(record.device_id);
      const isLookNew = this.#setLook(row, record.profile ?? null); // Of now, whatever the record's time.
      if (!acceptsOlder && record.timestamp < this.timestampMs[row]!) {
        if (isLookNew) rows.push(row);
        continue;
      }
      this.timestampMs[row] = record.timestamp;
      this.latitude[row] = record.latitude;
      this.longitude[row] = record.longitude;
      this.speedMetersPerSecond[row] = record.speed ?? Number.NaN;
      this.bearing[row] = record.bearing ?? Number.NaN;
      this.motion.update(this, row);
      rows.push(row);
    }
    if (rows.length > 0) this.#notify({ kind: "rows", rows });
  }

  /** Gives a device another look before the stream does, after the user has set it. */
  setLook(id: string, look: DeviceLook | null): void {
    const row = this.#rows.get(id);
    if (row !== undefined && this.#setLook(row, look)) this.#notify({ kind: "rows", rows: [row] });
  }

  /** Forgets all positions and names. */
  clear(): void {
    this.fill({ sequence: 0, device_id: [], timestamp: [], latitude: [], longitude: [] });
  }

  #add(id: string): number {
    const row = this.size++;
    this.#rows.set(id, row);
    this.ids.push(id);
    this.#labels?.push(id);
    if (row >= this.timestampMs.length) this.#grow(Math.max(ROWS_MIN, row * 2));
    return row;
  }

  /** Returns whether that changed anything. */
  #setLook(row: number, look: DeviceLook | null): boolean {
    const before = this.#looks.get(row);
    if (before?.name === look?.name && before?.color === look?.color && before?.icon === look?.icon)
      return false;
    if (look === null) this.#looks.delete(row);
    else this.#looks.set(row, look);
    const label = look?.name ?? this.ids[row]!;
    if (label !== this.labels[row]) {
      this.#labels ??= this.ids.slice();
      this.#labels[row] = label;
      this.labelEdition++;
    }
    return true;
  }

  #grow(capacity: number): void {
    this.timestampMs = grown(this.timestampMs, capacity);
    this.latitude = grown(this.latitude, capacity);
    this.longitude = grown(this.longitude, capacity);
    this.speedMetersPerSecond = grown(this.speedMetersPerSecond, capacity);
    this.bearing = grown(this.bearing, capacity);
  }

  #notify(change: TableChange): void {
    this.version++;
    for (const listener of this.#listeners) listener(change);
  }
}

function areEqual(a: Uint8Array | null, b: Uint8Array | null): boolean {
  if (a === null || b === null) return a === b;
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}

function numbersOf(values: readonly (number | null)[] | undefined, size: number): Float32Array<ArrayBuffer> {
  const numbers = new Float32Array(size);
  for (let row = 0; row < size; row++) numbers[row] = values?.[row] ?? Number.NaN;
  return numbers;
}

function grown<Numbers extends Float64Array<ArrayBuffer> | Float32Array<ArrayBuffer>>(
  numbers: Numbers,
  capacity: number,
): Numbers {
  const longer = numbers instanceof Float64Array ? new Float64Array(capacity) : new Float32Array(capacity);
  longer.set(numbers);
  return longer as Numbers;
}

import type { Api } from "../api/api.ts";
import { sentenceOf } from "../api/api-error.ts";
import { distanceText, heightText, speedText, type Units } from "../geo/units.ts";
import { browserTimers, type Timers } from "../time/timers.ts";

/* The first report of a phone: waits for it, and describes how the server read it. */

/** The used part of the device table. */
export interface KnownDevices {
  readonly latitude: ArrayLike<number>;
  readonly longitude: ArrayLike<number>;
  readonly timestampMs: ArrayLike<number>;
  rowOf(id: string): number | undefined;
}

interface FirstReportParts {
  readonly api: Pick<Api, "get">;
  readonly devices: KnownDevices;
  readonly changed: () => void;
  readonly timers?: Timers;
}

/** A phone's key. `created` is by the server's clock. */
export interface ReportingKey {
  readonly id: string;
  readonly device_id: string;
  readonly created: number;
}

export interface Arrival {
  /** When the page learned of it, by the browser's clock, which may differ from the server's. */
  readonly atMs: number;
  readonly latitude: number | null;
  readonly longitude: number | null;
  /** Null if the server was too busy to record the request. */
  readonly request: PhoneRequest | null;
}

/** The page must show a report within two seconds. */
const POLL_MS = 1000;

/** Polls for the newest request of a device's key, until `end`. */
export class FirstReport {
  readonly #parts: FirstReportParts;
  #stopTimer = () => {};
  #request: AbortController | null = null;
  #sinceMs = 0;
  #timestampBeforeMs: number | null = null;
  arrival: Arrival | null = null;
  fault: string | null = null;

  constructor(parts: FirstReportParts) {
    this.#parts = parts;
  }

  begin({ id, device_id: deviceId, created }: ReportingKey): void {
    this.end();
    this.#sinceMs = created;
    this.#timestampBeforeMs = this.#timestampOf(deviceId);
    this.arrival = null;
    this.fault = null;
    this.#request = new AbortController();
    const path = `/map/keys/${encodeURIComponent(id)}/requests`;
    void this.#poll(path, deviceId, this.#request.signal);
  }

  end(): void {
    this.#request?.abort();
    this.#stopTimer();
  }

  async #poll(path: string, deviceId: string, signal: AbortSignal): Promise<void> {
    try {
      const { requests } = await this.#parts.api.get<{ requests: readonly PhoneRequest[] }>(path, {}, signal);
      this.#setRequest(requests[0]);
      this.fault = null;
    } catch (error) {
      if (signal.aborted) return;
      this.fault = sentenceOf(error);
    }
    this.#readTable(deviceId);
    this.#parts.changed();
    const { timers = browserTimers } = this.#parts;
    this.#stopTimer = timers.after(POLL_MS, () => void this.#poll(path, deviceId, signal));
  }

  #setRequest(request: PhoneRequest | undefined): void {
    if (request === undefined || request.received < this.#sinceMs) return;
    if (request.received === this.arrival?.request?.received) return;
    const { latitude = null, longitude = null } = (request.newest ?? {}) as {
      latitude?: number;
      longitude?: number;
    };
    this.arrival = { atMs: Date.now(), latitude, longitude, request };
  }

  /** Looks for the device in the live table, since a busy server does not record every request. */
  #readTable(deviceId: string): void {
    const timestampMs = this.#timestampOf(deviceId);
    if (this.arrival !== null || timestampMs === null || timestampMs === this.#timestampBeforeMs) return;
    const { devices } = this.#parts;
    const row = devices.rowOf(deviceId)!;
    this.arrival = {
      atMs: Date.now(),
      latitude: devices.latitude[row]!,
      longitude: devices.longitude[row]!,
      request: null,
    };
  }

  #timestampOf(deviceId: string): number | null {
    const row = this.#parts.devices.rowOf(deviceId);
    return row === undefined ? null : this.#parts.devices.timestampMs[row]!;
  }
}

/** The server's description of a device's request. */
export interface PhoneRequest {
  /** Unix ms, by the server's clock. */
  readonly received: number;
  readonly client: string;
  readonly taken: number;
  /** The newest accepted report. */
  readonly newest?: Readonly<Record<string, string | number | boolean>>;
  readonly refused_count: number;
  readonly refused: readonly { readonly reason: string; readonly detail?: string }[];
  readonly left_out: readonly {
    readonly field: string;
    readonly reason: "absent" | "unreadable" | "out_of_range";
    readonly count: number;
  }[];
  /** How many reports had no time and got the time of arrival. */
  readonly timed_by_arrival: number;
  readonly skipped: readonly { readonly what: string; readonly count: number }[];
}

/** Why a point was rejected, and what to do. */
const REFUSALS: Readonly<Record<string, string>> = {
  bad_json: "it is not valid JSON",
  unknown_shape: "it does not look like a position; check that you chose the right app above",
  no_position: "it has no position yet; wait until the phone has a GPS fix",
  bad_coordinates: "its coordinates are not on Earth",
  null_island: "it is at 0, 0, which phones send before they have a GPS fix",
  no_time: "it has no time",
  future: "its time is in the future; set the phone's clock",
  too_old: "its time is too long ago",
  bad_device: "its device name is not valid",
  undecryptable: "it is encrypted, and the server doesn't know its passphrase",
  erased: "the device or its user was erased here, and is refused from then on",
  invalid: "one of its fields has an impossible value",
};

/** The values of a report besides position and time: `speed 3 m/s, battery 81 %`. */
export function understoodText(
  report: Readonly<Record<string, string | number | boolean>>,
  units: Units,
): string {
  const values: string[] = [];
  const add = (field: string, words: (value: string | number | boolean) => string) => {
    const value = report[field];
    if (value !== undefined) values.push(words(value));
  };
  add("speed", (value) => `speed ${speedText(Number(value), units)}`);
  add("bearing", (value) => `heading ${rounded(value)}°`);
  add("altitude", (value) => `altitude ${heightText(Number(value), units)}`);
  add("horizontal_accuracy", (value) => `within ${distanceText(Number(value), units)}`);
  add("battery_level", (value) => `battery ${rounded(value)} %`);
  add("battery_status", String);
  add("type", (value) => String(value).toLowerCase());
  return values.length === 0 ? "position and time only" : values.join(", ");
}

/** `51.50, -0.12`. */
export function placeText(latitude: number, longitude: number): string {
  return `${latitude.toFixed(2)}, ${longitude.toFixed(2)}`;
}

/** Why nothing of a request was stored, in a sentence; null if something was. */
export function refusalText({ taken, refused, refused_count, skipped }: PhoneRequest): string | null {
  if (taken > 0) return null;
  const [first] = refused;
  if (first === undefined) {
    const what = skipped.map(({ what }) => what).join(", ");
    return what === "" ? null : `It sent ${what}, which has no position. Make it send a position.`;
  }
  const why = REFUSALS[first.reason] ?? first.reason;
  const detail = first.detail === undefined ? "" : ` (${first.detail})`;
  const which = refused_count === 1 ? "A point" : `${refused_count} points`;
  return `${which} could not be used: ${why}${detail}.`;
}

/** The fields that the reports of a request lack, and why; null if they lack none. */
export function missingText({ left_out, timed_by_arrival }: PhoneRequest): string | null {
  const sentences: string[] = [];
  const fields = left_out.map(({ field, reason }) => `${field} (${MISSING_REASONS[reason]})`);
  if (fields.length > 0) sentences.push(`Missing: ${fields.join(", ")}.`);
  if (timed_by_arrival > 0) sentences.push("It had no time, so the server used the time of its arrival.");
  return sentences.length === 0 ? null : sentences.join(" ");
}

const MISSING_REASONS = {
  absent: "absent",
  unreadable: "can't be read",
  out_of_range: "out of range",
} as const;

/** What to do if the speed is wrong; null if the report has no speed. */
export function speedAdvice(report: Readonly<Record<string, unknown>>): string | null {
  if (report.speed === undefined) return null;
  return "If the speed is wrong, add ?speed_unit=kmh (or mps, kn, mph) to the address: it sets the unit that the app sends.";
}

function rounded(value: string | number | boolean): string {
  return String(Math.round(Number(value) * 10) / 10);
}

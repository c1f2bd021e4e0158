import type { Api } from "../api/api.ts";
import { sentenceOf } from "../api/api-error.ts";
import { distanceText, heightText, speedText, type Units } from "../geo/units.ts";
import { browserTimers, type Timers } from "../time/timers.ts";

/* The first report of a phone: waiting for it, and how it was understood, in words. */

/** The part of the device table that is needed. */
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

/** A key for a phone, and when it was made, by the server's clock. */
export interface ReportingKey {
  readonly id: string;
  readonly device_id: string;
  readonly created: number;
}

export interface Heard {
  /** When the page heard of it, by the browser's clock: the server's may be another. */
  readonly atMs: number;
  readonly latitude: number | null;
  readonly longitude: number | null;
  /** How it was understood; null if the server was too busy to keep that. */
  readonly request: HeardRequest | null;
}

/** The page names a device two seconds after its report at the latest. */
const POLL_MS = 1000;

/** Waits for a device to report, and says how it was understood, or why it was refused; and goes on to listen. */
export class FirstReport {
  readonly #parts: FirstReportParts;
  #stopTimer = () => {};
  #asking: AbortController | null = null;
  #sinceMs = 0;
  #timestampBeforeMs: number | null = null;
  heard: Heard | null = null;
  fault: string | null = null;

  constructor(parts: FirstReportParts) {
    this.#parts = parts;
  }

  /** Of what came once the key was there. */
  begin({ id, device_id: deviceId, created }: ReportingKey): void {
    this.end();
    this.#sinceMs = created;
    this.#timestampBeforeMs = this.#timestampOf(deviceId);
    this.heard = null;
    this.fault = null;
    this.#asking = new AbortController();
    const path = `/map/keys/${encodeURIComponent(id)}/requests`;
    void this.#poll(path, deviceId, this.#asking.signal);
  }

  end(): void {
    this.#asking?.abort();
    this.#stopTimer();
  }

  async #poll(path: string, deviceId: string, signal: AbortSignal): Promise<void> {
    try {
      const { requests } = await this.#parts.api.get<{ requests: readonly HeardRequest[] }>(path, {}, signal);
      this.#take(requests[0]);
      this.fault = null;
    } catch (error) {
      if (signal.aborted) return;
      this.fault = sentenceOf(error);
    }
    this.#takeFromTable(deviceId);
    this.#parts.changed();
    const { timers = browserTimers } = this.#parts;
    this.#stopTimer = timers.after(POLL_MS, () => void this.#poll(path, deviceId, signal));
  }

  #take(request: HeardRequest | undefined): void {
    if (request === undefined || request.received < this.#sinceMs) return;
    if (request.received === this.heard?.request?.received) return;
    const { latitude = null, longitude = null } = (request.newest ?? {}) as {
      latitude?: number;
      longitude?: number;
    };
    this.heard = { atMs: Date.now(), latitude, longitude, request };
  }

  /** A busy server does not keep every request, but the device has moved in the live table. */
  #takeFromTable(deviceId: string): void {
    const timestampMs = this.#timestampOf(deviceId);
    if (this.heard !== null || timestampMs === null || timestampMs === this.#timestampBeforeMs) return;
    const { devices } = this.#parts;
    const row = devices.rowOf(deviceId)!;
    this.heard = {
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

/** A request that a device sent, as the server describes it. */
export interface HeardRequest {
  /** Unix ms of the server. */
  readonly received: number;
  readonly client: string;
  readonly taken: number;
  /** The report that was understood, by the names of our own fields. */
  readonly newest?: Readonly<Record<string, string | number | boolean>>;
  readonly refused_count: number;
  readonly refused: readonly { readonly reason: string; readonly detail?: string }[];
  readonly left_out: readonly {
    readonly field: string;
    readonly reason: "absent" | "unreadable" | "out_of_range";
    readonly count: number;
  }[];
  /** How many reports came without a time and got that of their arrival. */
  readonly timed_by_arrival: number;
  readonly skipped: readonly { readonly what: string; readonly count: number }[];
}

/** Why a point could not be used, and what helps. */
const REFUSALS: Readonly<Record<string, string>> = {
  bad_json: "it is no JSON that can be read",
  unknown_shape: "nothing in it looks like a position: is it the right app that you chose here?",
  no_position: "it has no position yet: has the phone found itself?",
  bad_coordinates: "its coordinates can't be on Earth",
  null_island: "it is at 0, 0, which phones send before they have found themselves",
  no_time: "it has no time",
  future: "its time is in the future: set the phone's clock",
  too_old: "its time is too long ago",
  bad_device: "its device has no name that can be one",
  undecryptable: "it is encrypted, and the server doesn't know its pass phrase",
  invalid: "a field of it can't be what it says",
};

/** As in "speed 3 m/s, battery 81 %": what was understood besides where and when. */
export function understoodText(
  report: Readonly<Record<string, string | number | boolean>>,
  units: Units,
): string {
  const said: string[] = [];
  const add = (field: string, words: (value: string | number | boolean) => string) => {
    const value = report[field];
    if (value !== undefined) said.push(words(value));
  };
  add("speed", (value) => `speed ${speedText(Number(value), units)}`);
  add("bearing", (value) => `heading ${rounded(value)}°`);
  add("altitude", (value) => `altitude ${heightText(Number(value), units)}`);
  add("horizontal_accuracy", (value) => `within ${distanceText(Number(value), units)}`);
  add("battery_level", (value) => `battery ${rounded(value)} %`);
  add("battery_status", String);
  add("type", (value) => String(value).toLowerCase());
  return said.length === 0 ? "nothing but where and when" : said.join(", ");
}

/** As in "51.50, -0.12". */
export function placeText(latitude: number, longitude: number): string {
  return `${latitude.toFixed(2)}, ${longitude.toFixed(2)}`;
}

/** Why nothing of a request was stored, in a sentence; null where something was. */
export function refusalText({ taken, refused, refused_count, skipped }: HeardRequest): string | null {
  if (taken > 0) return null;
  const [first] = refused;
  if (first === undefined) {
    const what = skipped.map(({ what }) => what).join(", ");
    return what === "" ? null : `It sent ${what}, which has no position. Let it send one.`;
  }
  const why = REFUSALS[first.reason] ?? first.reason;
  const detail = first.detail === undefined ? "" : ` (${first.detail})`;
  const which = refused_count === 1 ? "A point" : `${refused_count} points`;
  return `${which} could not be used: ${why}${detail}.`;
}

/** The fields that the reports of a request lack, and why; null if they lack none. */
export function leftOutText({ left_out, timed_by_arrival }: HeardRequest): string | null {
  const said: string[] = [];
  const fields = left_out.map(({ field, reason }) => `${field} (${LEFT_OUT_FOR[reason]})`);
  if (fields.length > 0) said.push(`Left out: ${fields.join(", ")}.`);
  if (timed_by_arrival > 0) said.push("It came without a time, so it has that of its arrival.");
  return said.length === 0 ? null : said.join(" ");
}

const LEFT_OUT_FOR = {
  absent: "absent",
  unreadable: "can't be read",
  out_of_range: "out of range",
} as const;

/** What to do if the speed is wrong; null if the report has no speed. */
export function speedAdvice(report: Readonly<Record<string, unknown>>): string | null {
  if (report.speed === undefined) return null;
  return "If the speed is wrong, add ?speed_unit=kmh (or mps, kn, mph) to the address: it says what the app sends.";
}

function rounded(value: string | number | boolean): string {
  return String(Math.round(Number(value) * 10) / 10);
}

import type { Api } from "../api/api.ts";
import { sentenceOf } from "../api/api-error.ts";
import { browserTimers, type Timers } from "../time/timers.ts";
import type { HeardRequest } from "./heard.ts";

/** As much of the device table as is needed. */
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
  /** When we heard of it, by our own clock: that of the server may be another. */
  readonly atMs: number;
  readonly latitude: number | null;
  readonly longitude: number | null;
  /** How it was understood; null where the server, with much to do, has passed it over. */
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

  /** Where much is sent, the server passes requests over; but the device has moved in the live table. */
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

import type { Api } from "../api/api.ts";
import type { Position } from "../geo/earth.ts";
import { MS_PER_HOUR, RECENT_MS } from "../time/local-day.ts";
import { readTrack } from "./history.ts";
import { Track } from "./track.ts";

/** What the page provides to them. */
export interface TrailsParts {
  readonly api: Pick<Api, "get" | "retries">;
  /** The newest position of every device, kept up to date. */
  readonly devices: {
    readonly timestampMs: ArrayLike<number>;
    readonly latitude: ArrayLike<number>;
    readonly longitude: ArrayLike<number>;
    rowOf(id: string): number | undefined;
    onChange(listener: () => void): () => void;
  };
  readonly map: { setTrails(lines: readonly (readonly Position[])[]): void };
}

/** Each is a request, and more lines would hide each other. */
const TRAILS_MAX = 12;
/** Invisible on a map that shows several devices. */
const TOLERANCE_METERS = 5;
/** A device whose clock is fast is shown, too. */
const AHEAD_MS = MS_PER_HOUR;

/** The lines that lead to several devices: the half hour before the last report of each. */
export class Trails {
  readonly #parts: TrailsParts;
  readonly #tracks = new Map<string, Track>();
  #session = new AbortController();
  #stop: () => void = () => undefined;

  constructor(parts: TrailsParts) {
    this.#parts = parts;
  }

  /** Loads and draws the trails of these devices, and lets them grow. */
  show(ids: readonly string[]): void {
    this.close();
    const { signal } = this.#session;
    this.#stop = this.#parts.devices.onChange(() => this.#grow());
    for (const id of ids.slice(0, TRAILS_MAX)) void this.#load(id, signal);
  }

  close(): void {
    this.#session.abort();
    this.#session = new AbortController();
    this.#stop();
    this.#tracks.clear();
    this.#parts.map.setTrails([]);
  }

  async #load(id: string, signal: AbortSignal): Promise<void> {
    const { api, devices } = this.#parts;
    const row = devices.rowOf(id);
    const nowMs = Date.now();
    const startMs = Math.min(nowMs, row === undefined ? nowMs : devices.timestampMs[row]!) - RECENT_MS;
    const question = { deviceId: id, range: { startMs, endMs: nowMs + AHEAD_MS } };
    const read = () => readTrack(api, question, TOLERANCE_METERS, {}, signal);
    try {
      const answer = await api.retries.ask(read, { signal, onPause: () => undefined });
      if (!signal.aborted) this.#tracks.set(id, new Track(answer));
    } catch {
      return; // The device has not reported yet, or the link has ended, which the page says elsewhere.
    }
    if (!signal.aborted) this.#draw();
  }

  #grow(): void {
    const { devices } = this.#parts;
    let hasGrown = false;
    for (const [id, track] of this.#tracks) {
      const row = devices.rowOf(id);
      if (row === undefined) continue;
      const { timestampMs, latitude, longitude } = devices;
      hasGrown = track.append(timestampMs[row]!, latitude[row]!, longitude[row]!) || hasGrown;
    }
    if (hasGrown) this.#draw();
  }

  #draw(): void {
    this.#parts.map.setTrails([...this.#tracks.values()].flatMap(recentLines));
  }
}

function recentLines(track: Track): readonly Position[][] {
  const { range } = track;
  return range === null ? [] : track.lines(track.indexAt(range.endMs - RECENT_MS - 1) + 1);
}

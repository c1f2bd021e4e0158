import { createHash } from "node:crypto";
import { isObject } from "../lib/is-object.ts";
import { compareUtf8 } from "../lib/text/utf8.ts";
import { Grid, type GridPoint } from "../model/geo/grid.ts";
import type { DeviceId } from "../model/ids.ts";
import { deviceIdFault } from "../model/report.ts";
import type { TimeRange } from "../model/time/range.ts";
import { MS_PER_MINUTE } from "../model/time/units.ts";

/** What a share link shows of an app, as stored with its key. */
export interface ViewSpec {
  /** The only devices shown, including those that have not reported yet. */
  readonly deviceIds: readonly DeviceId[];
  /** Nothing before this time is shown, Unix ms. */
  readonly notBeforeMs: number;
  /** Width of the grid cells to which positions are blurred; times are blurred to minutes. Null means exact. */
  readonly precisionMeters: number | null;
}

export const VIEW_DEVICES_MAX = 1000;
/** From finer than any phone's accuracy to the size of a region. */
export const PRECISION_METERS = { minimum: 10, maximum: 100_000 } as const;

/** Parses the view of a key file or a request; null if it is invalid. */
export function parseViewSpec(value: unknown): ViewSpec | null {
  if (!isObject(value)) return null;
  const { deviceIds, notBeforeMs, precisionMeters } = value;
  if (!Array.isArray(deviceIds) || deviceIds.length === 0 || deviceIds.length > VIEW_DEVICES_MAX) return null;
  if (!deviceIds.every((id) => typeof id === "string" && deviceIdFault(id) === null)) return null;
  if (typeof notBeforeMs !== "number" || !Number.isSafeInteger(notBeforeMs) || notBeforeMs < 0) return null;
  if (precisionMeters !== null && !isPrecision(precisionMeters)) return null;
  return { deviceIds, notBeforeMs, precisionMeters };
}

export function isPrecision(meters: unknown): meters is number {
  const { minimum, maximum } = PRECISION_METERS;
  return typeof meters === "number" && meters >= minimum && meters <= maximum;
}

/**
 * Cuts and blurs what a link shows. Every filter by time or place applies to the result: otherwise the answers would
 * give away what the link hides.
 */
export class View {
  /** Sorted like the records of an answer. */
  readonly deviceIds: readonly DeviceId[];
  /** Two views that show different things have different fingerprints. */
  readonly fingerprint: string;
  readonly precisionMeters: number | null;
  readonly #devices: ReadonlySet<string>;
  readonly #notBeforeMs: number;
  readonly #grid: Grid | null;

  constructor({ deviceIds, notBeforeMs, precisionMeters }: ViewSpec) {
    this.#devices = new Set(deviceIds);
    this.deviceIds = [...new Set(deviceIds)].sort(compareUtf8);
    this.#notBeforeMs = notBeforeMs;
    this.precisionMeters = precisionMeters;
    this.#grid = precisionMeters === null ? null : new Grid(precisionMeters);
    const parts = JSON.stringify([this.deviceIds, notBeforeMs, precisionMeters]);
    this.fingerprint = createHash("sha256").update(parts).digest("base64url");
  }

  /** Whether it shows exact positions and times, and how devices move. */
  get isExact(): boolean {
    return this.#grid === null;
  }

  showsDevice(deviceId: string): boolean {
    return this.#devices.has(deviceId);
  }

  /**
   * The exact time range behind a requested range. A blurred view shows a minute whole or not at all: a bound inside a
   * minute would tell on which side of it a record is.
   */
  rangeOf({ startMs, endMs }: TimeRange): TimeRange {
    const fromMs = Math.max(startMs, this.#notBeforeMs);
    return this.isExact
      ? { startMs: fromMs, endMs }
      : { startMs: nextMinute(fromMs), endMs: nextMinute(endMs) };
  }

  /** The shown form of a time, Unix ms. */
  timeOf(timestampMs: number): number {
    return this.isExact ? timestampMs : Math.floor(timestampMs / MS_PER_MINUTE) * MS_PER_MINUTE;
  }

  /** The shown form of a position, in degrees. */
  pointOf(latitude: number, longitude: number): GridPoint {
    return this.#grid === null ? { latitude, longitude } : this.#grid.centerOf(latitude, longitude);
  }
}

const views = new WeakMap<ViewSpec, View>();

/** The view of a key, created once. */
export function viewOf(spec: ViewSpec): View {
  let view = views.get(spec);
  if (view === undefined) {
    view = new View(spec);
    views.set(spec, view);
  }
  return view;
}

/** The first full minute at or after a time. */
function nextMinute(timeMs: number): number {
  return Math.ceil(timeMs / MS_PER_MINUTE) * MS_PER_MINUTE;
}

import { createHash } from "node:crypto";
import { isObject } from "../lib/is-object.ts";
import { compareUtf8 } from "../lib/text/utf8.ts";
import { Grid, type GridPoint } from "../model/geo/grid.ts";
import type { DeviceId } from "../model/ids.ts";
import { deviceIdFault } from "../model/report.ts";
import type { TimeRange } from "../model/time/range.ts";
import { MS_PER_MINUTE } from "../model/time/units.ts";

/** What a share link shows of an app, as its key says it. */
export interface ViewSpec {
  /** The only devices that it shows, whether they have reported yet or not. */
  readonly deviceIds: readonly DeviceId[];
  /** Shows nothing before this, Unix ms. */
  readonly notBeforeMs: number;
  /** Width of the cells by whose centers it shows positions, and times in whole minutes; null where they are exact. */
  readonly precisionMeters: number | null;
}

export const VIEW_DEVICES_MAX = 1000;
/** Finer than any phone knows where it is, and as coarse as a region. */
export const PRECISION_METERS = { minimum: 10, maximum: 100_000 } as const;

/** What a key file or a request says of a view; null where it can't be one. */
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
 * Cuts and blurs what is shown. Whatever a question asks of times and places is asked of what this makes of them, or
 * answers would tell what they don't show.
 */
export class View {
  /** In the order of answers. */
  readonly deviceIds: readonly DeviceId[];
  /** Another text for a view that shows something else. */
  readonly fingerprint: string;
  /** Null where it shows positions as they are. */
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

  /** Whether it shows positions and times as they are, and how devices move. */
  get isExact(): boolean {
    return this.#grid === null;
  }

  showsDevice(deviceId: string): boolean {
    return this.#devices.has(deviceId);
  }

  /**
   * The exact times of what it shows of a range. Blurred, a minute is shown whole or not at all: bounds within one
   * would tell on which side of them a record is.
   */
  rangeOf({ startMs, endMs }: TimeRange): TimeRange {
    const fromMs = Math.max(startMs, this.#notBeforeMs);
    return this.isExact
      ? { startMs: fromMs, endMs }
      : { startMs: nextMinute(fromMs), endMs: nextMinute(endMs) };
  }

  /** A time as it shows it, Unix ms. */
  timeOf(timestampMs: number): number {
    return this.isExact ? timestampMs : Math.floor(timestampMs / MS_PER_MINUTE) * MS_PER_MINUTE;
  }

  /** A position as it shows it, in degrees. */
  pointOf(latitude: number, longitude: number): GridPoint {
    return this.#grid === null ? { latitude, longitude } : this.#grid.centerOf(latitude, longitude);
  }
}

const views = new WeakMap<ViewSpec, View>();

/** The view of a key, made once. */
export function viewOf(spec: ViewSpec): View {
  let view = views.get(spec);
  if (view === undefined) {
    view = new View(spec);
    views.set(spec, view);
  }
  return view;
}

/** The first minute that begins then or later. */
function nextMinute(timeMs: number): number {
  return Math.ceil(timeMs / MS_PER_MINUTE) * MS_PER_MINUTE;
}

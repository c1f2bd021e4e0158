import type { PointDetails } from "../../../clients/point.ts";
import type { FilePoint, PointSink, SkipReason } from "../file-point.ts";
import { FormatError } from "../format.ts";
import {
  ACCURACY,
  ALTITUDE,
  BEARING,
  decodeValue,
  LATITUDE,
  LINE,
  LONGITUDE,
  PendingPoints,
  REASON,
  SPEED,
  TIME,
} from "./pending-points.ts";

const REASONS = ["untimed_line", "no_location"] as const satisfies readonly SkipReason[];

/** Points of a track that wait for arrays at its end, 72 bytes each; earlier points do without. */
const WAITING_MAX = 500_000;
/** The maximum number of pending points: most programs write all times of a track before its first position. */
const PENDING_MAX = 1_000_000;
/** Points between two yields. */
const POINTS_PER_STEP = 4096;

/** Assembles points whose parts are apart, and delivers them in file order. */
export class KmlPoints {
  readonly #sink: PointSink;
  readonly #pending = new PendingPoints();
  /** The first point of the open track, and its numbers of times and positions. */
  #track: { readonly first: number; times: number; positions: number } | null = null;
  #placemarkTimeMs = Number.NaN;
  /** Points of the open Placemark that wait for its time. */
  #untimed: number[] = [];
  #place = 1;

  constructor(sink: PointSink) {
    this.#sink = sink;
  }

  /** The line of the last delivered point. */
  get place(): number {
    return this.#place;
  }

  beginTrack(): void {
    this.#track = { first: this.#pending.end, times: 0, positions: 0 };
  }

  endTrack(): void {
    this.#track = null;
  }

  /** The number of the track point for the next time. */
  nextTime(line: number): number {
    return this.#nextOfTrack("times", line);
  }

  nextPosition(line: number): number {
    return this.#nextOfTrack("positions", line);
  }

  /** Adds a point of the open Placemark, with its time. */
  addPoint(line: number): number {
    const point = this.#add(line);
    this.#pending.set(point, TIME, this.#placemarkTimeMs);
    if (Number.isNaN(this.#placemarkTimeMs)) this.#untimed.push(point);
    return point;
  }

  setPlacemarkTime(timestampMs: number): void {
    this.#placemarkTimeMs = timestampMs;
    for (const point of this.#untimed) this.#pending.set(point, TIME, timestampMs);
    this.#untimed = [];
  }

  endPlacemark(): void {
    this.#placemarkTimeMs = Number.NaN;
    this.#untimed = [];
  }

  skip(reason: (typeof REASONS)[number], line: number): void {
    this.#pending.set(this.#add(line), REASON, REASONS.indexOf(reason));
  }

  set(point: number, column: number, value: number): void {
    this.#pending.set(point, column, value);
  }

  /** Sets a value of the open track's point at an index, if it exists and was not delivered. */
  setOfTrack(index: number, column: number, value: number): void {
    if (this.#track === null) return;
    const point = this.#track.first + index;
    if (point >= this.#pending.first && point < this.#pending.end) this.#pending.set(point, column, value);
  }

  /** Delivers all complete points. */
  *deliver(): Generator<void> {
    const { first } = this.#pending;
    const end = this.#completeEnd();
    for (let point = first; point < end; point++) {
      this.#deliverPoint(point);
      this.#pending.removeFirst();
      if ((point - first) % POINTS_PER_STEP === POINTS_PER_STEP - 1) yield;
    }
  }

  /** The file is cut off here: incomplete points stay incomplete. */
  breakOff(): void {
    const { first, times, positions } = this.#track ?? { first: this.#pending.end, times: 0, positions: 0 };
    this.#track = null;
    this.#untimed = [];
    this.#pending.dropFrom(first + Math.min(times, positions));
  }

  /** The number of the first incomplete point. */
  #completeEnd(): number {
    const { end } = this.#pending;
    const untimed = this.#untimed[0] ?? end;
    if (this.#track === null) return untimed;
    const { first, times, positions } = this.#track;
    return Math.min(untimed, Math.max(first, first + Math.min(times, positions) - WAITING_MAX));
  }

  #nextOfTrack(what: "times" | "positions", line: number): number {
    const track = this.#track!;
    const point = track.first + track[what]++;
    return point < this.#pending.end ? point : this.#add(line);
  }

  #add(line: number): number {
    if (this.#pending.end - this.#pending.first >= PENDING_MAX)
      throw new FormatError(`line ${line}: more than ${PENDING_MAX} points wait for their other parts`);
    return this.#pending.add(line);
  }

  #deliverPoint(point: number): void {
    const pending = this.#pending;
    this.#place = pending.get(point, LINE);
    const reason = REASONS[pending.get(point, REASON)];
    if (reason === undefined) this.#sink.add(filePointOf(pending, point));
    else this.#sink.skip(reason);
  }
}

function filePointOf(pending: PendingPoints, point: number): FilePoint {
  return {
    timestampMs: decodeValue(pending.get(point, TIME)),
    latitude: decodeValue(pending.get(point, LATITUDE)),
    longitude: decodeValue(pending.get(point, LONGITUDE)),
    device: null,
    user: null,
    details: detailsOf(pending, point),
  };
}

const DETAILS = [
  ["altitude", ALTITUDE],
  ["speed", SPEED],
  ["bearing", BEARING],
  ["horizontal_accuracy", ACCURACY],
] as const;

function detailsOf(pending: PendingPoints, point: number): PointDetails {
  const details: PointDetails = {};
  for (const [name, column] of DETAILS) {
    const value = decodeValue(pending.get(point, column));
    if (value !== null) details[name] = value;
  }
  return details;
}

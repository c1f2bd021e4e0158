import type { PointDetails } from "../../../clients/point.ts";
import type { FilePoint, PointSink, SkipReason } from "../file-point.ts";
import { FormatError } from "../format.ts";
import {
  ACCURACY,
  ALTITUDE,
  BEARING,
  HeldPoints,
  LATITUDE,
  LINE,
  LONGITUDE,
  REASON,
  SPEED,
  TIME,
  valueOfHeld,
} from "./held-points.ts";

const REASONS = ["untimed_line", "no_location"] as const satisfies readonly SkipReason[];

/** Points of a track that wait for what stands at its end, 72 bytes each; those before go without it. */
const WAITING_MAX = 500_000;
/** Points that are held at all: most writers put all times of a track before its first place. */
const HELD_MAX = 1_000_000;
/** After so many, those who take them have their turn. */
const POINTS_PER_STEP = 4096;

/** Puts points together whose parts stand apart, and hands them over in the order of the file. */
export class KmlPoints {
  readonly #sink: PointSink;
  readonly #held = new HeldPoints();
  /** The first point of the open track, and how many times and places of it have come. */
  #track: { readonly first: number; times: number; places: number } | null = null;
  #placemarkTimeMs = Number.NaN;
  /** Points of the open Placemark, whose time has yet to come. */
  #untimed: number[] = [];
  #place = 1;

  constructor(sink: PointSink) {
    this.#sink = sink;
  }

  /** The line of the last that was handed over. */
  get place(): number {
    return this.#place;
  }

  beginTrack(): void {
    this.#track = { first: this.#held.end, times: 0, places: 0 };
  }

  endTrack(): void {
    this.#track = null;
  }

  /** The number of the track's point that the next time belongs to. */
  nextTime(line: number): number {
    return this.#nextOfTrack("times", line);
  }

  nextPlace(line: number): number {
    return this.#nextOfTrack("places", line);
  }

  /** A point of the open Placemark, at its time. */
  addPoint(line: number): number {
    const point = this.#add(line);
    this.#held.set(point, TIME, this.#placemarkTimeMs);
    if (Number.isNaN(this.#placemarkTimeMs)) this.#untimed.push(point);
    return point;
  }

  setPlacemarkTime(timestampMs: number): void {
    this.#placemarkTimeMs = timestampMs;
    for (const point of this.#untimed) this.#held.set(point, TIME, timestampMs);
    this.#untimed = [];
  }

  endPlacemark(): void {
    this.#placemarkTimeMs = Number.NaN;
    this.#untimed = [];
  }

  skip(reason: (typeof REASONS)[number], line: number): void {
    this.#held.set(this.#add(line), REASON, REASONS.indexOf(reason));
  }

  set(point: number, column: number, value: number): void {
    this.#held.set(point, column, value);
  }

  /** Of the open track's point with an index; of none that was handed over, or never was there. */
  setOfTrack(index: number, column: number, value: number): void {
    if (this.#track === null) return;
    const point = this.#track.first + index;
    if (point >= this.#held.first && point < this.#held.end) this.#held.set(point, column, value);
  }

  /** Hands over all that is complete. */
  *handOver(): Generator<void> {
    const { first } = this.#held;
    const end = this.#completeEnd();
    for (let point = first; point < end; point++) {
      this.#handOverOne(point);
      this.#held.take();
      if ((point - first) % POINTS_PER_STEP === POINTS_PER_STEP - 1) yield;
    }
  }

  /** The file ends here, though it should not: what still lacked something will never have it. */
  breakOff(): void {
    const { first, times, places } = this.#track ?? { first: this.#held.end, times: 0, places: 0 };
    this.#track = null;
    this.#untimed = [];
    this.#held.dropFrom(first + Math.min(times, places));
  }

  /** Before this one nothing is missing. */
  #completeEnd(): number {
    const { end } = this.#held;
    const untimed = this.#untimed[0] ?? end;
    if (this.#track === null) return untimed;
    const { first, times, places } = this.#track;
    return Math.min(untimed, Math.max(first, first + Math.min(times, places) - WAITING_MAX));
  }

  #nextOfTrack(what: "times" | "places", line: number): number {
    const track = this.#track!;
    const point = track.first + track[what]++;
    return point < this.#held.end ? point : this.#add(line);
  }

  #add(line: number): number {
    if (this.#held.end - this.#held.first >= HELD_MAX)
      throw new FormatError(`line ${line}: more than ${HELD_MAX} points wait for what stands behind them`);
    return this.#held.add(line);
  }

  #handOverOne(point: number): void {
    const held = this.#held;
    this.#place = held.get(point, LINE);
    const reason = REASONS[held.get(point, REASON)];
    if (reason === undefined) this.#sink.add(filePointOf(held, point));
    else this.#sink.skip(reason);
  }
}

function filePointOf(held: HeldPoints, point: number): FilePoint {
  return {
    timestampMs: valueOfHeld(held.get(point, TIME)),
    latitude: valueOfHeld(held.get(point, LATITUDE)),
    longitude: valueOfHeld(held.get(point, LONGITUDE)),
    device: null,
    user: null,
    details: detailsOf(held, point),
  };
}

const DETAILS = [
  ["altitude", ALTITUDE],
  ["speed", SPEED],
  ["bearing", BEARING],
  ["horizontal_accuracy", ACCURACY],
] as const;

function detailsOf(held: HeldPoints, point: number): PointDetails {
  const details: PointDetails = {};
  for (const [name, column] of DETAILS) {
    const value = valueOfHeld(held.get(point, column));
    if (value !== null) details[name] = value;
  }
  return details;
}

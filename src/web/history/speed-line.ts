import type { Position } from "../geo/earth.ts";
import type { PlotSeries } from "../plots/plot-series.ts";
import type { Track } from "./track.ts";

/* The line of a day, or of several, in bands of speed. The speeds are those of the plot, in its unit. */

export interface SpeedScale {
  /** Where a faster band begins, from slow to fast: one number less than there are bands. */
  readonly limits: readonly number[];
  readonly unit: string;
  /** Whether the speeds are computed from positions, because the device did not report them. */
  readonly isFromPositions: boolean;
  /** The time that one speed stands for, in ms; null for a single day, where it is about a minute. */
  readonly stepMs: number | null;
}

/** A piece of the line in one band. */
export interface SpeedPiece {
  /** From 0, the slowest; null if the speed is unknown. */
  readonly band: number | null;
  readonly positions: Position[];
}

export const SPEED_BANDS = 5;
/** Widths of a band that people count in. */
const STEPS = [1, 2, 5, 10, 15, 20, 25, 30, 50, 100, 200, 500];
/** The share of the moving values that the bands are chosen for, so that a single spike does not stretch them. */
const SPREAD = 0.95;
/** A speed also holds for neighboring positions without one, if they are not further away in time. */
const NEIGHBOR_MS_MAX = 120_000;
/** MapLibre draws no longer lines. */
const PIECE_VERTICES_MAX = 4096;

/** Bands of round numbers that fit the speeds of a day; null if the device never moved. */
export function speedLimits({ last }: PlotSeries): readonly number[] | null {
  const moving = last.filter((value) => value !== null && value > 0) as number[];
  if (moving.length === 0) return null;
  moving.sort((a, b) => a - b);
  const top = moving[Math.ceil(SPREAD * moving.length) - 1]!;
  const step = STEPS.find((each) => each * SPEED_BANDS >= top) ?? STEPS.at(-1)!;
  return Array.from({ length: SPEED_BANDS - 1 }, (_, index) => (index + 1) * step);
}

export function bandOf(speed: number, limits: readonly number[]): number {
  return limits.filter((limit) => speed >= limit).length;
}

/**
 * The speed on the way to each position, null if it is unknown. It is the mean of the series on that way while the
 * device moves, or its value at the middle if the way is shorter than a bucket. It is never computed from the distance,
 * which spikes.
 */
export function speedsAlong(track: Track, { timestamp, last }: PlotSeries): readonly (number | null)[] {
  const { count, timestampMs } = track;
  const speeds: (number | null)[] = [];
  let bucket = 0;
  for (let index = 0; index < count; index++) {
    const endMs = timestampMs[index]!;
    const startMs = track.isJoined(index) ? timestampMs[index - 1]! : endMs;
    const middleMs = (startMs + endMs) / 2;
    let [sum, moving] = [0, 0];
    let middle: number | null | undefined;
    // Bucket by bucket to the first one that ends at or after the position; the next way may be in that one, too.
    for (; bucket < timestamp.length; bucket++) {
      const bucketMs = timestamp[bucket]! * 1000;
      const value = last[bucket] ?? null;
      if (bucketMs >= middleMs && middle === undefined) middle = value;
      if (bucketMs > endMs) break;
      if (bucketMs > startMs && value !== null && value > 0) {
        sum += value;
        moving++;
      }
      if (bucketMs === endMs) break;
    }
    speeds.push(moving > 0 ? sum / moving : (middle ?? null));
  }
  return filled(track, speeds);
}

/** The drawn pieces: each ends where the speed changes its band, the line breaks, or it is too long to draw. */
export function speedPieces(
  track: Track,
  speeds: readonly (number | null)[],
  limits: readonly number[],
): readonly SpeedPiece[] {
  const pieces: SpeedPiece[] = [];
  let isOpen = false; // Whether the last piece ends at the previous position.
  for (let index = 1; index < track.count; index++) {
    if (!track.isJoined(index)) {
      isOpen = false;
      continue;
    }
    const speed = speeds[index] ?? null;
    const band = speed === null ? null : bandOf(speed, limits);
    const before = pieces.at(-1);
    const goesOn = isOpen && before!.band === band && before!.positions.length < PIECE_VERTICES_MAX;
    const piece = goesOn ? before! : { band, positions: [positionOf(track, index - 1)] };
    piece.positions.push(positionOf(track, index));
    if (!goesOn) pieces.push(piece);
    isOpen = true;
  }
  return pieces;
}

function positionOf({ latitude, longitude }: Track, index: number): Position {
  return [longitude[index]!, latitude[index]!];
}

/** Fills unknown speeds from the next known one of the same line, or else from the previous one. */
function filled(track: Track, speeds: readonly (number | null)[]): readonly (number | null)[] {
  const { count, timestampMs } = track;
  const result = [...speeds];
  const fill = (index: number, known: number) => {
    const isNear = Math.abs(timestampMs[index]! - timestampMs[known]!) <= NEIGHBOR_MS_MAX;
    if (result[index] === null && isNear) result[index] = speeds[known]!;
  };
  for (let index = count - 2, known = count - 1; index >= 0; index--) {
    if (!track.isJoined(index + 1) || speeds[index + 1] !== null) known = index + 1;
    if (track.isJoined(index + 1) && speeds[known] !== null) fill(index, known);
  }
  for (let index = 1, known = 0; index < count; index++) {
    if (!track.isJoined(index) || speeds[index - 1] !== null) known = index - 1;
    if (track.isJoined(index) && speeds[known] !== null) fill(index, known);
  }
  return result;
}

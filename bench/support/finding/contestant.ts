import type { CircleQuery } from "../../../src/spatial/positions.ts";
import type { PositionColumns } from "./positions.ts";

/** A way to find nearby devices. All give the same answer: exact total, nearest first, ties by device number. */
export interface Contestant {
  readonly name: string;
  find(query: CircleQuery): Answer;
  /** Moves a device; absent for static structures. */
  set?(
    device: number,
    latitude: number,
    longitude: number,
    timestampMs: number,
    accuracyMeters: number,
  ): void;
}

export interface Answer {
  /** The number of devices on the page, the first of `devices`. */
  readonly count: number;
  readonly devices: ArrayLike<number>;
  readonly meters: ArrayLike<number>;
  /** The number of matches on all pages. */
  readonly matches: number;
}

/** Device numbers count from 0 in the order of the columns, which belong to the caller. */
export type CreateContestant = (positions: PositionColumns) => Contestant;

/** Whether the position's age and accuracy match; an unknown accuracy always matches. */
export function isWanted(timestampMs: number, accuracyMeters: number, query: CircleQuery): boolean {
  return timestampMs >= query.oldestMs && !(accuracyMeters > query.accuracyMetersMax);
}

export interface Match {
  readonly device: number;
  readonly meters: number;
}

/** The obvious way to make a page: sort all matches and cut it out. */
export function pageOf(matches: Match[], { offset, limit }: CircleQuery): Answer {
  matches.sort((a, b) => a.meters - b.meters || a.device - b.device);
  const page = matches.slice(offset, offset + limit);
  return {
    count: page.length,
    devices: page.map(({ device }) => device),
    meters: page.map(({ meters }) => meters),
    matches: matches.length,
  };
}

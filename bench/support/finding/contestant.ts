import type { CircleQuery } from "../../../src/spatial/positions.ts";
import type { PositionColumns } from "./positions.ts";

/** A way to find who is near. All give the same answer: exact total, nearest first, then by device number. */
export interface Contestant {
  readonly name: string;
  find(query: CircleQuery): Answer;
  /** Moves a device, as the index does; absent where the structure is built once and for all. */
  set?(
    device: number,
    latitude: number,
    longitude: number,
    timestampMs: number,
    accuracyMeters: number,
  ): void;
}

export interface Answer {
  /** Devices on the page, which are the first of `devices`. */
  readonly count: number;
  readonly devices: ArrayLike<number>;
  readonly meters: ArrayLike<number>;
  /** Devices that match, on any page. */
  readonly matches: number;
}

/** Device numbers count from 0, in the order of the columns, which stay the caller's. */
export type CreateContestant = (positions: PositionColumns) => Contestant;

/** Whether the position's age and accuracy match; one without accuracy is never left out for it. */
export function isWanted(timestampMs: number, accuracyMeters: number, query: CircleQuery): boolean {
  return timestampMs >= query.oldestMs && !(accuracyMeters > query.accuracyMetersMax);
}

export interface Match {
  readonly device: number;
  readonly meters: number;
}

/** The obvious end of a search: sort all that match, cut out the page. */
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

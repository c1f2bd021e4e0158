import type { TrackRows } from "../../archive/read/archive-session.ts";
import { addTimedPositions } from "../../hot/scan/memory-scan.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { BoundingBox } from "../../model/geo/bounding-box.ts";
import type { AppId } from "../../model/ids.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { type Caller, retainedRange } from "./find-device.ts";
import {
  createReadStretches,
  type HistoryDependencies,
  type RangeAnswer,
  type StretchSink,
} from "./history/read-stretches.ts";
import { FleetLines, type FleetTracks } from "./track/fleet-lines.ts";

/*
 * Where all devices of an app were in a range, as lines with few vertices: what a time lapse plays.
 */

export interface FleetTracksQuery {
  /** The part before the retention is ignored. */
  readonly range: TimeRange;
  readonly toleranceMeters: number;
  /** Null for the whole world. */
  readonly box: BoundingBox | null;
}

export type FindFleetTracks = (
  appId: AppId,
  query: FleetTracksQuery,
  caller: Caller,
) => Promise<Result<RangeAnswer<FleetTracks>, ServiceError>>;

/** Some 17 MB of JSON, and as much memory while they are made. */
export const VERTICES_MAX = 500_000;
/** Each needs at least a vertex, and its open line takes some 150 bytes. */
export const DEVICES_MAX = 250_000;
/** Rows of the archive in one step, which takes about 0.3 ms. */
const STEP_ROWS = 2048;

export interface FleetTracksLimits {
  readonly verticesMax: number;
  readonly devicesMax: number;
}

const LIMITS: FleetTracksLimits = { verticesMax: VERTICES_MAX, devicesMax: DEVICES_MAX };

const TOO_MUCH: ServiceError = {
  kind: "invalid_parameter",
  message: "the range has too many devices or silences for one answer; ask for less time or for a bbox",
};

export function createFindFleetTracks(
  dependencies: HistoryDependencies,
  limits: FleetTracksLimits = LIMITS,
): FindFleetTracks {
  const readStretches = createReadStretches(dependencies);
  return async function findFleetTracks(appId, { range, ...query }, caller) {
    const whose = { appId, device: null, range: retainedRange(dependencies, range) };
    const begin = () => trackSink(dependencies, appId, new FleetLines({ ...query, ...limits }));
    const read = await readStretches(whose, caller, begin);
    if (!read.ok) return read;
    const { value, isIncomplete } = read.value;
    return value === null ? fail(TOO_MUCH) : ok({ value, isIncomplete });
  };
}

function trackSink(
  { hot }: HistoryDependencies,
  appId: AppId,
  lines: FleetLines,
): StretchSink<TrackRows, FleetTracks | null> {
  return {
    *addMemory(range) {
      const app = hot.findApp(appId);
      if (app === null) return;
      const scan = hot.scan({ devices: app, range, userId: null, accuracyMetersMax: null });
      const adding = addTimedPositions(scan, lines);
      for (let step = adding.next(); step.done !== true; step = adding.next()) {
        yield* lines.catchUp();
        yield;
      }
      yield* lines.catchUp();
    },
    read: (session, scan) => session.tracks(scan),
    *addRows({ count, deviceIds, timestampMs, latitude, longitude }) {
      for (let row = 0; row < count; row++) {
        lines.add(deviceIds[row]!, timestampMs[row]!, latitude[row]!, longitude[row]!);
        if (row % STEP_ROWS !== STEP_ROWS - 1) continue;
        yield* lines.catchUp();
        yield;
      }
      yield* lines.catchUp();
    },
    end: () => lines.end(),
  };
}

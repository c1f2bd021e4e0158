import type { CoordinateRows } from "../../archive/read/archive-session.ts";
import { addPositions } from "../../hot/scan/memory-scan.ts";
import type { Result } from "../../lib/result.ts";
import type { MaybePromise } from "../../lib/schedule/maybe-promise.ts";
import { inOneStep, type Steps } from "../../lib/schedule/steps.ts";
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

/*
 * The positions of all records of an app, in no order: directly from memory, from the archive with late rows laid over.
 */

export interface CoordinatesQuery {
  /** The part before the retention is ignored. */
  readonly range: TimeRange;
  /** Null for the whole world. */
  readonly box: BoundingBox | null;
}

/** Computes a value from positions. */
export interface CoordinatesReading<Value> {
  /** Adds the position of a record, in degrees. */
  add(latitude: number, longitude: number): void;
  /** Does the work that is due after some thousand positions. */
  catchUp(): Steps<void>;
  /** The result after the last position. */
  readonly value: Value;
}

/** Begins again, with another reading, if a seal moved records meanwhile. */
export type ReadCoordinates = <Value>(
  appId: AppId,
  query: CoordinatesQuery,
  caller: Caller,
  begin: () => CoordinatesReading<Value>,
) => MaybePromise<Result<RangeAnswer<Value>, ServiceError>>;

/** Rows of the archive in one step, which takes about 0.1 ms. */
const STEP_ROWS = 2048;

export function createReadCoordinates(dependencies: HistoryDependencies): ReadCoordinates {
  const readStretches = createReadStretches(dependencies);
  return function readCoordinates(appId, { range, box }, caller, begin) {
    const whose = { appId, device: null, range: retainedRange(dependencies, range) };
    return readStretches(whose, caller, () => coordinateSink(dependencies, appId, box, begin()));
  };
}

function coordinateSink<Value>(
  { hot }: HistoryDependencies,
  appId: AppId,
  box: BoundingBox | null,
  reading: CoordinatesReading<Value>,
): StretchSink<CoordinateRows, Value> {
  const inBox = {
    add(_deviceId: unknown, latitude: number, longitude: number): void {
      if (box === null || box.contains(latitude, longitude)) reading.add(latitude, longitude);
    },
  };
  return {
    *addMemory(range) {
      const app = hot.findApp(appId);
      if (app === null) return;
      const scan = hot.scan({ devices: app, range, userId: null, accuracyMetersMax: null });
      const adding = addPositions(scan, inBox);
      for (let step = adding.next(); step.done !== true; step = adding.next()) {
        yield* reading.catchUp();
        yield;
      }
      yield* reading.catchUp();
    },
    read: (session, scan) => session.coordinates(scan, box),
    *addRows({ count, latitude, longitude }) {
      for (let row = 0; row < count; row++) {
        reading.add(latitude[row]!, longitude[row]!);
        if (row % STEP_ROWS !== STEP_ROWS - 1) continue;
        yield* reading.catchUp();
        yield;
      }
      yield* reading.catchUp();
    },
    end: () => inOneStep(() => reading.value),
  };
}

import type { Result } from "../../lib/result.ts";
import { inOneStep, type Steps } from "../../lib/schedule/steps.ts";
import type { ServiceError } from "../../model/errors.ts";
import { OutlierFinder, type OutlierRule, type Outliers, USUAL_SPEED_MAX } from "../../model/geo/outliers.ts";
import type { AppId } from "../../model/ids.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { Caller } from "./find-device.ts";
import type { RangeAnswer } from "./history/read-stretches.ts";
import type { PositionBlock, PositionReading, ReadPositions } from "./positions.ts";

/* The probably wrong positions of a device, from memory and archive. */

export interface OutliersQuery extends Omit<OutlierRule, "speedMax"> {
  readonly deviceId: string;
  readonly range: TimeRange;
  /** In meters per second; null for the limit that suits the device. */
  readonly speedMax: number | null;
}

export interface OutliersFound extends Outliers {
  /** The applied limit, in meters per second. */
  readonly speedMax: number;
}

export type FindOutliers = (
  appId: AppId,
  query: OutliersQuery,
  caller: Caller,
) => Promise<Result<RangeAnswer<OutliersFound>, ServiceError>>;

export function createFindOutliers(readPositions: ReadPositions): FindOutliers {
  return async function findOutliers(appId, { deviceId, range, accuracyMetersMax, speedMax }, caller) {
    const fields = accuracyMetersMax === null ? [] : (["horizontal_accuracy"] as const);
    const read = (speedMax: number) => {
      const begin = () => new OutlierReading({ speedMax, accuracyMetersMax });
      return readPositions(appId, { deviceId, range, fields }, caller, begin);
    };
    const answer = await read(speedMax ?? USUAL_SPEED_MAX);
    if (!answer.ok || speedMax !== null) return answer;
    const { speedMaxOfDevice } = answer.value.value;
    // Positions are read twice instead of remembered: a fast device may have millions of fast legs.
    return speedMaxOfDevice > USUAL_SPEED_MAX ? read(speedMaxOfDevice) : answer;
  };
}

/** Positions in one step, which takes about 0.2 ms. */
const STEP_POSITIONS = 512;

export class OutlierReading implements PositionReading<OutliersFound> {
  readonly #finder: OutlierFinder;
  readonly #speedMax: number;
  #block: PositionBlock | null = null;

  constructor(rule: OutlierRule) {
    this.#finder = new OutlierFinder(rule);
    this.#speedMax = rule.speedMax;
  }

  add(block: PositionBlock): void {
    this.#block = block;
  }

  *work(): Steps<void> {
    const { count, timestampMs, latitude, longitude, numbers } = this.#block!;
    const [accuracy] = numbers;
    for (let row = 0; row < count; row++) {
      const accuracyMeters = accuracy === undefined ? Number.NaN : accuracy[row]!;
      this.#finder.add(timestampMs[row]!, latitude[row]!, longitude[row]!, accuracyMeters);
      if (row % STEP_POSITIONS === STEP_POSITIONS - 1) yield;
    }
  }

  end(): Steps<OutliersFound> {
    return inOneStep(() => ({ ...this.#finder.end(), speedMax: this.#speedMax }));
  }
}

import { ok, type Result } from "../../lib/result.ts";
import { inOneStep } from "../../lib/schedule/steps.ts";
import { hasNumber } from "../../lib/tables/sorted-numbers.ts";
import type { CorrectionTarget } from "../../model/correction.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import type { Caller } from "../queries/find-device.ts";
import type { PositionBlock, PositionReading } from "../queries/positions.ts";
import type { NewestDependencies } from "./newest-record.ts";
import { rangesOfTimes } from "./select-records.ts";

/** The first instant at which a correction would show a record where another one shows; null if there is none. */
export async function findTaken(
  { hot, readPositions }: NewestDependencies,
  appId: AppId,
  deviceId: DeviceId,
  target: CorrectionTarget,
  times: Float64Array,
  caller: Caller,
): Promise<Result<number | null, ServiceError>> {
  const isSameDevice = target.deviceId === deviceId;
  if (isSameDevice && target.byMs === 0) return ok(null);
  const device = hot.findApp(appId)?.find(target.deviceId) ?? null;
  if (device === null || device.newestMs === Number.NEGATIVE_INFINITY) return ok(null);
  const targets = times.map((timeMs) => timeMs + target.byMs);
  const leaving = isSameDevice ? times : new Float64Array(0);
  for (const range of rangesOfTimes(targets)) {
    const query = { deviceId: target.deviceId, range, fields: [] } as const;
    const read = await readPositions(appId, query, caller, () => new TakenReading(targets, leaving));
    if (!read.ok) return read;
    if (read.value.value !== null) return ok(read.value.value);
  }
  return ok(null);
}

/** Finds the first of some sorted instants that has a position, unless that is about to leave. */
class TakenReading implements PositionReading<number | null> {
  readonly #targets: Float64Array;
  readonly #leaving: Float64Array;
  #firstMs: number | null = null;

  constructor(targets: Float64Array, leaving: Float64Array) {
    this.#targets = targets;
    this.#leaving = leaving;
  }

  add({ count, timestampMs }: PositionBlock): void {
    for (let row = 0; row < count && this.#firstMs === null; row++) {
      const timeMs = timestampMs[row]!;
      if (hasNumber(this.#targets, timeMs) && !hasNumber(this.#leaving, timeMs)) this.#firstMs = timeMs;
    }
  }

  end() {
    return inOneStep(() => this.#firstMs);
  }
}

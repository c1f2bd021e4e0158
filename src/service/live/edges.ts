import type { AppDevices } from "../../hot/app-devices.ts";
import { utcDayOf } from "../../model/time/utc-day.ts";
import type { FindDependencies } from "../queries/find-device.ts";

/**
 * The retention's edge as each app was last looked at. It moves at midnight, and when somebody sets another one; then
 * devices go from sight, or come back, and no change tells of it.
 */
export class Edges {
  readonly #dependencies: Pick<FindDependencies, "clock" | "retention">;
  readonly #lookedAtMs = new WeakMap<AppDevices, number>();

  constructor(dependencies: Pick<FindDependencies, "clock" | "retention">) {
    this.#dependencies = dependencies;
  }

  /** What is older is in no answer. */
  nowMs(): number {
    const { retention, clock } = this.#dependencies;
    return retention.startMs(clock.nowMs());
  }

  /** Has the app forget its changes where the edge has passed any of its devices since the last look. */
  check(app: AppDevices): void {
    const edgeMs = this.nowMs();
    const lastMs = this.#lookedAtMs.get(app) ?? Number.NEGATIVE_INFINITY;
    if (edgeMs === lastMs) return;
    this.#lookedAtMs.set(app, edgeMs);
    const { newestTimes, changes, touches } = app;
    if (newestTimes.countFrom(utcDayOf(lastMs)) === newestTimes.countFrom(utcDayOf(edgeMs))) return;
    changes.clear(touches.sequence);
  }
}

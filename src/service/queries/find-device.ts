import type { View } from "../../auth/view.ts";
import type { AppDevices } from "../../hot/app-devices.ts";
import type { Device } from "../../hot/devices/device.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { MaybePromise } from "../../lib/schedule/maybe-promise.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { Retention } from "../../model/time/retention.ts";

/** The dependencies of every query. */
export interface FindDependencies {
  readonly hot: HotStore;
  readonly clock: Clock;
  readonly retention: Retention;
}

/** The dependencies of queries with possibly long answers. */
export interface QueryDependencies extends FindDependencies {
  /** Shares the time for long answers. */
  readonly scheduler: Scheduler;
}

/** The caller of a query; the signal aborts it. */
export interface Caller {
  readonly signal: AbortSignal;
}

/**
 * Turns a match into the answer, synchronously: if it waited for a promise, a report could meanwhile move a device, or
 * give it to another user.
 */
export type Show<Match, Shown> = (match: Match) => MaybePromise<Shown>;

/** A device without a report in the whole retention is removed with its data. */
export function isRetained(device: Device, startMs: number): boolean {
  return device.newestMs >= startMs;
}

/** The part of a range within the retention, which may be empty. */
export function retainedRange({ clock, retention }: FindDependencies, range: TimeRange): TimeRange {
  const startMs = Math.max(range.startMs, retention.startMs(clock.nowMs()));
  return { startMs, endMs: Math.max(startMs, range.endMs) };
}

/** The range of times of newest records that are shown. */
export function shownRange({ clock, retention }: FindDependencies, view: View | null): TimeRange {
  const retained = { startMs: retention.startMs(clock.nowMs()), endMs: Number.POSITIVE_INFINITY };
  return view === null ? retained : view.rangeOf(retained);
}

/** A device outside the view is reported as missing, so that the key can't learn of it. */
export function findDevice(
  dependencies: FindDependencies,
  appId: AppId,
  deviceId: string,
  view: View | null = null,
): Result<{ app: AppDevices; device: Device }, ServiceError> {
  const app = dependencies.hot.findApp(appId);
  const device = view?.showsDevice(deviceId) === false ? null : (app?.find(deviceId) ?? null);
  const { startMs } = shownRange(dependencies, view);
  if (app === null || device === null || !isRetained(device, startMs)) {
    return fail({ kind: "device_not_found", deviceId });
  }
  return ok({ app, device });
}

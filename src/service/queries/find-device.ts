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

/** What every query is asked of. */
export interface FindDependencies {
  readonly hot: HotStore;
  readonly clock: Clock;
  readonly retention: Retention;
}

/** And what those need whose answers may be long. */
export interface QueryDependencies extends FindDependencies {
  /** Gives long answers the time to be found. */
  readonly scheduler: Scheduler;
}

/** Who asks: once the signal comes, nobody waits for the answer any more. */
export interface Client {
  readonly signal: AbortSignal;
}

/**
 * Makes of what was found what is answered, in the same step: by the time a promise of it was heard, a report could
 * have moved a device, or made it another user's.
 */
export type Show<Found, Shown> = (found: Found) => MaybePromise<Shown>;

/** A device that was silent for the whole retention is gone, with its data. */
export function isRetained(device: Device, startMs: number): boolean {
  return device.newestMs >= startMs;
}

/** A range without what is past the retention, which may leave nothing of it. */
export function retainedRange({ clock, retention }: FindDependencies, range: TimeRange): TimeRange {
  const startMs = Math.max(range.startMs, retention.startMs(clock.nowMs()));
  return { startMs, endMs: Math.max(startMs, range.endMs) };
}

/** The times of newest records that are shown. */
export function shownRange({ clock, retention }: FindDependencies, view: View | null): TimeRange {
  const retained = { startMs: retention.startMs(clock.nowMs()), endMs: Number.POSITIVE_INFINITY };
  return view === null ? retained : view.rangeOf(retained);
}

/** What a view doesn't show is not there, as far as its key is told. */
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

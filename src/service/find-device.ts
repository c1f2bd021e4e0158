import type { AppDevices } from "../hot/app-devices.ts";
import type { Device } from "../hot/device.ts";
import type { HotStore } from "../hot/hot-store.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import type { ServiceError } from "../model/errors.ts";
import type { AppId } from "../model/ids.ts";
import type { Clock } from "../time/clock.ts";
import { retentionStartMs } from "../time/retention.ts";

/** What every question is asked of. */
export interface QueryDependencies {
  readonly hot: HotStore;
  readonly clock: Clock;
}

/** A device that was silent for the whole retention is gone, with its data. */
export function isRetained(device: Device, startMs: number): boolean {
  return device.newestMs >= startMs;
}

/** The app's devices that are not gone, in order of their ids. */
export function retainedDevices(app: AppDevices | null, nowMs: number): readonly Device[] {
  if (app === null) return [];
  const startMs = retentionStartMs(nowMs);
  return app.list.sorted().filter((device) => isRetained(device, startMs));
}

export function findDevice(
  { hot, clock }: QueryDependencies,
  appId: AppId,
  deviceId: string,
): Result<{ app: AppDevices; device: Device }, ServiceError> {
  const app = hot.findApp(appId);
  const device = app?.find(deviceId) ?? null;
  if (app === null || device === null || !isRetained(device, retentionStartMs(clock.nowMs()))) {
    return fail({ kind: "device_not_found", deviceId });
  }
  return ok({ app, device });
}

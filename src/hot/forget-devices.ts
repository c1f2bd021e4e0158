import { assert } from "../lib/assert.ts";
import type { Apps } from "./apps.ts";
import type { Dictionary } from "./records/dictionary.ts";

/*
 * Forgets devices that have nothing newer than this and nothing in memory, and apps without a device, some a step.
 */

/** What a step may cost, in devices that are looked at, each well under a microsecond; to forget one takes some. */
const STEP_LOOKS = 1024;
const FORGET_LOOKS = 8;

export function* forgetDevices(apps: Apps, dictionary: Dictionary, beforeMs: number): Iterable<void> {
  let looks = 0;
  for (const app of apps.all()) {
    for (const device of app.list.devices()) {
      if (device?.track.count === 0 && device.sealedNewestMs < beforeMs) {
        app.remove(device);
        app.changes.clear(app.touches.sequence);
        looks += FORGET_LOOKS;
      }
      if (device !== null && ++looks < STEP_LOOKS) continue;
      looks = 0;
      dictionary.collect();
      yield;
    }
    if (app.deviceCount > 0) continue;
    assert(
      app.recordCount === 0 && app.users.count === 0,
      "an app without devices has neither records nor users",
    );
    apps.remove(app);
  }
  dictionary.collect();
}

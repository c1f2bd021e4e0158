import { assert } from "../lib/assert.ts";
import type { Apps } from "./apps.ts";
import type { Dictionary } from "./records/dictionary.ts";

/*
 * Forgets devices that have nothing newer than this and nothing in memory, and apps without a device, some a step.
 */

const DEVICES_A_STEP = 1000; // Looking at a device to forget it costs well under a microsecond.

export function* forgetDevices(apps: Apps, dictionary: Dictionary, beforeMs: number): Iterable<void> {
  let looked = 0;
  for (const app of apps.all()) {
    for (const device of app.list.devices()) {
      if (device?.track.count === 0 && device.sealedNewestMs < beforeMs) app.remove(device);
      if (device !== null && ++looked % DEVICES_A_STEP > 0) continue;
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

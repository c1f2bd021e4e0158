import { expect, test } from "bun:test";
import { DeviceProfiles } from "../../../src/hot/device-profiles.ts";
import type { AppId, DeviceId } from "../../../src/model/ids.ts";
import type { DeviceProfileEntry } from "../../../src/model/standing-entry.ts";
import { profileOf } from "../../reference/profiles.ts";

const APP = "app" as AppId;

function entry(deviceId: string, name: string | null): DeviceProfileEntry {
  const profile = name === null ? null : profileOf({ name });
  return { kind: "device_profile", appId: APP, deviceId: deviceId as DeviceId, profile };
}

const namesIn = (profiles: DeviceProfiles) =>
  [...profiles.entries()].map(({ deviceId, profile }) => `${deviceId} ${profile?.name}`);

test("apply() skips entries that the archive's file covers, and takes those after it", () => {
  const profiles = new DeviceProfiles();
  profiles.restore(entry("a", "newer"));
  profiles.endRestore(7);
  profiles.apply(entry("a", "older"), 5);
  profiles.apply(entry("b", "gone"), 7);
  expect([namesIn(profiles), profiles.sequence, profiles.sequenceOf(APP)]).toEqual([["a newer"], 7, 0]);
  profiles.apply(entry("a", "newest"), 8);
  expect([namesIn(profiles), profiles.sequence, profiles.sequenceOf(APP)]).toEqual([["a newest"], 8, 8]);
});

test("entries() may be read while others are applied, and a later one of a device comes later", () => {
  const profiles = new DeviceProfiles();
  for (const [index, device] of ["a", "b", "c"].entries()) profiles.apply(entry(device, "1"), index + 1);
  const seen: string[] = [];
  for (const { deviceId, profile } of profiles.entries()) {
    seen.push(`${deviceId} ${profile?.name}`);
    if (seen.length === 1) profiles.apply(entry("a", "2"), 4);
    if (seen.length === 2) profiles.apply(entry("c", null), 5);
  }
  expect(seen).toEqual(["a 1", "b 1", "a 2"]);
});

test("sortedIds() knows devices that come and go", () => {
  const profiles = new DeviceProfiles();
  for (const [index, device] of ["c", "a", "b"].entries()) profiles.apply(entry(device, "1"), index + 1);
  expect([...drained(profiles)] as string[]).toEqual(["a", "b", "c"]);
  profiles.apply(entry("b", null), 4);
  profiles.apply(entry("0", "1"), 5);
  expect([...drained(profiles)] as string[]).toEqual(["0", "a", "c"]);
  profiles.apply(entry("a", "2"), 6); // The same devices as before.
  expect([...drained(profiles)] as string[]).toEqual(["0", "a", "c"]);
});

function drained(profiles: DeviceProfiles): readonly DeviceId[] {
  const steps = profiles.sortedIds(APP);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

import { expect, test } from "bun:test";
import { CorrectionsOfApp } from "../../../../src/hot/hidden/held-correction.ts";
import { HiddenRows } from "../../../../src/hot/hidden/hidden-rows.ts";
import type { DeviceId } from "../../../../src/model/ids.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { APP } from "../../../support/reports/batches.ts";

const [DEVICE, OTHER] = ["device", "other"] as DeviceId[];
const DAY = { startMs: 0, endMs: MS_PER_DAY };

test("the version of a device's hidden keys of a day changes with those alone", () => {
  const app = new CorrectionsOfApp();
  const hide = (deviceId: DeviceId, timeMs: number, sign: 1 | -1) => {
    app.hide(deviceId, Float64Array.of(timeMs), ++app.number, sign);
  };
  const versionOf = (deviceIds: readonly DeviceId[] | null) =>
    new HiddenRows(APP, app, deviceIds).within(DAY)?.version();
  expect(versionOf([DEVICE!])).toBeUndefined();
  hide(DEVICE!, 5, 1);
  const [version, ofApp] = [versionOf([DEVICE!]), versionOf(null)];
  hide(DEVICE!, MS_PER_DAY, 1);
  hide(OTHER!, 5, 1);
  expect(versionOf([DEVICE!])).toBe(version);
  expect(versionOf(null)).not.toBe(ofApp);
  expect(versionOf([OTHER!])).not.toBe(version);
  hide(DEVICE!, 6, 1);
  expect(versionOf([DEVICE!])).not.toBe(version);
});

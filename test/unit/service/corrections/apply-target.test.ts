import { expect, test } from "bun:test";
import type { CorrectionTarget } from "../../../../src/model/correction.ts";
import { membersOf } from "../../../../src/model/correction.ts";
import type { DeviceId } from "../../../../src/model/ids.ts";
import { applyTarget } from "../../../../src/service/corrections/apply-target.ts";
import { batchOf } from "../../../support/reports/batches.ts";

const BASE_MS = 1_768_435_200_000;
const SAME: CorrectionTarget = { deviceId: "bus" as DeviceId, byMs: 0, position: null, userId: null };

const BATCH = batchOf([
  { device_id: "bus", timestamp: BASE_MS, latitude: 1, longitude: 2, user_id: "u", speed: 3, brand: "x" },
  { device_id: "bus", timestamp: BASE_MS + 1000, latitude: 3, longitude: 4, horizontal_accuracy: 9 },
]);

function rowsOf(target: Partial<CorrectionTarget>): Record<string, unknown>[] {
  const batch = applyTarget(BATCH, { ...SAME, ...target });
  return [0, 1].map((row) => ({ device_id: batch.texts[batch.device[row]!], ...membersOf(batch, row) }));
}

test("applyTarget() sets what the target names, and nothing else", () => {
  const [first, second] = rowsOf({});
  expect(rowsOf({ deviceId: "tram" as DeviceId, byMs: -500 })).toEqual([
    { ...first!, device_id: "tram", timestamp: BASE_MS - 500 },
    { ...second!, device_id: "tram", timestamp: BASE_MS + 500 },
  ]);
  expect(rowsOf({ position: { latitude: 5, longitude: 6, accuracyMeters: null } })).toEqual([
    { ...first!, latitude: 5, longitude: 6 },
    { ...second!, latitude: 5, longitude: 6 },
  ]);
  expect(rowsOf({ position: { latitude: 5, longitude: 6, accuracyMeters: 7 } })).toMatchObject([
    { horizontal_accuracy: 7, speed: 3 },
    { horizontal_accuracy: 7 },
  ]);
  expect(rowsOf({ userId: "v" })).toEqual([
    { ...first!, user_id: "v" },
    { ...second!, user_id: "v" },
  ]);
});

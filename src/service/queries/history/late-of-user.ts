import type { RecordKeys } from "../../../archive/read/archive-session.ts";
import type { AppDevices } from "../../../hot/app-devices.ts";
import type { RecordKey } from "../../../hot/scan/first-records.ts";
import { addKeys, type MemoryScan } from "../../../hot/scan/memory-scan.ts";
import type { MaybePromise } from "../../../lib/schedule/maybe-promise.ts";
import { type Steps, sortInSteps } from "../../../lib/schedule/steps.ts";

/** Lookups of archived keys for each key in the result: a lookup costs a hundredth of overlaying a row. */
const LOOKS_A_KEY = 64;

/**
 * The late rows that decide which records are a user's: those of the user, and those that replace a record of the user.
 * In order of time; null if there are more than `keysMax`.
 */
export async function findLateOfUser(
  app: AppDevices,
  ofUser: MemoryScan,
  archived: AsyncIterable<RecordKeys>,
  keysMax: number,
  steps: <Value>(work: Steps<Value>) => MaybePromise<Value>,
): Promise<readonly RecordKey[] | null> {
  const keys: RecordKey[] = [];
  let looks = 0;
  for await (const { count, deviceIds, timestampMs } of archived) {
    looks += count;
    if (looks > LOOKS_A_KEY * keysMax) return null;
    for (let row = 0; row < count; row++) {
      const device = app.find(deviceIds[row]!);
      if (device === null || device.findRecord(timestampMs[row]!) === null) continue;
      keys.push({ device, timestampMs: timestampMs[row]! });
    }
    if (keys.length > keysMax) return null;
  }
  await steps(addKeys(ofUser, keys, keysMax));
  if (keys.length > keysMax) return null;
  const sorted = await steps(sortInSteps(keys, inOrder));
  return sorted.filter((key, index) => index === 0 || inOrder(sorted[index - 1]!, key) !== 0);
}

function inOrder(a: RecordKey, b: RecordKey): number {
  return a.timestampMs - b.timestampMs || a.device.number - b.device.number;
}

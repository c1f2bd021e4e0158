/** Fills a data directory for `fairness` and prints its keys: `make-directory.ts ORDER`, see `directories.ts`. */

import type { Permission } from "../../../src/auth/key-file.ts";
import { type KeyStore, openKeyStore } from "../../../src/auth/key-store.ts";
import type { TierName } from "../../../src/auth/tiers.ts";
import { directoryPaths } from "../../../src/directory/paths.ts";
import { UNBOUND } from "../../../src/model/binding.ts";
import type { AppId } from "../../../src/model/ids.ts";
import { systemClock } from "../../../src/model/time/clock.ts";
import { startOfUtcDayMs } from "../../../src/model/time/retention.ts";
import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import { createPlatform } from "../../../src/runtime/platform.ts";
import { batchesOf } from "../fleets/batches.ts";
import { createFleet } from "../fleets/fleet.ts";
import { openBenchDirectory } from "../store/archived-directory.ts";
import {
  ARCHIVED_DAYS,
  ARCHIVED_DAYS_AGO_MIN,
  CROWD_PLACE,
  CROWD_USER,
  crowdDevice,
  EARLY_DEVICE,
  LATE_DAYS_AGO,
  SHARED_DEVICE,
  SHARED_RECORDS_MAX,
  SHARED_USER,
} from "./attack/attacked-data.ts";
import { BYSTANDER_DEVICES } from "./bystander.ts";
import type { DirectoryOrder, Keys } from "./directories.ts";

const BYSTANDER = "bystander" as AppId;
const ATTACKER = "attacker" as AppId;
const ROUNDS = 10;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Devices with the archived and the late rows. */
const ROW_DEVICES = 100;
const BATCH = 10_000;

const { name, dataDir, devices, lateRows, archivedRowsADay } = JSON.parse(process.argv[2]!) as DirectoryOrder;
const nowMs = Date.now();
const dayStartMs = (daysAgo: number) => startOfUtcDayMs(nowMs - daysAgo * MS_PER_DAY);
const keys = await makeKeys();
const directory = await openBenchDirectory(dataDir, systemClock);

async function take(appId: AppId, reports: Iterable<object>): Promise<void> {
  for (const batch of batchesOf(reports, BATCH)) {
    const answer = await directory.ingest(appId, batch);
    if (!answer.ok) throw new Error(`reports are refused: ${JSON.stringify(answer.error)}`);
  }
}

for (const startMs of [nowMs - HOUR_MS, dayStartMs(ARCHIVED_DAYS_AGO_MIN)]) {
  const fleet = createFleet({ devices: BYSTANDER_DEVICES, seed: 1, startMs, stepMs: MINUTE_MS });
  for (let round = 0; round < ROUNDS; round++) await take(BYSTANDER, fleet.round(round));
}
for (let day = 0; day < ARCHIVED_DAYS; day++) {
  await take(ATTACKER, rowsOf(dayStartMs(ARCHIVED_DAYS_AGO_MIN + day), archivedRowsADay, EARLY_DEVICE));
}
await directory.schedule.sealNow();
if (name === "late") await take(ATTACKER, rowsOf(dayStartMs(LATE_DAYS_AGO), lateRows, "late-"));
if (name === "crowd") await take(ATTACKER, crowd());
await directory.close();
process.stdout.write(JSON.stringify(keys));

/** Rows of a day, each at its own instant. */
function* rowsOf(startMs: number, count: number, prefix: string): Generator<object> {
  const stepMs = Math.floor(MS_PER_DAY / (count + 1));
  for (let row = 0; row < count; row++) {
    yield {
      device_id: `${prefix}${row % ROW_DEVICES}`,
      timestamp: startMs + row * stepMs,
      ...CROWD_PLACE,
      horizontal_accuracy: row % 20,
    };
  }
}

/** Many devices of one user, and a device of many users. */
function* crowd(): Generator<object> {
  const timestamp = nowMs - HOUR_MS;
  for (let index = 0; index < devices; index++) {
    yield {
      device_id: crowdDevice(index),
      user_id: CROWD_USER,
      timestamp,
      ...CROWD_PLACE,
      horizontal_accuracy: index % 10,
    };
  }
  for (let record = 0; record < Math.min(devices, SHARED_RECORDS_MAX); record++) {
    yield {
      device_id: SHARED_DEVICE,
      user_id: `${SHARED_USER}${record}`,
      timestamp: timestamp + record * 10,
      ...CROWD_PLACE,
    };
  }
}

async function makeKeys(): Promise<Keys> {
  const { files, acquireLock, pid } = createPlatform();
  await files.makeDirectory(dataDir);
  const path = directoryPaths(dataDir).keys;
  const store = await openKeyStore({
    files,
    path,
    clock: systemClock,
    acquireLock,
    process: { pid, command: "bench" },
  });
  return {
    bystander: await makeKey(store, BYSTANDER, "unlimited", ["read", "write"]),
    attacker: await makeKey(store, ATTACKER, "free", ["read", "write"]),
    operator: await makeKey(store, BYSTANDER, "unlimited", ["operate"]),
  };
}

async function makeKey(
  store: KeyStore,
  appId: AppId,
  tier: TierName,
  permissions: readonly Permission[],
): Promise<string> {
  const created = await store.create({
    appId,
    permissions,
    view: null,
    tier,
    label: "",
    ...UNBOUND,
    expiresMs: null,
  });
  if (!created.ok) throw new Error(`no key could be made: ${created.error.kind}`);
  return created.value.text;
}

import { afterAll, expect, test } from "bun:test";
import type { AppId } from "../../../../src/model/ids.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";
import { NEWEST_MAX } from "../../../../src/service/erasures/erase.ts";
import { scanLog } from "../../../../src/wal/read-log.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { batchOf } from "../../../support/reports/batches.ts";
import { APP_ID } from "../../../support/test-app.ts";

/** A user who reported with very many devices is erased by entries of bounded size, and all of them show the rest. */

afterAll(removeArchiveApps);

const NOW_MS = Date.UTC(2026, 0, 28, 12);
const DEVICES = 10_500;
const BATCH = 4000;
/** What a NATS server takes by default. */
const ENTRY_BYTES_MAX = 1_000_000;

/** Of each device bert's oldest record, then anna's, archived and in memory; of every third one carl's newest. */
async function fill(app: ArchiveApp): Promise<void> {
  for (const [daysAgo, userId] of [
    [21, "bert"],
    [20, "anna"],
    [19, "anna"],
    [1, "anna"],
    [0.5, "carl"],
  ] as const) {
    const ids = Array.from({ length: DEVICES }, (_, i) => i).filter((i) => userId !== "carl" || i % 3 === 0);
    for (let from = 0; from < ids.length; from += BATCH) {
      const reports = ids.slice(from, from + BATCH).map((i) => ({
        device_id: `device-${i}`,
        timestamp: NOW_MS - daysAgo * MS_PER_DAY,
        latitude: (i % 1000) / 100,
        longitude: 2,
        ...(i % 3 === 1 && userId === "bert" ? {} : { user_id: userId }),
      }));
      const stored = await app.directory.ingest(APP_ID as AppId, batchOf(reports));
      if (!stored.ok) throw new Error(stored.error.kind);
    }
  }
  await app.seal();
}

function get(app: ArchiveApp, path: string) {
  return app.get(`/api/v1/${path}`);
}

async function expectRest(app: ArchiveApp): Promise<void> {
  for (const [device, users] of [
    ["device-0", ["bert", "carl"]],
    ["device-1", ["ANONYMOUS"]],
    ["device-7001", ["bert"]],
  ] as [string, string[]][]) {
    const path = `devices/${device}/locations/history?start_date=2026-01-01&end_date=2026-01-28`;
    const { body } = await get(app, path);
    expect([device, body.locations.map((record) => record.user_id)]).toEqual([device, users]);
    const current = await get(app, `devices/${device}/locations/current`);
    expect(current.body).toMatchObject({ location: { timestamp: body.locations.at(-1)!.timestamp } });
  }
  expect((await get(app, "locations/current?limit=1")).body).toMatchObject({
    pagination: { total_count: DEVICES },
  });
  expect((await get(app, "users/anna/devices")).body).toMatchObject({ device_count: 0 });
}

test("a user of 10,500 devices", async () => {
  const app = await createArchiveApp({ clock: createManualClock(NOW_MS) });
  await fill(app);
  const headers = { authorization: `Bearer ${app.keys.eraser}`, "content-type": "application/json" };
  const body = JSON.stringify({ user_id: "anna" });
  const made = await app.fetch("/api/v1/erasures", { method: "POST", headers, body });
  expect(await made.json()).toMatchObject({ erasure: { devices: DEVICES } });
  await expectRest(app);

  const sequences: number[] = [];
  for await (const entry of scanLog(createNodeFiles(), `${app.dataDir}/wal`)) {
    if (entry.kind !== "erasure") continue;
    sequences.push(entry.sequence);
    expect(JSON.stringify(entry).length).toBeLessThan(ENTRY_BYTES_MAX);
  }
  expect(sequences).toHaveLength(Math.ceil(DEVICES / NEWEST_MAX));
  const replayed = await app.restart();
  await expectRest(replayed);
  expect(replayed.directory.eraser.list(APP_ID as AppId)).toHaveLength(1);
  const options = { dropsDamaged: false, onDaysLeft: () => undefined };
  expect(await replayed.directory.eraser.finishNow(options)).toBeNull();
  const [state] = replayed.directory.eraser.list(APP_ID as AppId);
  const { report } = (await replayed.directory.eraser.find(APP_ID as AppId, state!.id))!;
  const removed = report!.places.reduce((sum, place) => sum + place.removed, 0);
  expect(removed).toBe(3 * DEVICES);
  const again = await replayed.restart();
  await expectRest(again);
  await again.close();
}, 60_000);

import { expect, test } from "bun:test";
import type { AppId } from "../../../src/model/ids.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { createReferenceCorrections } from "../../reference/corrections.ts";
import { LifeCluster } from "../../support/corrections/life-cluster.ts";
import { LifeService } from "../../support/corrections/life-service.ts";
import { SIMULATED_DATA_DIR } from "../../support/disk/mirrored-disk.ts";
import { eraseFrom } from "../../support/erase.ts";
import { APP_ID } from "../../support/test-app.ts";
import { createDraws } from "../simulation/run/draws.ts";
import { openSimulationEngine } from "../simulation/run/engine.ts";

const NOON_MS = Date.UTC(2026, 0, 28, 12);
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const FILES_BEFORE = [
  "wal.before-cluster/1.log",
  "wal.before-cluster/2.log",
  "joining/archive/x",
  "keys.json",
];

test("an erasure deletes what a node has from before it was one, and names the stream with the date of its purge", async () => {
  const engine = await openSimulationEngine();
  const draws = createDraws(1);
  const cluster = new LifeCluster(draws);
  const node = cluster.createNode();
  const [clock, model] = [createManualClock(NOON_MS), createReferenceCorrections(APP_ID)];
  const service = new LifeService({ engine, node, clock, model, draws });
  try {
    await service.open();
    const { app, files } = service;
    const exist = (names: readonly string[]) =>
      Promise.all(names.map((name) => files.exists(`${SIMULATED_DATA_DIR}/${name}`)));
    for (const name of [...FILES_BEFORE, "settings.json"]) {
      const path = `${SIMULATED_DATA_DIR}/${name}`;
      await files.makeDirectory(path.slice(0, path.lastIndexOf("/")));
      await files.replace(path, new TextEncoder().encode("pixel"));
    }
    await app.post([{ device_id: "pixel", timestamp: NOON_MS, latitude: 1, longitude: 2 }]);
    await node.until(eraseFrom(app, { deviceId: "pixel" }));
    const options = { dropsDamaged: false, onDaysLeft: () => undefined };
    expect(await node.until(app.directory.eraser.finishNow(options))).toBeNull();
    expect(await exist([...FILES_BEFORE, "settings.json"])).toEqual([...FILES_BEFORE.map(() => false), true]);
    const { report } = (await app.directory.eraser.find(APP_ID as AppId, "erasure-1"))!;
    const { removed, files: deleted } = report!.places.find(({ place }) => place === "before_cluster")!;
    expect([removed, deleted.map(({ file, after }) => [file, after])]).toEqual([
      FILES_BEFORE.length,
      FILES_BEFORE.map((file) => [file, null]),
    ]);
    // Reports of this day are archived once it has left the window, by a seal within an hour.
    const untilMs = Date.UTC(2026, 0, 28) + 8 * DAY_MS + HOUR_MS;
    expect(report!.remains).toEqual([{ where: "stream wherehouse", why: expect.any(String), untilMs }]);
  } finally {
    await service.dispose();
    engine.close();
  }
});

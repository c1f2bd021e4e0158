import { expect, test } from "bun:test";
import { nextTurn } from "../../../../src/lib/schedule/timers.ts";
import { createSimulatedFiles, type SimulatedFiles } from "../../../support/disk/simulated-files.ts";
import { createTestApp, NOON_MS, type TestApp } from "../../../support/test-app.ts";

const RECORDS = 1500;
const FIRST_MS = NOON_MS - RECORDS * 1000;

const reportAt = (timestamp: number, more: object = {}) => ({
  ...{ device_id: "bus", timestamp, latitude: 1, longitude: 2 },
  ...more,
});

/** Sends a correction. */
async function correct(app: TestApp, body: object): Promise<void> {
  const response = await app.fetch("/api/v1/corrections", {
    method: "POST",
    headers: { authorization: `Bearer ${app.keys.full}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
}

test.each([["bus"], ["tram"]])(
  "a report that comes while a correction is made shows with the correction applied, whenever that is, as %p",
  async (shownAs) => {
    for (let turns = 0; turns < 24; turns++) {
      const app = await createTestApp();
      await app.store(Array.from({ length: RECORDS }, (_, i) => reportAt(FIRST_MS + i * 1000)));
      if (shownAs !== "bus")
        await correct(app, { action: "assign", device_id: "bus", to_device_id: shownAs });
      const made = correct(app, {
        ...{ action: "shift_time", device_id: shownAs, by_ms: -1_000_000_000 },
        ...{ start: FIRST_MS, end: NOON_MS },
      });
      for (let turn = 0; turn < turns; turn++) await nextTurn();
      await app.store([reportAt(NOON_MS - 1000, { speed: 7 }), reportAt(FIRST_MS, { speed: 8 })]);
      await made;
      const { body } = await app.get(
        `/api/v1/devices/${shownAs}/locations/history?start_date=2026-03-08&end_date=2026-03-09&limit=1000&offset=0`,
      );
      expect(body.locations[0]).toMatchObject({ timestamp: FIRST_MS - 1_000_000_000, speed: 8 });
      const { location } = (await app.get(`/api/v1/devices/${shownAs}/locations/current`)).body;
      expect(location).toMatchObject({ timestamp: NOON_MS - 1000 - 1_000_000_000, speed: 7 });
    }
  },
);

/** A log whose syncs take some turns, so that entries wait for those before them. */
function slowFiles(): SimulatedFiles {
  const files = createSimulatedFiles();
  return {
    ...files,
    async openAppend(path) {
      const file = await files.openAppend(path);
      return {
        ...file,
        async sync() {
          await turns(4);
          await file.sync();
        },
      };
    },
  };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn();
}

test("the later of two reports of an instant shows, though the earlier is sent once more after a correction", async () => {
  const fix = (latitude: number) => reportAt(FIRST_MS, { latitude, horizontal_accuracy: 5 });
  for (let first = 0; first < 8; first++) {
    const app = await createTestApp({ files: slowFiles() });
    await app.store(Array.from({ length: RECORDS }, (_, i) => reportAt(FIRST_MS + i * 1000)));
    const made = correct(app, {
      ...{ action: "shift_time", device_id: "bus", by_ms: -1_000_000_000 },
      ...{ start: FIRST_MS, end: NOON_MS },
    });
    await turns(first);
    const posts = [];
    for (let latitude = 3; latitude < 13; latitude++) {
      posts.push(app.store([fix(latitude)]));
      await nextTurn();
    }
    await Promise.all([...posts, made]);
    const { body } = await app.get(
      "/api/v1/devices/bus/locations/history?start_date=2026-02-01&end_date=2026-03-09&limit=1",
    );
    expect([first, body.locations[0]?.latitude]).toEqual([first, 12]);
  }
});

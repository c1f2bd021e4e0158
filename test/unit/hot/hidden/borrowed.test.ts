import { afterAll, expect, test } from "bun:test";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { makeCorrection, undoCorrection } from "../../../support/corrections/make-correction.ts";

/** The newest record of a device may be an archived one of another that shows as it, whose later ones are hidden. */

afterAll(removeArchiveApps);

const NOW_MS = Date.UTC(2026, 0, 28, 12);
const OLD_MS = Date.UTC(2026, 0, 14);
const DAY_MS = 86_400_000;
const RECENT_MS = Date.UTC(2026, 0, 27);

const reportAt = (device_id: string, timestamp: number, latitude: number) => ({
  ...{ device_id, timestamp, latitude, longitude: 2 },
});

/** Some members of the newest record, in this order. */
async function newestOf(app: ArchiveApp, ...members: readonly string[]): Promise<unknown[]> {
  const { body } = await app.get("/api/v1/devices/new/locations/current");
  return members.map((member) => body.location[member]);
}

/** Shows "old", with a record of a day that is due and a recent one, as "new", and hides the recent one. */
async function createShown(): Promise<ArchiveApp> {
  const app = await createArchiveApp({ startMs: NOW_MS });
  await app.store([
    reportAt("new", OLD_MS, 1),
    reportAt("old", OLD_MS + 20_000, 2),
    reportAt("old", RECENT_MS, 3),
  ]);
  await makeCorrection(app, { action: "assign", device_id: "old", to_device_id: "new", to_user_id: "ada" });
  return app;
}

const hideRecent = (app: ArchiveApp) =>
  makeCorrection(app, { action: "hide", device_id: "new", timestamps: [RECENT_MS] });

test("a seal keeps it", async () => {
  const app = await createShown();
  await hideRecent(app);
  await app.seal();
  expect(await newestOf(app, "latitude")).toEqual([2]);
  await app.close();
});

test("a late report becomes it, or adds to it", async () => {
  const app = await createShown();
  await hideRecent(app);
  await app.seal();
  const late = { ...reportAt("old", OLD_MS + 30_000, 4), speed: 7, horizontal_accuracy: 9 };
  await app.store([late]);
  expect(await newestOf(app, "latitude", "speed")).toEqual([4, 7]);
  app.clock.advance(10 * DAY_MS);
  await app.seal();
  await app.store([{ ...reportAt("old", OLD_MS + 30_000, 4), battery_level: 50 }]);
  expect(await newestOf(app, "latitude", "speed", "battery_level")).toEqual([4, 7, 50]);
  await app.store([{ ...reportAt("old", OLD_MS + 30_000, 5), horizontal_accuracy: 10 }]);
  expect(await newestOf(app, "latitude", "speed", "battery_level")).toEqual([4, 7, 50]);
  await app.store([{ ...reportAt("old", OLD_MS + 30_000, 6), horizontal_accuracy: 5, os: "14" }]);
  expect(await newestOf(app, "latitude", "speed", "battery_level", "user_id")).toEqual([
    6,
    undefined,
    50,
    "ada",
  ]);
  await app.close();
});

test("of two records of an instant, that of the device shows which was assigned first", async () => {
  const app = await createArchiveApp({ startMs: NOW_MS });
  await app.store([
    reportAt("new", OLD_MS, 1),
    reportAt("old", OLD_MS + 1, 2),
    reportAt("older", OLD_MS + 5, 3),
  ]);
  await makeCorrection(app, { action: "assign", device_id: "old", to_device_id: "new" });
  await makeCorrection(app, { action: "assign", device_id: "older", to_device_id: "new" });
  await app.store([reportAt("older", OLD_MS + 6, 4), reportAt("old", OLD_MS + 6, 5)]);
  await app.seal();
  expect(await newestOf(app, "latitude")).toEqual([5]);
  await app.store([reportAt("older", OLD_MS + 7, 6)]);
  expect(await newestOf(app, "latitude")).toEqual([6]);
  await app.store([reportAt("old", OLD_MS + 7, 7)]);
  expect(await newestOf(app, "latitude")).toEqual([7]);
  await app.store([{ ...reportAt("older", OLD_MS + 7, 6), speed: 9 }]);
  expect(await newestOf(app, "latitude", "speed")).toEqual([7, undefined]);
  await app.close();
});

test("undoing an assignment after a late report leaves it to the device that reported it", async () => {
  const app = await createArchiveApp({ startMs: NOW_MS });
  await app.store([reportAt("new", OLD_MS, 1), reportAt("old", OLD_MS + 20_000, 2)]);
  const assigned = await makeCorrection(app, { action: "assign", device_id: "old", to_device_id: "new" });
  await app.seal();
  await app.store([reportAt("old", OLD_MS + 30_000, 3)]);
  expect(await newestOf(app, "latitude")).toEqual([3]);
  await undoCorrection(app, assigned);
  expect(await newestOf(app, "latitude")).toEqual([1]);
  await app.close();
});

test.each(["before", "after"])(
  "a late report keeps the user of the device's own record, archived %s an assignment",
  async (order) => {
    const app = await createArchiveApp({ startMs: NOW_MS });
    await app.store([{ ...reportAt("new", OLD_MS, 1), user_id: "bob" }, reportAt("old", OLD_MS + 20_000, 2)]);
    if (order === "before") await app.seal();
    await makeCorrection(app, { action: "assign", device_id: "old", to_device_id: "new", to_user_id: "ada" });
    await app.seal();
    await makeCorrection(app, { action: "hide", device_id: "new", timestamps: [OLD_MS + 20_000] });
    expect(await newestOf(app, "latitude", "user_id")).toEqual([1, "bob"]);
    await app.store([reportAt("new", OLD_MS, 3)]);
    expect(await newestOf(app, "latitude", "user_id")).toEqual([3, "bob"]);
    const started = await app.restart();
    expect(await newestOf(started, "latitude", "user_id")).toEqual([3, "bob"]);
    await started.close();
  },
);

test("a late report keeps the user of the device's own record, which an undoing shows while others show as it", async () => {
  let app = await createArchiveApp({ startMs: NOW_MS });
  const own = { ...reportAt("new", OLD_MS, 1), user_id: "bob" };
  await app.store([own, reportAt("old", OLD_MS + 20_000, 2), reportAt("older", OLD_MS - 20_000, 4)]);
  await makeCorrection(app, { action: "assign", device_id: "older", to_device_id: "new", to_user_id: "eve" });
  const assigned = await makeCorrection(app, { action: "assign", device_id: "old", to_device_id: "new" });
  await app.seal();
  await undoCorrection(app, assigned);
  expect(await newestOf(app, "latitude", "user_id")).toEqual([1, "bob"]);
  await app.store([reportAt("new", OLD_MS, 3)]);
  expect(await newestOf(app, "latitude", "user_id")).toEqual([3, "bob"]);
  app = await app.restart();
  expect(await newestOf(app, "latitude", "user_id")).toEqual([3, "bob"]);
  await app.close();
});

test.each(["before", "after"])(
  "an undoing leaves the device's own record of an instant, not one that came for another %s a seal",
  async (order) => {
    const app = await createArchiveApp({ startMs: NOW_MS });
    const own = { ...reportAt("new", OLD_MS, 1), user_id: "bob" };
    await app.store([own, reportAt("old", OLD_MS + 20_000, 2), reportAt("older", OLD_MS - 20_000, 4)]);
    await makeCorrection(app, { action: "assign", device_id: "older", to_device_id: "new" });
    const assigned = await makeCorrection(app, { action: "assign", device_id: "old", to_device_id: "new" });
    if (order === "after") await app.seal();
    await app.store([reportAt("older", OLD_MS, 5)]);
    await app.seal();
    await undoCorrection(app, assigned);
    expect(await newestOf(app, "latitude", "user_id")).toEqual([1, "bob"]);
    await app.close();
  },
);

/** Shows a record of "old" as the newest of "new", whose own later one is hidden, after a seal and a restart. */
async function createRestarted() {
  const app = await createArchiveApp({ startMs: NOW_MS });
  await app.store([
    { ...reportAt("new", OLD_MS, 1), user_id: "bob" },
    { ...reportAt("old", OLD_MS + 10_000, 2), user_id: "eve", speed: 7, horizontal_accuracy: 50 },
    reportAt("new", OLD_MS + 20_000, 3),
  ]);
  await app.seal();
  const assigned = await makeCorrection(app, { action: "assign", device_id: "old", to_device_id: "new" });
  await makeCorrection(app, { action: "hide", device_id: "new", timestamps: [OLD_MS + 20_000] });
  await app.seal();
  return { app: await app.restart(), assigned };
}

test("after a restart, too, it is another's: its late report replaces it, and an undoing takes it away", async () => {
  const { app, assigned } = await createRestarted();
  expect(await newestOf(app, "latitude", "user_id")).toEqual([2, "eve"]);
  await app.store([{ ...reportAt("old", OLD_MS + 10_000, 4), horizontal_accuracy: 5 }]);
  expect(await newestOf(app, "latitude", "user_id")).toEqual([4, "eve"]);
  await undoCorrection(app, assigned);
  expect(await newestOf(app, "latitude", "user_id")).toEqual([1, "bob"]);
  await app.close();
});

test("after a restart, too, a report of the device itself at its instant has nothing of it", async () => {
  const { app } = await createRestarted();
  await app.store([reportAt("new", OLD_MS + 10_000, 5)]);
  expect(await newestOf(app, "latitude", "user_id", "speed")).toEqual([5, "ANONYMOUS", undefined]);
  await app.close();
});

test.each([false, true])(
  "once it was taken away, no restart brings it back (with a seal: %p)",
  async (seals) => {
    const { app, assigned } = await createRestarted();
    await undoCorrection(app, assigned);
    if (seals) await app.seal();
    const started = await app.restart();
    expect(await newestOf(started, "latitude", "user_id")).toEqual([1, "bob"]);
    await started.close();
  },
);

test("a late report shows instead of a record of the same instant that shows as the device", async () => {
  const app = await createArchiveApp({ startMs: NOW_MS });
  await app.store([reportAt("old", OLD_MS, 1), reportAt("old", OLD_MS + 20_000, 2)]);
  await makeCorrection(app, { action: "assign", device_id: "old", to_device_id: "new", to_user_id: "ada" });
  await app.seal();
  await makeCorrection(app, { action: "hide", device_id: "new", timestamps: [OLD_MS + 20_000] });
  expect(await newestOf(app, "latitude", "user_id")).toEqual([1, "ada"]);
  await app.store([reportAt("new", OLD_MS, 3)]);
  expect(await newestOf(app, "latitude", "user_id")).toEqual([3, "ANONYMOUS"]);
  await app.close();
});

test("a late report of a device that shows with another user is where the device is nearby, also after a restart", async () => {
  let app = await createArchiveApp({ startMs: NOW_MS });
  await app.store([reportAt("new", OLD_MS, 1), reportAt("new", OLD_MS + 60_000, 3)]);
  await app.seal();
  await app.store([{ ...reportAt("new", OLD_MS, 2), horizontal_accuracy: 5 }]);
  await makeCorrection(app, { action: "assign", device_id: "new", to_user_id: "ada" });
  await makeCorrection(app, { action: "hide", device_id: "new", timestamps: [OLD_MS + 60_000] });
  const latitudesNearby = async () => {
    const all = [1, 2].map((latitude) =>
      app.get(`/api/v1/devices/nearby?latitude=${latitude}&longitude=2&max_age_hours=8760`),
    );
    return (await Promise.all(all)).map(({ body }) => body.results.length);
  };
  expect(await latitudesNearby()).toEqual([0, 1]);
  await app.seal();
  app = await app.restart();
  expect([await newestOf(app, "latitude", "user_id"), await latitudesNearby()]).toEqual([
    [2, "ada"],
    [0, 1],
  ]);
  await app.close();
});

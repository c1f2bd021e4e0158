import { afterAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { sealedRetention } from "../../../src/archive/manifest.ts";
import { DEFAULT_RETENTION, FixedRetention, type Retention } from "../../../src/model/time/retention.ts";
import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import { createNodeFiles } from "../../../src/runtime/node-files.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../support/archive-app.ts";

/** What another retention than 365 days means for answers, seals and deletions, and for one that is set meanwhile. */

afterAll(removeArchiveApps);

const START_MS = Date.UTC(2026, 0, 28, 12);
const at = (device_id: string, timestamp: number, more = {}) => {
  return { device_id, timestamp, latitude: 1, longitude: 2, user_id: "anna", ...more };
};

/** A retention that a test sets, as the command does. */
function changeable(first: Retention): Retention & { now: Retention } {
  return {
    now: first,
    get text() {
      return this.now.text;
    },
    startMs(nowMs) {
      return this.now.startMs(nowMs);
    },
  };
}

const TEN_YEARS = FixedRetention.ofDays(3653);

/** Devices that current positions, nearby, users and history of a day show. */
async function shown(app: ArchiveApp, day: string) {
  const devices = (answer: Awaited<ReturnType<ArchiveApp["get"]>>) =>
    answer.body.locations.map(({ device_id }) => device_id as string);
  const nearby = await app.get(
    "/api/v1/devices/nearby?latitude=1&longitude=2&radius_miles=1&max_age_hours=99999",
  );
  const history = await app.get(`/api/v1/locations/history?start_date=${day}&end_date=${day}`);
  return {
    current: devices(await app.get("/api/v1/locations/current")),
    ofUser: devices(await app.get("/api/v1/users/anna/locations/current")),
    nearby: nearby.body.results.map(({ device_id }) => device_id as string).sort(),
    history: devices(history),
    queried: history.body.query_info.devices_queried,
  };
}

test("with ten years a day nine years ago is taken, sealed, asked for and reported late, and the day before the edge is not", async () => {
  let app = await createArchiveApp({ startMs: START_MS, retention: TEN_YEARS });
  const nineYears = Date.UTC(2017, 1, 3, 8);
  const edgeMs = TEN_YEARS.startMs(START_MS);
  await app.store([at("now", START_MS), at("old", nineYears), at("edge", edgeMs)]);
  const { body } = await app.post([at("gone", edgeMs - 1)]);
  expect(body.rejected).toHaveLength(1);
  expect((await app.seal()).days).toEqual(["2016-01-28", "2017-02-03"]);
  const seen = {
    current: ["edge", "now", "old"],
    ofUser: ["edge", "now", "old"],
    nearby: ["edge", "now", "old"],
    history: ["old"],
    queried: 3,
  };
  expect(await shown(app, "2017-02-03")).toEqual(seen);
  await app.store([at("late", nineYears + 1), at("old", nineYears, { speed: 7 })]);
  app = await app.restart();
  for (const step of ["in memory", "folded"]) {
    const late = await shown(app, "2017-02-03");
    expect([step, late.history, late.current]).toEqual([
      step,
      ["old", "late"],
      ["edge", "late", "now", "old"],
    ]);
    const ofOld = await app.get(
      "/api/v1/devices/old/locations/history?start_date=2017-02-03&end_date=2017-02-03",
    );
    expect(ofOld.body.locations.map(({ speed }) => speed)).toEqual([7]);
    await app.seal();
  }
  const wide = await app.get("/api/v1/locations/history?start_date=2016-01-28&end_date=2017-01-27");
  expect(wide.body.locations).toHaveLength(1);
  expect((await app.get("/api/v1/locations/history?start_date=2016-01-28&end_date=2017-01-28")).status).toBe(
    400,
  );
  const nearby = await app.get("/api/v1/devices/nearby?latitude=1&longitude=2&radius_miles=1");
  expect(nearby.body.results.map(({ device_id }) => device_id)).toEqual(["now"]); // By default the last 24 h.
  await app.close();
});

test("forever takes reports of 1995, keeps them through seals, and still no seconds", async () => {
  const app = await createArchiveApp({ startMs: START_MS, retention: FixedRetention.FOREVER });
  await app.store([at("a", Date.UTC(1995, 4, 5, 6)), at("b", Date.UTC(1973, 2, 4))]);
  const { body } = await app.post([at("c", 799_653_600), at("c", 0), at("c", Date.UTC(1970, 0, 2))]);
  expect(body.rejected).toHaveLength(3);
  expect((await app.seal()).days).toEqual(["1973-03-04", "1995-05-05"]);
  app.clock.advance(3 * MS_PER_DAY);
  expect(await app.seal()).toMatchObject({ expired: [], deleted: [] });
  expect((await shown(app, "1995-05-05")).history).toEqual(["a"]);
  expect((await shown(app, "1973-03-04")).current).toEqual(["a", "b"]);
  await app.close();
});

test("a shorter retention hides at once, deletes with the second seal a day later, and till then a longer one undoes it", async () => {
  const retention = changeable(TEN_YEARS);
  let app = await createArchiveApp({ startMs: START_MS, retention });
  const days = ["2016-06-01", "2021-06-01", "2025-06-01"];
  await app.store(days.map((day) => at(`of ${day}`, Date.parse(day))));
  await app.seal();
  const history = async () => {
    const found: string[] = [];
    for (const day of days) found.push(...(await shown(app, day)).history);
    return found.map((device) => device.slice(3));
  };
  expect(await history()).toEqual(days);

  retention.now = DEFAULT_RETENTION;
  expect(await history()).toEqual(["2025-06-01"]);
  expect(await app.seal()).toMatchObject({ expired: days.slice(0, 2), deleted: [] });
  app.clock.advance(MS_PER_DAY - 1);
  expect(await app.seal()).toMatchObject({ expired: [], deleted: [] });

  retention.now = TEN_YEARS;
  expect(await history()).toEqual(days); // Before a seal, and after it.
  await app.seal();
  app.clock.advance(2 * MS_PER_DAY);
  expect(await app.seal()).toMatchObject({ expired: [], deleted: [] });
  app = await app.restart();
  expect(await history()).toEqual(days);

  retention.now = FixedRetention.ofDays(2000);
  expect(await app.seal()).toMatchObject({ expired: ["2016-06-01"], deleted: [] });
  app.clock.advance(MS_PER_DAY);
  expect(await app.seal()).toMatchObject({ expired: [], deleted: ["2016-06-01"] });
  retention.now = TEN_YEARS;
  expect(await history()).toEqual(["2021-06-01", "2025-06-01"]);
  expect((await shown(app, days[1]!)).current).toEqual(["of 2021-06-01", "of 2025-06-01"]);
  await app.close();
});

test("what is set to go while it is still in memory alone goes as what is archived does", async () => {
  const retention = changeable(TEN_YEARS);
  const app = await createArchiveApp({ startMs: START_MS, retention });
  await app.store([at("old", Date.parse("2018-06-01")), at("new", START_MS)]);
  retention.now = DEFAULT_RETENTION;
  expect((await shown(app, "2018-06-01")).current).toEqual(["new"]);
  expect(await app.seal()).toMatchObject({ days: ["2018-06-01"], expired: ["2018-06-01"], deleted: [] });
  app.clock.advance(MS_PER_DAY);
  expect(await app.seal()).toMatchObject({ deleted: ["2018-06-01"] });
  expect(app.directory.hot.deviceCount).toBe(1);
  await app.close();
});

test("with ten years a lost manifest and a lost checkpoint bring back every day", async () => {
  let app = await createArchiveApp({ startMs: START_MS, retention: TEN_YEARS });
  const times = Array.from({ length: 40 }, (_, index) => START_MS - index * 90 * MS_PER_DAY);
  await app.store(times.map((time, index) => at(`d${index % 7}`, time)));
  await app.seal();
  const { dataDir, clock } = app;
  await app.close();
  rmSync(join(dataDir, "archive/manifest.json"));
  rmSync(join(dataDir, "archive/latest"), { recursive: true });
  app = await createArchiveApp({ clock, dataDir, retention: TEN_YEARS });
  for (const time of times) {
    const day = new Date(time).toISOString().slice(0, 10);
    expect((await shown(app, day)).history).toHaveLength(1);
  }
  await app.close();
});

test("a start tells of a month and more that is about to expire, as where the setting was lost", async () => {
  let app = await createArchiveApp({ startMs: START_MS, retention: TEN_YEARS });
  const times = Array.from({ length: 31 }, (_, index) => START_MS - (500 + index) * MS_PER_DAY);
  await app.store(times.map((time) => at("a", time)));
  await app.seal();
  const { dataDir, clock } = app;
  const startWith = async (retention: Retention) => {
    await app.close();
    app = await createArchiveApp({ clock, dataDir, retention });
    return app.notes;
  };
  expect(await startWith(DEFAULT_RETENTION)).toEqual([
    "31 days are past the retention of 365d, from 2024-08-16 on: they are in no answer, and a day after the next seal " +
      "their files go. To keep them: settings set retention.",
  ]);
  expect(await startWith(FixedRetention.ofDays(500))).toEqual([]);
  expect(await startWith(TEN_YEARS)).toEqual([]);
  await app.close();
});

test("each seal notes the retention it went by, which a manifest made anew does not know", async () => {
  const retention = changeable(TEN_YEARS);
  let app = await createArchiveApp({ startMs: START_MS, retention });
  const { dataDir, clock } = app;
  const archive = join(dataDir, "archive");
  const noted = async () => (await sealedRetention(createNodeFiles(), archive)).text;
  await app.store([at("old", Date.parse("2018-06-01"))]);
  expect(await noted()).toBe("365d"); // Before the first seal nobody knows.
  await app.seal();
  expect(await noted()).toBe("3653d");
  retention.now = FixedRetention.FOREVER; // Nothing else is to be done.
  await app.seal();
  expect(await noted()).toBe("forever");
  await app.close();
  rmSync(join(archive, "manifest.json"));
  app = await createArchiveApp({ clock, dataDir, retention });
  expect(await noted()).toBe("365d");
  await app.seal();
  expect(await noted()).toBe("forever");
  await app.close();
});

import { afterAll, expect, setSystemTime, test } from "bun:test";
import { DAY, SPANS } from "../../../../src/web/time/local-day.ts";
import { turns } from "../../../support/turns.ts";
import { createCorrecting, historyOf } from "./correcting-parts.ts";

afterAll(() => {
  setSystemTime();
});

test("suspicious positions of the shown day are loaded and marked", async () => {
  const { server, corrections, map } = createCorrecting();
  corrections.use(historyOf({ deviceId: "bus 1" }));
  expect(server.last("/outliers")).toMatchObject({
    path: "/api/v1/devices/bus%201/outliers",
    query: { start: 0, end: 1e6, max_accuracy: null },
  });
  await server.answerOutliers(20, 30);
  expect(corrections.suspects.found.total).toBe(2);
  expect(map.marked("suspect")).toEqual([20, 30]);
});

test("suspicious positions of another day replace these, also if the old answer comes last", async () => {
  const { server, corrections, map } = createCorrecting();
  corrections.use(historyOf());
  const old = server.last("/outliers");
  corrections.use({ ...historyOf(), range: { startMs: 1e6, endMs: 2e6 } });
  await server.answerOutliers(40);
  old.answer({ total: 1, outliers: [{ timestamp: 1, latitude: 1, longitude: 1, reason: "jump" }] });
  await turns();
  expect(map.marked("suspect")).toEqual([40]);
  corrections.use(null);
  expect([corrections.suspects.found.total, map.marked("suspect")]).toEqual([0, []]);
});

test("suspicious positions that can't be read are no fault that the page shows", async () => {
  const { server, corrections } = createCorrecting();
  corrections.use(historyOf());
  await server.refuse("/outliers");
  expect([corrections.suspects.found.total, corrections.active.fault]).toEqual([0, null]);
});

test("setAccuracyMax() asks again at once, shows the previous ones meanwhile, and is remembered", async () => {
  const { server, corrections, settings } = createCorrecting();
  corrections.use(historyOf());
  await server.answerOutliers(20);
  corrections.suspects.setAccuracyMax(100);
  expect(server.last("/outliers").query).toMatchObject({ max_accuracy: 100 });
  expect([corrections.suspects.found.total, settings.values]).toEqual([1, { accuracyMax: 100 }]);
  await server.answerOutliers(20, 30);
  expect(corrections.suspects.found.total).toBe(2);
});

test("days are searched as far as the server does, and if there are positions", () => {
  const { server, corrections } = createCorrecting();
  const [, , month, year] = SPANS;
  const canSearch = (history: ReturnType<typeof historyOf>) => {
    corrections.use(history);
    return corrections.suspects.canSearch;
  };
  expect(canSearch(historyOf({ span: month! }))).toBe(true);
  expect(canSearch(historyOf({ span: year! }))).toBe(false);
  expect(canSearch(historyOf({ seconds: [] }))).toBe(false);
  expect(server.open("/outliers")).toEqual([]);
});

test("several days are searched again only after some minutes if the device reports, but at once if they change", async () => {
  const { server, corrections, map } = createCorrecting();
  const nowMs = Date.UTC(2026, 10, 22, 12);
  const searches = async (isRefresh: boolean, minutes: number, span = SPANS[1]!) => {
    setSystemTime(nowMs + minutes * 60_000);
    corrections.use(historyOf({ span }), isRefresh);
    await server.answerOutliers(20);
    return server.asked.filter(({ path }) => path.endsWith("/outliers")).length;
  };
  expect(await searches(true, 0)).toBe(1); // These days are new.
  expect([await searches(true, 1), await searches(true, 4)]).toEqual([1, 1]);
  expect([corrections.suspects.found.total, map.marked("suspect")]).toEqual([1, [20]]);
  expect(await searches(true, 6)).toBe(2);
  expect(await searches(false, 7)).toBe(3);
  expect([await searches(true, 7, DAY), await searches(true, 8, DAY)]).toEqual([4, 5]);
});

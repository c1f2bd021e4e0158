import { expect, test } from "bun:test";
import { createHotStore } from "../../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { inOneStep } from "../../../../src/lib/schedule/steps.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION } from "../../../../src/model/time/retention.ts";
import { createNearby } from "../../../../src/service/queries/nearby.ts";
import { recordsOf } from "../../../support/answers/page-records.ts";
import { outcome } from "../../../support/rejection.ts";
import { BASE_MS } from "../../../support/reports/arbitrary-reports.ts";
import { APP, batchOf } from "../../../support/reports/batches.ts";
import { seededRandom } from "../../../support/seeded-random.ts";

const DEVICES = 30_000; // So many at one point are never sorted.
const BATCH = 1000;
const POINT = { latitude: 42.35, longitude: -71.05 };

/** A crowd that has just come, in no order. */
function createCrowd(scheduler = new Scheduler()) {
  const hot = createHotStore(scheduler);
  const random = seededRandom(1);
  const ids = Array.from({ length: DEVICES }, (_, index) => `${Math.floor(random() * 1e9)}-${index}`);
  for (let start = 0; start < DEVICES; start += BATCH) {
    const reports = ids
      .slice(start, start + BATCH)
      .map((device_id) => ({ device_id, user_id: "u", timestamp: BASE_MS, ...POINT }));
    hot.apply(APP, batchOf(reports), 1 + start / BATCH);
  }
  const nearby = createNearby({
    hot,
    clock: createManualClock(BASE_MS + 60_000),
    retention: DEFAULT_RETENTION,
  });
  const ask = (latitude: number, offset: number, limit: number, signal = new AbortController().signal) => {
    const query = { radiusMeters: 1000, ageMsMax: 3_600_000, accuracyMetersMax: null, offset, limit };
    return nearby(APP, { ...POINT, ...query, latitude }, { signal }, (found) => {
      const { records, count, matches, devices } = found!;
      const shown = [...devices.subarray(0, count)];
      return { count, matches, devices: shown, records: shown.flatMap((d) => recordsOf(records.pageOf(d))) };
    });
  };
  const idsOf = (devices: Iterable<number>) => {
    const { table } = hot.findApp(APP)!;
    return [...devices].map((device) => String(table.byNumber(device).id));
  };
  return { hot, ask, idsOf, ids: ids.toSorted() };
}

test("who asks for a crowd that has just come waits until it is in order, and holds nobody up", async () => {
  const { ask, idsOf, ids } = createCrowd();
  const first = ask(POINT.latitude, 0, 100);
  const last = ask(POINT.latitude, DEVICES - 50, 100);
  expect([first, last]).toEqual([expect.any(Promise), expect.any(Promise)]);
  expect(ask(POINT.latitude + 1, 0, 100)).toMatchObject({ count: 0, matches: 0 });

  const pages = await Promise.all([first, last]);
  expect(pages.map((page) => idsOf(page.devices))).toEqual([ids.slice(0, 100), ids.slice(-50)]);
  expect(pages.map((page) => page.matches)).toEqual([DEVICES, DEVICES]);

  const later = ask(POINT.latitude, 1000, 10);
  expect(later).toMatchObject({ count: 10, matches: DEVICES });
});

test("who has gone away waits for no order, and those who stay have theirs", async () => {
  const { ask, idsOf, ids } = createCrowd();
  const gone = new AbortController();
  const unheard = ask(POINT.latitude, 0, 100, gone.signal);
  const heard = ask(POINT.latitude, 0, 100);
  gone.abort(new Error("gone"));
  expect(await outcome(unheard as Promise<unknown>)).toThrow("gone");
  expect(idsOf((await heard).devices)).toEqual(ids.slice(0, 100));
});

test("who moves after a page that waited was found is shown where they were", async () => {
  let nowMs = 0;
  let isSlow = true;
  const scheduler = new Scheduler(() => (isSlow ? nowMs++ * 10 : nowMs));
  const { hot, ask, ids } = createCrowd(scheduler);
  const shown = ask(POINT.latitude, 0, 100);
  expect(shown).toBeInstanceOf(Promise);
  isSlow = false; // The rest and what comes behind it fit into one turn.
  const moved = { device_id: ids[0]!, timestamp: BASE_MS + 1, ...POINT, latitude: 7 };
  const moves = () => hot.apply(APP, batchOf([moved]), DEVICES);
  await Promise.all([shown, scheduler.run(APP, inOneStep(moves))]);
  expect((await shown).records.filter(({ latitude }) => latitude !== POINT.latitude)).toEqual([]);
});

test("those who waited together for the order are not all answered in one turn", async () => {
  let nowMs = 0;
  const { hot, ask } = createCrowd(new Scheduler(() => nowMs++));
  const { positions } = hot.findApp(APP)!;
  const find = positions.find.bind(positions);
  let finds = 0;
  positions.find = (circle) => {
    finds++;
    nowMs += 6; // More than there is for such work in a turn.
    return find(circle);
  };
  const answers = Array.from({ length: 10 }, (_, page) => ask(POINT.latitude, page, 100));
  const byTurn = [finds];
  const all = Promise.all(answers);
  while (finds < 20) {
    await new Promise((resolve) => setImmediate(resolve));
    byTurn.push(finds);
  }
  expect((await all).map((page) => page.count)).toEqual(answers.map(() => 100));
  const most = Math.max(...byTurn.slice(1).map((count, turn) => count - byTurn[turn]!));
  expect(most).toBe(1);
});

import { afterAll, expect, test } from "bun:test";
import { VectorTile } from "@mapbox/vector-tile";
import { PbfReader } from "pbf";
import { cellAt, mercatorX, mercatorY } from "../../../../src/map/mercator.ts";
import { BoundingBox } from "../../../../src/model/geo/bounding-box.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { createReferenceRecords, type ReferenceRecord } from "../../../reference/records.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import * as fc from "../../../support/fast-check.ts";
import { arbitraryReport, BASE_MS } from "../../../support/reports/arbitrary-reports.ts";
import { crowdedPlace } from "../../../support/reports/crowded-places.ts";

/**
 * Goal: each record counts once, where it is by now, whether it is in memory, in the archive, or there with a late
 * report laid over it. Method: stories of reports, seals and restarts over few devices and instants, so that reports
 * move records, at places that crowd a city, the poles, ±180° and borders of cells.
 */

afterAll(removeArchiveApps);

const DAY_MS = 86_400_000;
const NOW_MS = BASE_MS + 7.5 * DAY_MS;
const CELLS_MAX = 65_536;

type Place = readonly [latitude: number, longitude: number];
interface Asked {
  readonly startMs: number;
  readonly endMs: number;
  readonly box: readonly [west: number, south: number, east: number, north: number] | null;
  readonly zoom: number;
}

function placesOf(
  records: readonly ReferenceRecord[],
  { startMs, endMs, box }: Omit<Asked, "zoom">,
): Place[] {
  const within = box === null ? null : new BoundingBox(...box);
  return records
    .filter(({ timestamp }) => timestamp >= startMs && timestamp < endMs)
    .map(({ latitude, longitude }): Place => [latitude, longitude])
    .filter(([latitude, longitude]) => within === null || within.contains(latitude, longitude));
}

/** The obvious way: all records one by one, at each zoom until they fit. */
function countPlainly(places: readonly Place[], zoom: number) {
  const counts = new Map<string, number>();
  for (const [latitude, longitude] of places) {
    const [x, y] = [cellAt(mercatorX(longitude), zoom + 6), cellAt(mercatorY(latitude), zoom + 6)];
    const cell = `${String(y).padStart(10)} ${String(x).padStart(10)}`;
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  if (counts.size > CELLS_MAX) return countPlainly(places, zoom - 1);
  const cells = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    zoom,
    x: cells.map(([cell]) => Number(cell.slice(11))),
    y: cells.map(([cell]) => Number(cell.slice(0, 10))),
    count: cells.map(([, count]) => count),
  };
}

async function ask(app: ArchiveApp, { startMs, endMs, box, zoom }: Asked) {
  const within = box === null ? "" : `&bbox=${box.map((edge) => edge.toFixed(12)).join()}`;
  const { body } = await app.get(`/api/v1/density?start=${startMs}&end=${endMs}&zoom=${zoom}${within}`);
  const { success, app_id, ...cells } = body;
  return cells as unknown;
}

/** Counts by x and y of the squares' corners, of a tile's layer. */
async function askTile(app: ArchiveApp, startMs: number, endMs: number, tile: string) {
  const query = `layer=density&start=${startMs}&end=${endMs}`;
  const response = await app.fetch(`/api/v1/tiles/${tile}.mvt?${query}`, {
    headers: { authorization: `Bearer ${app.keys.full}` },
  });
  if (response.status === 204) return [];
  const layer = new VectorTile(new PbfReader(new Uint8Array(await response.arrayBuffer()))).layers.density!;
  return Array.from({ length: layer.length }, (_, index) => {
    const { properties, ...feature } = layer.feature(index);
    const [corner] = layer.feature(index).loadGeometry()[0]!;
    expect(feature.type).toBe(3);
    return { x: corner!.x, y: corner!.y, count: properties.count };
  });
}

const place = fc.oneof(
  crowdedPlace,
  fc.record({
    latitude: fc.constantFrom(0, 85.05112878, -85.06),
    longitude: fc.constantFrom(-90, 0, 45, 180),
  }),
);
const report = fc
  .tuple(
    arbitraryReport,
    place,
    fc.constantFrom("a", "b"),
    fc.constantFrom(-DAY_MS, -60_000, -1, 0, 1, 60_000),
  )
  .map(([any, where, device_id, stepMs]) => ({ ...any, ...where, device_id, timestamp: BASE_MS + stepMs }));
const story = fc.array(
  fc.record({
    reports: fc.array(report, { minLength: 1, maxLength: 12 }),
    seals: fc.boolean(),
    restarts: fc.boolean(),
    hours: fc.constantFrom(0, 6, 24),
  }),
  { minLength: 1, maxLength: 4 },
);
const edge = fc.constantFrom(-2 * DAY_MS, -60_000, 0, 1, 60_001, 3 * DAY_MS);
const box = fc.tuple(crowdedPlace, crowdedPlace).map(([a, b]): Asked["box"] => {
  // As they are written: a box of fewer digits may end on a place's other side.
  const [west, east] = [a.longitude, b.longitude].map((degrees) => Number(degrees.toFixed(12)));
  const [south, north] = [a.latitude, b.latitude].map((degrees) => Number(degrees.toFixed(12)));
  return [west!, Math.min(south!, north!), east!, Math.max(south!, north!)];
});
const asked = fc
  .record({ from: edge, to: edge, box: fc.option(box), zoom: fc.constantFrom(0, 3, 12, 22) })
  .map(({ from, to, ...rest }) => ({
    startMs: BASE_MS + Math.min(from, to),
    endMs: BASE_MS + Math.max(from, to) + 1,
    ...rest,
  }));

/** Whatever else is asked of a story, so that each is seen to have counted something. */
const EVERYTHING: Asked = { startMs: BASE_MS - 2 * DAY_MS, endMs: BASE_MS + 3 * DAY_MS, box: null, zoom: 12 };

test("density counts what a plain loop over all records counts", async () => {
  await fc.assert(
    fc.asyncProperty(story, fc.array(asked, { minLength: 3, maxLength: 6 }), async (steps, questions) => {
      const clock = createManualClock(NOW_MS);
      let app = await createArchiveApp({ clock, lateWindow: { firstRows: 1, rowsMax: 2 } });
      const reference = createReferenceRecords("fleet");
      try {
        for (const { reports, seals, restarts, hours } of steps) {
          await app.store(reports);
          reference.report(reports);
          if (seals) await app.seal();
          if (restarts) app = await app.restart();
          for (const question of [EVERYTHING, ...questions]) {
            const expected = countPlainly(placesOf(reference.records(), question), question.zoom);
            expect(await ask(app, question)).toEqual(expected);
            if (question === EVERYTHING) expect(expected.count.length).toBeGreaterThan(0);
          }
          const { startMs, endMs } = questions[0]!;
          const whole = countPlainly(placesOf(reference.records(), { startMs, endMs, box: null }), 2);
          const squares = whole.x.map((x, index) => ({
            tile: `2/${x >>> 6}/${whole.y[index]! >>> 6}`,
            square: { x: (x % 64) * 64, y: (whole.y[index]! % 64) * 64, count: whole.count[index]! },
          }));
          for (const tile of ["2/0/0", "2/1/1", "2/3/2", "2/0/3"]) {
            const expected = squares.filter((each) => each.tile === tile).map(({ square }) => square);
            expect(await askTile(app, startMs, endMs, tile)).toEqual(expected);
          }
          clock.advance(hours * 3_600_000);
        }
      } finally {
        await app.close();
      }
    }),
    { numRuns: 20, endOnFailure: true },
  );
});

test("a box ends at ±180° by both of its names, in the archive as in memory", async () => {
  const clock = createManualClock(NOW_MS);
  const app = await createArchiveApp({ clock });
  const reports = [-180, -179.5, -170, 0, 170, 179.5, 180].map((longitude, index) => ({
    device_id: `d${index}`,
    timestamp: BASE_MS,
    latitude: 10,
    longitude,
  }));
  await app.store(reports);
  const boxes: readonly (readonly [NonNullable<Asked["box"]>, number])[] = [
    [[179, 0, -179, 20], 4],
    [[160, 0, 180, 20], 4],
    [[-180, 0, -175, 20], 3],
    [[-175, 0, 175, 20], 3],
    [[179, 11, -179, 20], 0],
    [[180, 10, -180, 10], 2],
  ];
  const countsOf = async () => {
    const counts: number[] = [];
    for (const [box] of boxes) {
      const cells = await ask(app, { startMs: BASE_MS, endMs: BASE_MS + 1, box, zoom: 8 });
      counts.push((cells as { count: number[] }).count.reduce((sum, count) => sum + count, 0));
    }
    return counts;
  };
  const expected = boxes.map(([, count]) => count);
  expect(await countsOf()).toEqual(expected);
  clock.advance(2 * DAY_MS);
  await app.seal();
  expect(app.directory.archive.manifest.days.size).toBe(1);
  expect(await countsOf()).toEqual(expected);
  await app.close();
});

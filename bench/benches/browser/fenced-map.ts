import {
  closePlace,
  openPlace,
  RUNTIMES,
  readFirstKey,
  startReady,
} from "../../../test/support/server-process.ts";
import { chromiumPath, closeChromium } from "../../../test/system/browser/support/chromium.ts";
import { lookAt, rest } from "../../../test/system/browser/support/map.ts";
import { type Client, send, store } from "../../../test/system/support/client.ts";
import { taskTimes } from "../../support/page/task-times.ts";
import { WatchedPage } from "../../support/page/watched-page.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";

const JUDGED_FENCES = 10_000;
const BATCH = 2500;
const CITY = { west: -71.2, south: 42.3, degrees: 0.2 };
const MIDDLE = { longitude: -71.1, latitude: 42.4 };
/** All geofences are in view. */
const CITY_VIEW = { ...MIDDLE, zoom: 11 };
const CORNERS = 12;
const PAUSES_MS = { drag: 16, wheel: 30, settle: 1500 };

export const bench: Bench = {
  question: "what do the geofences of an app cost the map page while its map is moved?",
  sizes: {
    fences: { help: "half of them circles, half polygons of 12 corners", smoke: 50, full: JUDGED_FENCES },
    rounds: { help: "times that the map is dragged and zoomed", smoke: 1, full: 2 },
    steps: { help: "of a drag, a frame each", smoke: 2, full: 30 },
  },
  async run(run) {
    if (chromiumPath === null) return run.note("Left out: there is no chromium on the PATH.");
    const place = openPlace();
    try {
      const server = await startReady(RUNTIMES[0]!, place);
      await measure(run, { url: server.url, key: readFirstKey(place) });
    } finally {
      await closeChromium();
      await closePlace(place);
    }
  },
};

async function measure(run: BenchRun, client: Client): Promise<void> {
  const count = run.size("fences");
  await store(client, [{ device_id: "van", timestamp: Date.now(), ...MIDDLE }]);
  await storeFences(client, count);
  const watched = await WatchedPage.open(client);
  const { page } = watched.visit;
  await watched.dotsAtMs();
  const moves = () => move(watched, run.size("rounds"), run.size("steps"));
  const look = async () => {
    await lookAt(page, CITY_VIEW);
    await rest(page);
  };
  await look();
  const without = await measureFrames(watched, moves);
  await page.keyboard.press("g");
  await page.locator(".item-list li").first().waitFor();
  await Bun.sleep(run.isSmoke ? 0 : PAUSES_MS.settle);
  await look();
  const withThem = await measureFrames(watched, moves);
  const tasks = await taskTimes(page, moves);
  run.figures([
    { name: "main thread's processor time a frame, without them", unit: "ms", runs: [without] },
    { name: "main thread's ten longest tasks", unit: "ms", runs: tasks.slice(0, 10) },
  ]);
  const bound = !run.isSmoke && count === JUDGED_FENCES ? { atMost: 8 } : undefined;
  run.verdict("main thread's processor time a frame", withThem, "ms", bound);
  await watched.close();
}

/** Processor time of the main thread for each frame of the page. */
async function measureFrames(watched: WatchedPage, work: () => Promise<void>): Promise<number> {
  const before = await watched.mainThread();
  await work();
  const after = await watched.mainThread();
  return (after.processorMs - before.processorMs) / (after.frames - before.frames);
}

/** Drags the map to and fro, and turns the wheel in and out. */
async function move({ visit: { page } }: WatchedPage, rounds: number, steps: number): Promise<void> {
  const box = (await page.locator(".map-canvas canvas").boundingBox())!;
  const [x, y] = [box.x + 0.7 * box.width, box.y + box.height / 2];
  for (let round = 0; round < rounds; round++) {
    const side = round % 2 === 0 ? 1 : -1;
    await page.mouse.move(x, y);
    await page.mouse.down();
    for (let step = 0; step < steps; step++) {
      await page.mouse.move(x - side * step * 8, y + step * 3);
      await Bun.sleep(PAUSES_MS.drag);
    }
    await page.mouse.up();
    for (let turn = 0; turn < steps / 3; turn++) {
      await page.mouse.wheel(0, side * -60);
      await Bun.sleep(PAUSES_MS.wheel);
    }
    await Bun.sleep(PAUSES_MS.settle);
  }
}

/** Stores geofences on a grid over a city. */
async function storeFences(client: Client, count: number): Promise<void> {
  const side = Math.ceil(Math.sqrt(count));
  for (let first = 0; first < count; first += BATCH) {
    const features = Array.from({ length: Math.min(BATCH, count - first) }, (_, index) =>
      fenceAt(first + index, side),
    );
    await send(client, "POST", "/api/v1/geofences/import", { type: "FeatureCollection", features });
  }
}

function fenceAt(index: number, side: number): object {
  const longitude = CITY.west + (CITY.degrees * (index % side)) / side;
  const latitude = CITY.south + (CITY.degrees * Math.floor(index / side)) / side;
  const name = `Shop ${index}`;
  if (index % 2 === 0) {
    const geometry = { type: "Point", coordinates: [longitude, latitude] };
    return { type: "Feature", geometry, properties: { name, radius_meters: 60 } };
  }
  const ring = Array.from({ length: CORNERS + 1 }, (_, corner) => {
    const angle = ((corner % CORNERS) / CORNERS) * 2 * Math.PI;
    return [longitude + 0.0008 * Math.cos(angle), latitude + 0.0006 * Math.sin(angle)];
  });
  return { type: "Feature", geometry: { type: "Polygon", coordinates: [ring] }, properties: { name } };
}

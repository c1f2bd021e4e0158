import {
  closePlace,
  openPlace,
  RUNTIMES,
  type Runtime,
  readFirstKey,
  startReady,
} from "../../../test/support/server-process.ts";
import { chromiumPath, closeChromium } from "../../../test/system/browser/support/chromium.ts";
import { store } from "../../../test/system/support/client.ts";
import { type Figure, median } from "../../support/figures/report.ts";
import { createRandom } from "../../support/fleets/random.ts";
import { profileScripts } from "../../support/page/scripts.ts";
import { type MainThread, WatchedPage } from "../../support/page/watched-page.ts";
import type { Bench, BenchRun, Bound } from "../../support/run/bench.ts";

const JUDGED_DEVICES = 200_000;
const BATCH = 10_000;
const MOVES_PER_SECOND = 2000;
const FEW_DEVICES = 500;
const SOUGHT = "device-77";
/** A typing speed: the map dims other devices once typing pauses. */
const LETTER_MS = 250;
/** How long to wait for work that the devices cause. */
const SETTLE_MS = 3000;

export const bench: Bench = {
  question: "how soon does the map page show something, and what do many devices cost the browser?",
  sizes: {
    devices: { help: "of the large fleet", smoke: 500, full: JUDGED_DEVICES },
    rounds: { help: "times that the page is opened by a browser that has nothing of it", smoke: 1, full: 5 },
    seconds: { help: "in which 2,000 devices move each second", smoke: 1, full: 10 },
    seed: { help: "of the places", smoke: 1, full: 1 },
  },
  choices: {
    runtime: {
      help: "Bun or Deno alone (smoke: Bun)",
      values: RUNTIMES.map(({ name }) => name),
      smoke: ["Bun"],
    },
  },
  async run(run) {
    if (chromiumPath === null) return run.note("Left out: there is no chromium on the PATH.");
    try {
      for (const runtime of RUNTIMES.filter(({ name }) => run.chosen("runtime").includes(name)))
        await measure(run, runtime);
    } finally {
      await closeChromium();
    }
  },
};

/** A server and its reporting fleet. */
interface Fleet {
  readonly client: Parameters<typeof store>[0];
  /** Sends the positions of `count` devices. */
  report(count: number): Promise<void>;
  /** At most 2,000 devices report each second. */
  move(seconds: number): Promise<void>;
}

async function measure(run: BenchRun, runtime: Runtime): Promise<void> {
  const place = openPlace();
  try {
    const server = await startReady(runtime, place);
    const fleet = createFleet({ url: server.url, key: readFirstKey(place) }, run.size("seed"));
    await fleet.report(Math.min(FEW_DEVICES, run.size("devices")));
    await measureFirst(run, runtime, fleet);
    await fleet.report(run.size("devices"));
    await measureReady(run, runtime, fleet);
    await measureMany(run, runtime, fleet);
  } finally {
    await closePlace(place);
  }
}

function createFleet(client: Fleet["client"], seed: number): Fleet {
  const random = createRandom(seed);
  let size = 0;
  async function report(count: number): Promise<void> {
    for (let first = 0; first < count; first += BATCH) {
      const reports = Array.from({ length: Math.min(BATCH, count - first) }, (_, index) => ({
        device_id: `device-${first + index}`,
        timestamp: Date.now(),
        latitude: Number((42.3 + random() / 5).toFixed(6)),
        longitude: Number((-71.2 + random() / 5).toFixed(6)),
      }));
      await store(client, reports);
    }
    size = Math.max(size, count);
  }
  async function move(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      const startMs = performance.now();
      await report(Math.min(MOVES_PER_SECOND, size));
      await Bun.sleep(Math.max(0, 1000 - (performance.now() - startMs)));
    }
  }
  return { client, report, move };
}

/** Measures a first visit with an empty cache, near the server and far from it. */
async function measureFirst(run: BenchRun, { name }: Runtime, { client }: Fleet): Promise<void> {
  const paints: number[] = [];
  const near: number[] = [];
  const far: number[] = [];
  for (let round = 0; round < run.size("rounds"); round++) {
    for (const isFar of [false, true]) {
      const page = await WatchedPage.open(client, { isFar });
      (isFar ? far : near).push(await page.dotsAtMs());
      if (!isFar) paints.push(await page.firstPaintMs());
      await page.close();
    }
  }
  const bound = (atMost: number): Bound | undefined => (run.isSmoke ? undefined : { atMost });
  run.figures([
    { name: `first paint, ${name}`, unit: "ms", runs: paints },
    { name: `dots, ${name}`, unit: "ms", runs: near },
    { name: `dots at 1.6 Mbit/s and 150 ms, ${name}`, unit: "ms", runs: far },
  ]);
  run.verdict(`first paint, median, ${name}`, median(paints), "ms", bound(500));
  run.verdict(`dots at 1.6 Mbit/s and 150 ms, median, ${name}`, median(far), "ms", bound(4000));
}

async function measureReady(run: BenchRun, { name }: Runtime, { client }: Fleet): Promise<void> {
  const readies: number[] = [];
  for (let round = 0; round < run.size("rounds"); round++) {
    const page = await WatchedPage.open(client, { dots: run.size("devices") });
    readies.push(await page.dotsAtMs());
    await page.close();
  }
  run.figures([{ name: `many: ready, ${name}`, unit: "ms", runs: readies }]);
  run.verdict(`many: ready, median, ${name}`, median(readies), "ms", judged(run, 3000));
}

async function measureMany(run: BenchRun, { name }: Runtime, fleet: Fleet): Promise<void> {
  const seconds = run.size("seconds");
  const page = await WatchedPage.open(fleet.client, { dots: run.size("devices") });
  await page.dotsAtMs();
  await Bun.sleep(run.isSmoke ? 0 : SETTLE_MS);
  run.verdict(`many: heap, ${name}`, (await page.heapBytes()) / 1e6, "MB", judged(run, 100));
  const rows = await page.visit.page.locator("#device-rows [role=option]").count();
  run.verdict(`many: rows of the list, ${name}`, rows, "rows", judged(run, 40));

  const idle = await page.typeMs(SOUGHT, LETTER_MS);
  await page.visit.page.locator("#search").fill("");
  const before = await page.mainThread();
  await fleet.move(seconds);
  const after = await page.mainThread();
  run.figures([
    { name: `many: a letter of a search, from key to paint, ${name}`, unit: "ms", runs: idle },
    ...frameFigures(name, before, after, seconds),
  ]);
  run.verdict(`many: search, from key to paint, median, ${name}`, median(idle), "ms", judged(run, 100));
  const frameMs = (after.processorMs - before.processorMs) / (after.frames - before.frames);
  run.verdict(`many: main thread's processor time a frame, ${name}`, frameMs, "ms", judged(run, 8));
  await measureShares(run, name, page, fleet);
  const resident = await page.residentBytes();
  if (resident !== null)
    run.verdict(`many: renderer's resident memory, ${name}`, resident / 1e6, "MB", judged(run, 400));
  await page.close();
  await measureWithoutMap(run, name, fleet);
}

/** Measures the shares of the work with a profiler, which adds some, and the delay of typing meanwhile. */
async function measureShares(run: BenchRun, name: string, page: WatchedPage, fleet: Fleet): Promise<void> {
  const seconds = run.size("seconds");
  const spent = await profileScripts(page.session, () => fleet.move(seconds));
  const moving = fleet.move(seconds);
  const meanwhile = await page.typeMs(SOUGHT, LETTER_MS);
  await moving;
  run.figures([
    ...Object.entries(spent).map(
      ([owner, ms]): Figure => ({
        name: `many: a second of moves, by the clock: ${owner}, ${name}`,
        unit: "ms",
        runs: [ms / seconds],
      }),
    ),
    { name: `many: a letter while 2,000 move, from key to paint, ${name}`, unit: "ms", runs: meanwhile },
  ]);
}

/** The control: the same page without WebGL, which has a list and no map. */
async function measureWithoutMap(run: BenchRun, name: string, fleet: Fleet): Promise<void> {
  const seconds = run.size("seconds");
  const page = await WatchedPage.open(fleet.client, { webgl: false });
  await page.visit.page.getByText("Live", { exact: true }).waitFor();
  await Bun.sleep(run.isSmoke ? 0 : SETTLE_MS);
  const before = await page.mainThread();
  await fleet.move(seconds);
  run.figures(frameFigures(`no WebGL, ${name}`, before, await page.mainThread(), seconds));
  await page.close();
}

function frameFigures(name: string, before: MainThread, after: MainThread, seconds: number): Figure[] {
  const frames = after.frames - before.frames;
  const figure = (what: string, unit: string, value: number): Figure => ({
    name: `many: ${what}, ${name}`,
    unit,
    runs: [value],
  });
  return [
    figure("frames of the page", "frames/s", frames / seconds),
    figure("frames of the map", "frames/s", (after.mapFrames - before.mapFrames) / seconds),
    figure("main thread a second, processor time", "ms", (after.processorMs - before.processorMs) / seconds),
    figure("main thread a second, by the clock", "ms", (after.tasksMs - before.tasksMs) / seconds),
    figure("main thread a frame, by the clock", "ms", (after.tasksMs - before.tasksMs) / frames),
  ];
}

/** A bound, if this is the fleet that it was set for. */
function judged(run: BenchRun, atMost: number): Bound | undefined {
  return !run.isSmoke && run.size("devices") === JUDGED_DEVICES ? { atMost } : undefined;
}

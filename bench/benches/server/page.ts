import { chromiumPath, closeChromium } from "../../../test/browser/support/chromium.ts";
import { Visit } from "../../../test/browser/support/visit.ts";
import { store } from "../../../test/runtime/support/client.ts";
import {
  closePlace,
  openPlace,
  RUNTIMES,
  readFirstKey,
  startReady,
} from "../../../test/support/server-process.ts";
import { median } from "../../support/figures/report.ts";
import { createRandom } from "../../support/fleets/random.ts";
import type { Bench, BenchRun, Bound } from "../../support/run/bench.ts";

const JUDGED_DEVICES = 200_000;
const BATCH = 10_000;
const MOVES_PER_SECOND = 2000;
/** Of a phone on a slow line. */
const SLOW_LINE = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 200_000 };
const FEW_DEVICES = 500;

/** Notes when as many dots are drawn as the bench waits for. */
const WATCH_DOTS = `{
  const { drawArrays } = WebGL2RenderingContext.prototype;
  WebGL2RenderingContext.prototype.drawArrays = function (mode, first, count) {
    if (mode === this.POINTS && count >= (globalThis.dotsWanted ?? 1)) globalThis.dotsAtMs ??= performance.now();
    return drawArrays.call(this, mode, first, count);
  };
}`;

export const bench: Bench = {
  question: "how soon does the map page show something, and what do many devices cost the browser?",
  sizes: {
    devices: { help: "of the large fleet", smoke: 500, full: JUDGED_DEVICES },
    rounds: { help: "times that the page is opened by a browser that has nothing of it", smoke: 1, full: 5 },
    seconds: { help: "in which 2,000 devices move each second", smoke: 1, full: 10 },
    seed: { help: "of the places", smoke: 1, full: 1 },
  },
  async run(run) {
    if (chromiumPath === null) return run.note("Left out: there is no chromium on the PATH.");
    const place = openPlace();
    try {
      const server = await startReady(RUNTIMES[0]!, place);
      const client = { url: server.url, key: readFirstKey(place) };
      const random = createRandom(run.size("seed"));
      await report(client, 0, Math.min(FEW_DEVICES, run.size("devices")), random);
      await measureFirst(run, client);
      await report(client, 0, run.size("devices"), random);
      await measureMany(run, client, random);
    } finally {
      await closeChromium();
      await closePlace(place);
    }
  },
};

type Client = Parameters<typeof store>[0];

async function report(client: Client, from: number, to: number, random: () => number): Promise<void> {
  for (let first = from; first < to; first += BATCH) {
    const count = Math.min(BATCH, to - first);
    const reports = Array.from({ length: count }, (_, index) => ({
      device_id: `device-${first + index}`,
      timestamp: Date.now(),
      latitude: Number((42.3 + random() / 5).toFixed(6)),
      longitude: Number((-71.2 + random() / 5).toFixed(6)),
    }));
    await store(client, reports);
  }
}

/** By a browser that has nothing of the page yet: near the server, and far from it. */
async function measureFirst(run: BenchRun, client: Client): Promise<void> {
  const paints: number[] = [];
  const near: number[] = [];
  const far: number[] = [];
  for (let round = 0; round < run.size("rounds"); round++) {
    for (const isFar of [false, true]) {
      const visit = await openWatched(client, 1, isFar);
      (isFar ? far : near).push(await dotsAtMs(visit));
      if (!isFar)
        paints.push(
          await visit.page.evaluate(
            () => performance.getEntriesByName("first-contentful-paint")[0]!.startTime,
          ),
        );
      await visit.close();
    }
  }
  const bound = (atMost: number): Bound | undefined => (run.isSmoke ? undefined : { atMost });
  const slowLine = "dots at 1.6 Mbit/s and 150 ms";
  run.figures([
    { name: "first paint", unit: "ms", runs: paints },
    { name: "dots", unit: "ms", runs: near },
    { name: slowLine, unit: "ms", runs: far },
  ]);
  run.verdict("first paint, median", median(paints), "ms", bound(500));
  run.verdict(`${slowLine}, median`, median(far), "ms", bound(4000));
}

async function measureMany(run: BenchRun, client: Client, random: () => number): Promise<void> {
  const devices = run.size("devices");
  const isJudged = !run.isSmoke && devices === JUDGED_DEVICES;
  const bound = (atMost: number): Bound | undefined => (isJudged ? { atMost } : undefined);
  const visit = await openWatched(client, devices, false);
  const { page } = visit;
  run.verdict("many: ready", await dotsAtMs(visit), "ms", bound(3000));
  const session = await visit.context.newCDPSession(page);
  await session.send("Performance.enable");
  await session.send("HeapProfiler.collectGarbage");
  run.verdict("many: heap", (await metric("JSHeapUsedSize")) / 1e6, "MB", bound(100));
  run.verdict(
    "many: rows of the list",
    await page.locator("#device-rows [role=option]").count(),
    "rows",
    bound(40),
  );
  run.verdict("many: search", await searchMs(visit), "ms", bound(100));
  const before = { tasks: await metric("TaskDuration"), frames: await frames() };
  const moved = Math.min(MOVES_PER_SECOND, devices);
  for (let second = 0; second < run.size("seconds"); second++) {
    const startMs = performance.now();
    await report(client, 0, moved, random);
    await Bun.sleep(Math.max(0, 1000 - (performance.now() - startMs)));
  }
  const tasksMs = ((await metric("TaskDuration")) - before.tasks) * 1000;
  run.verdict("many: main thread a frame", tasksMs / ((await frames()) - before.frames), "ms", bound(8));
  await visit.close();

  async function metric(name: string): Promise<number> {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find((each) => each.name === name)!.value;
  }

  function frames(): Promise<number> {
    return page.evaluate(() => (globalThis as { framesSeen?: number }).framesSeen ?? 0);
  }
}

const COUNT_FRAMES = `{
  const count = () => { globalThis.framesSeen = (globalThis.framesSeen ?? 0) + 1; requestAnimationFrame(count); };
  requestAnimationFrame(count);
}`;

async function openWatched(client: Client, dotsWanted: number, isFar: boolean): Promise<Visit> {
  const visit = await Visit.open(client.url, { deviceScaleFactor: 1 });
  await visit.context.addInitScript(`globalThis.dotsWanted = ${dotsWanted}; ${WATCH_DOTS} ${COUNT_FRAMES}`);
  if (isFar) {
    const session = await visit.context.newCDPSession(visit.page);
    await session.send("Network.enable");
    await session.send("Network.emulateNetworkConditions", SLOW_LINE);
  }
  await visit.enter(client.key);
  return visit;
}

function dotsAtMs(visit: Visit): Promise<number> {
  return visit.until(
    "the dots",
    () => visit.page.evaluate(() => (globalThis as { dotsAtMs?: number }).dotsAtMs ?? null),
    60_000,
  );
}

/** From the last letter until the list has what it finds. */
function searchMs({ page }: Visit): Promise<number> {
  return page.evaluate(async () => {
    const input = document.querySelector<HTMLInputElement>("#search")!;
    input.value = "device-77";
    const startMs = performance.now();
    input.dispatchEvent(new InputEvent("input", { bubbles: true }));
    const first = () => document.querySelector("#device-rows .name")?.textContent ?? "";
    while (!first().startsWith("device-77")) await new Promise(requestAnimationFrame);
    return performance.now() - startMs;
  });
}

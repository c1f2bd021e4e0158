import type { MapLibreMap } from "maplibre-gl";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  type Runtime,
  readFirstKey,
  runCommand,
  startReady,
} from "../../../test/support/server-process.ts";
import { chromiumPath, closeChromium } from "../../../test/system/browser/support/chromium.ts";
import { pressInHeader } from "../../../test/system/browser/support/header.ts";
import { askPart, type PartName } from "../../../test/system/browser/support/parts.ts";
import { Visit } from "../../../test/system/browser/support/visit.ts";
import { store, untilKnown } from "../../../test/system/support/client.ts";
import type { Figure } from "../../support/figures/report.ts";
import { readDeviceYear } from "../../support/fleets/device-year.ts";
import { createRandom } from "../../support/fleets/random.ts";
import { namePhone } from "../../support/page/phone.ts";
import type { Bench, BenchRun, Bound } from "../../support/run/bench.ts";

const YEAR_DEVICE = "a-year";
const VERTICES_MAX = 50_000;
const SPEED = { usual: 10, top: 77, topText: "Max 172 mph" };
const BATCH = 10_000;

/** The pause between reports: longer than the viewers' interval, and no multiple of it. */
const PAUSE_MS = 400;
const PAUSE_SPREAD_MS = 300;

/** Records the wall-clock time when newly uploaded dots are drawn. */
const WATCH_DOTS = `{
  globalThis.movesDrawnMs = [];
  let isSent = false;
  const { bufferSubData, drawArrays } = WebGL2RenderingContext.prototype;
  WebGL2RenderingContext.prototype.bufferSubData = function (...given) {
    isSent ||= given[2] instanceof Uint32Array;
    return bufferSubData.apply(this, given);
  };
  WebGL2RenderingContext.prototype.drawArrays = function (mode, ...given) {
    if (mode === this.POINTS && isSent) globalThis.movesDrawnMs.push(performance.timeOrigin + performance.now());
    if (mode === this.POINTS) isSent = false;
    return drawArrays.call(this, mode, ...given);
  };
}`;

export const bench: Bench = {
  question:
    "how soon does the map show a report, a new phone, a year of half a million points, and the end of a key?",
  sizes: {
    phones: { help: "that report for the first time", smoke: 1, full: 10 },
    moves: { help: "of a device, one after the other", smoke: 3, full: 100 },
    rows: { help: "of the year, at most", smoke: 3000, full: 500_000 },
    years: { help: "times that the year is looked at", smoke: 1, full: 5 },
    keys: { help: "that are revoked while they look", smoke: 1, full: 5 },
    seed: { help: "of the pauses", smoke: 1, full: 1 },
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

const WITH_MOTION = { reducedMotion: "no-preference" } as const;

/** A server with an open map page. */
interface Seen {
  readonly runtime: Runtime;
  readonly place: Place;
  readonly client: { readonly url: string; readonly key: string };
  readonly visit: Visit;
}

async function measure(run: BenchRun, runtime: Runtime): Promise<void> {
  const place = openPlace();
  try {
    const { url } = await startReady(runtime, place);
    const client = { url, key: readFirstKey(place) };
    const visit = await Visit.open(url, run.isSmoke ? {} : { deviceScaleFactor: 1, ...WITH_MOTION });
    await visit.context.addInitScript(WATCH_DOTS);
    await visit.enter(client.key, "/map?zone=UTC");
    const seen = { runtime, place, client, visit };
    await measurePhones(run, seen);
    await measureMoves(run, seen);
    await measureYear(run, seen);
    await measureKeys(run, seen);
    await visit.close();
  } finally {
    await closePlace(place);
  }
}

/** Measures from a phone's first report, as OwnTracks sends it, until the page names it. */
async function measurePhones(run: BenchRun, { runtime, visit }: Seen): Promise<void> {
  const runs: number[] = [];
  for (let phone = 0; phone < run.size("phones"); phone++)
    runs.push(await namePhone(visit, `phone-${phone}`));
  const map = visit.page.getByRole("button", { name: "Show the map" });
  if (await map.isVisible()) await map.click();
  else await visit.page.keyboard.press("Escape"); // Later phones are connected in a dialog over the map.
  tell(run, `a first report is named, ${runtime.name}`, runs, 2000);
}

/** Measures from sending a report until its dot is drawn. */
async function measureMoves(run: BenchRun, { runtime, client, visit }: Seen): Promise<void> {
  const random = createRandom(run.size("seed"));
  const drawn = () =>
    visit.page.evaluate(() => (globalThis as unknown as { movesDrawnMs: number[] }).movesDrawnMs);
  const report = (step: number) =>
    store(client, [
      { device_id: "van", timestamp: Date.now(), latitude: 51.5, longitude: -0.12 + step / 10_000 },
    ]);
  await report(0);
  await visit.page.getByRole("listbox").getByRole("option", { name: "van" }).waitFor();
  const runs: number[] = [];
  for (let step = 1; step <= run.size("moves"); step++) {
    await Bun.sleep(PAUSE_MS + random() * PAUSE_SPREAD_MS);
    const before = (await drawn()).length;
    const sentMs = performance.timeOrigin + performance.now();
    await report(step);
    const drawnMs = await visit.until("the moved dot", async () => (await drawn())[before] ?? null);
    runs.push(drawnMs - sentMs);
  }
  tell(run, `a report is a moved dot, ${runtime.name}`, runs, 1000);
}

/** Measures from choosing a year until its line is drawn. */
async function measureYear(run: BenchRun, { runtime, client, visit }: Seen): Promise<void> {
  const records = readDeviceYear(run.size("rows"));
  if (records === null) return;
  const topAt = Math.floor(records.length / 3);
  for (let first = 0; first < records.length; first += BATCH)
    await store(
      client,
      records.slice(first, first + BATCH).map((record, index) => {
        const speed = first + index === topAt ? SPEED.top : SPEED.usual;
        return { device_id: YEAR_DEVICE, speed, ...record };
      }),
    );
  const { page } = visit;
  await page.locator("#search").fill(YEAR_DEVICE);
  // The search may still use the former list, and Enter would choose nothing.
  await page.getByRole("listbox").getByRole("option", { name: YEAR_DEVICE }).waitFor();
  await page.keyboard.press("Enter");
  const runs: number[] = [];
  for (let round = 0; round < run.size("years"); round++) {
    await page.getByLabel("Number of days").selectOption("day");
    await page.getByText(SPEED.topText).waitFor({ state: "hidden" }); // The page shows the device's last day instead.
    const { ms, vertices } = await drawYear(visit);
    if (vertices > VERTICES_MAX) throw new Error(`${vertices} vertices are too many`);
    await page.getByText(SPEED.topText).waitFor();
    runs.push(ms);
  }
  tell(run, `a year of ${records.length.toLocaleString("en")} points is drawn, ${runtime.name}`, runs, 1500);
}

interface DrawnLine {
  readonly ms: number;
  readonly vertices: number;
}

const MAPLIBRE: PartName<MapLibreMap> = ["maplibre-gl", "Map"];

/** Chooses the year, and waits for the first drawn line. */
function drawYear({ page }: Visit): Promise<DrawnLine> {
  return askPart(
    page,
    MAPLIBRE,
    (map) =>
      new Promise<DrawnLine>((resolve) => {
        const startMs = performance.now();
        const lines = () => {
          const source = map.getStyle().sources["day-lines"] as unknown as {
            data: { features: { geometry: { coordinates: [number, number][][] } }[] };
          };
          return source.data.features.flatMap(({ geometry }) => geometry.coordinates);
        };
        const look = (event: { sourceId?: string; isSourceLoaded?: boolean }) => {
          if (event.sourceId !== "day-lines" || !event.isSourceLoaded) return;
          const shown = lines();
          if (shown.length === 0) return;
          map.off("sourcedata", look);
          map.once("render", () => {
            const vertices = shown.reduce((sum, line) => sum + line.length, 0);
            resolve({ ms: performance.now() - startMs, vertices });
          });
        };
        map.on("sourcedata", look);
        const select = document.querySelector<HTMLSelectElement>('select[aria-label="Number of days"]')!;
        select.value = "year";
        select.dispatchEvent(new Event("change", { bubbles: true }));
      }),
    null,
  );
}

/** Measures from the end of the command that revokes a key until the page asks for another. */
async function measureKeys(run: BenchRun, { runtime, place, client, visit }: Seen): Promise<void> {
  const { page } = visit;
  visit.expect(/401/);
  const runs: number[] = [];
  for (let round = 0; round < run.size("keys"); round++) {
    const words = ["keys", "create", "--app", "default", "--permission", "read"];
    const { out, error } = await runCommand(runtime, place, words);
    const key = out.trim();
    await untilKnown({ url: client.url, key });
    if (round === 0) await pressInHeader(page, "Sign out");
    await page.getByLabel("Key", { exact: true }).fill(key);
    await page.keyboard.press("Enter");
    await page.getByText("Live", { exact: true }).waitFor();
    await runCommand(runtime, place, ["keys", "revoke", /k_\w+/.exec(error)![0]]);
    const startMs = performance.now();
    await page.getByLabel("Key", { exact: true }).waitFor();
    runs.push(performance.now() - startMs);
  }
  tell(run, `a revoked key shows nothing, ${runtime.name}`, runs, 5000);
}

/** Reports the 99th percentile; of few runs, the maximum. */
function tell(run: BenchRun, name: string, runs: readonly number[], msMax: number): void {
  const bound: Bound | undefined = run.isSmoke ? undefined : { atMost: msMax };
  const figure: Figure = { name, unit: "ms", runs };
  const sorted = runs.toSorted((a, b) => a - b);
  run.figures([figure]);
  run.verdict(`${name}, p99`, sorted[Math.ceil(0.99 * sorted.length) - 1]!, "ms", bound);
}

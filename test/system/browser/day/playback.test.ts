import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { store } from "../../support/client.ts";
import { violationsOf } from "../support/axe.ts";
import { shownPositions } from "../support/devices.ts";
import { pressInHeader } from "../support/header.ts";
import { tabTo } from "../support/keys.ts";
import { drawnOver, headOf, type Pixel, pictureAt, pixelOf, rest } from "../support/map.ts";
import { describePage } from "../support/stage.ts";
import type { Visit } from "../support/visit.ts";

/*
 * Goal: the clock, the head and the plot of a day that is played back agree at every rate, and no line is drawn where
 * nobody knows the way. Method: a bus whose place and speed follow from the time alone, with a silence and a jump.
 */

const START_MS = Date.UTC(2026, 10, 10, 12);
const STEP_MS = 10_000;
const METERS_PER_SECOND = 10;
const DEGREES_A_MS = METERS_PER_SECOND / 1000 / 111_195;

/** At the equator, eastward; speed grows by the hour. */
function at(timestamp: number, latitude = 0) {
  const elapsedMs = timestamp - START_MS;
  const longitude = elapsedMs * DEGREES_A_MS;
  return { device_id: "bus", timestamp, latitude, longitude, speed: 5 + elapsedMs / 600_000 };
}

const minutes = (from: number, to: number, latitude = 0) =>
  Array.from({ length: ((to - from) * 60_000) / STEP_MS }, (_, index) =>
    at(START_MS + from * 60_000 + index * STEP_MS, latitude),
  );

/** Half an hour, a silence of 20 minutes, half an hour, and the last quarter of an hour 50 km north. */
const REPORTS = [...minutes(0, 30), ...minutes(50, 80), ...minutes(80, 95, 0.45)];

describePage(
  "playback",
  (stage) => {
    stage.test(
      "clock, head and plot agree at every rate, no line is drawn over a silence or a jump, and keys do all of it",
      async (visit) => {
        await visit.enter(stage.key, "/map?zone=UTC");
        await findDayByKeys(visit);
        await linesAndPlotAreTrue(visit);
        await barFits(visit);
        await playFromList(visit);
        await playByKeys(visit);
        await barFits(visit); // Now with what the plot was at the clock.
        for (const rate of ["1", "5", "10", "60", "120", "300"]) await clockAndHeadAgree(visit, rate);
        await lookAtYearByKeys(visit);
        await linesAndPlotAreTrue(visit);
      },
    );
  },
  { keepsAll: true, isPageAlone: true, prepare: ({ client }) => store(client, REPORTS) },
);

/** The device by a search. Today has no reports, so the last day that has some is opened. */
async function findDayByKeys({ page }: Visit): Promise<void> {
  await page.getByRole("listbox").getByRole("option", { name: "bus" }).waitFor();
  for (const key of ["/", "b", "u", "s", "Enter"]) await page.keyboard.press(key);
  await page.getByText(`${REPORTS.length} reports`).waitFor();
  expect(await page.getByRole("textbox", { name: "Day" }).inputValue()).toBe("2026-11-10");
}

/** All of the bar and the plot is inside its panel, and large enough to be used, however wide the page is. */
async function barFits(visit: Visit): Promise<void> {
  const { page } = visit;
  for (const width of [801, 900, 960, 1024, 1100, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    const parts = [".time", ".time .clock", ".time .play", ".time .slider"];
    const boxes = parts.map((part) => page.locator(part).boundingBox());
    const [panel, clock, play, slider] = await Promise.all(boxes);
    const right = clock!.x + clock!.width;
    expect([width, right <= panel!.x + panel!.width, play!.width >= 72, slider!.width >= 80]).toEqual([
      ...[width, true, true, true],
    ]);
    await visit.until("the whole plot is inside, with its times", async () => {
      const plot = (await page.locator(".plot canvas").boundingBox())!;
      return plot.y + plot.height <= panel!.y + panel!.height && plot.height >= 80;
    });
  }
}

/** Each piece of the line leads from the first to the last report of its part, and the plot has the greatest speed. */
async function linesAndPlotAreTrue(visit: Visit): Promise<void> {
  const { page } = visit;
  const place = ({ longitude, latitude }: ReturnType<typeof at>) => [longitude, latitude];
  const expected = [REPORTS.slice(0, 180), REPORTS.slice(180, 360), REPORTS.slice(360)].map((part) => [
    place(part[0]!),
    place(part.at(-1)!),
  ]);
  await visit.until("the lines", async () => {
    const [lines] = (await drawnOver(page))["day-lines"] ?? [];
    const pieces = (lines?.geometry.coordinates ?? []) as readonly (readonly [number, number])[][];
    const ends = pieces.map((piece) => [piece[0], piece.at(-1)]);
    return Bun.deepEquals(rounded(ends), rounded(expected));
  });
  const top = inMilesAnHour(Math.max(...REPORTS.map(({ speed }) => speed)));
  await page.getByText(`Max ${top} mph`).waitFor();
}

/** A click on a row leaves the focus there; the space bar plays all the same. */
async function playFromList({ page }: Visit): Promise<void> {
  await page.getByRole("listbox").getByRole("option", { name: "bus" }).click();
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Pause" }).waitFor();
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Play" }).waitFor();
}

/** From the slider, ten seconds a press, and the button: the rate by the arrows of its field. */
async function playByKeys(visit: Visit): Promise<void> {
  const { page } = visit;
  const slider = page.getByLabel("Time", { exact: true });
  await tabTo(page, slider);
  for (const key of ["Home", "ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
  const startMs = START_MS + 20_000;
  await visit.until("the slider", async () => Number(await slider.inputValue()) === startMs);
  await tabTo(page, page.getByRole("button", { name: "Play" }));
  await page.keyboard.press("Space");
  await visit.until("the clock runs", async () => Number(await slider.inputValue()) > startMs);
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Play" }).waitFor();
  const rate = page.getByLabel("Playback speed");
  await tabTo(page, rate);
  await page.keyboard.press("ArrowDown");
  await visit.until("the next rate", async () => (await rate.inputValue()) === "60");
}

async function lookAtYearByKeys({ page }: Visit): Promise<void> {
  await tabTo(page, page.getByLabel("Number of days"));
  await page.keyboard.press("End");
  await page.getByRole("heading", { name: /^365 days to/ }).waitFor();
  await tabTo(page, page.getByRole("button", { name: "Fit track" }));
  await page.keyboard.press("Enter");
}

/** Plays for a moment, and looks at everything that stands where the clock then is. */
async function clockAndHeadAgree(visit: Visit, rate: string): Promise<void> {
  const { page } = visit;
  const slider = page.getByLabel("Time", { exact: true });
  await page.getByLabel("Playback speed").selectOption(rate);
  await slider.fill(String(START_MS + 60_000));
  await page.getByRole("button", { name: "Play" }).click();
  await visit.until("the clock runs", async () => Number(await slider.inputValue()) > START_MS + 60_000);
  await page.getByRole("button", { name: "Pause" }).click();
  await drawn(page);
  const clockMs = Number(await slider.inputValue());
  const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", timeZone: "UTC" }).format(clockMs);
  expect(await page.locator("output.clock").textContent()).toContain(clock);
  const head = await headOf(page);
  expect(head.latitude).toBe(0);
  expect(head.longitude).toBeCloseTo((clockMs - START_MS) * DEGREES_A_MS, 6);
  // Speeds are plotted from reports; that of the last report before the clock is told beside.
  const reported = at(START_MS + Math.floor((clockMs - START_MS) / STEP_MS) * STEP_MS).speed;
  const told = `${inMilesAnHour(reported)} mph at ${clock}`;
  expect(await page.locator(".plot-text").textContent()).toContain(told);
}

function rounded(ends: readonly (readonly (readonly number[] | undefined)[])[]): readonly string[] {
  return ends.flat().map((place) => place!.map((value) => value.toFixed(6)).join());
}

/** Waits until what the page shows is what its parts have. */
function drawn(page: Page): Promise<unknown> {
  return page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
}

/** What Britons read, whose browser it is. */
function inMilesAnHour(metersPerSecond: number): number {
  return Math.round((metersPerSecond * 3600) / 1609.344);
}

/* The time lapse of all devices: it plays what was, moves by hand, and leaves the live map as it was. */

const MINUTE_MS = 60_000;
const BEGIN = { latitude: 51.5, longitude: -0.1 };
const END = { latitude: 51.51, longitude: -0.12 };
/** The window's middle, which is that of the map. */
const MIDDLE: Pixel = { x: 640, y: 400 };

/** The van drives for an hour until a minute ago. */
function drive(nowMs: number) {
  return Array.from({ length: 60 }, (_, minute) => ({
    device_id: "van",
    timestamp: nowMs - (60 - minute) * MINUTE_MS,
    latitude: BEGIN.latitude + (minute / 59) * (END.latitude - BEGIN.latitude),
    longitude: BEGIN.longitude + (minute / 59) * (END.longitude - BEGIN.longitude),
    speed: 5,
  }));
}

describePage(
  "the time lapse",
  (stage) => {
    stage.test("plays, moves by key and by hand, and ends", async (visit, page) => {
      await visit.enter(stage.key, `/map?at=${BEGIN.latitude},${BEGIN.longitude},14`);
      await page.getByText("Live", { exact: true }).waitFor();
      await page.locator(".map-canvas canvas").waitFor();
      await rest(page);
      await pressInHeader(page, "Time lapse");
      await page.getByRole("dialog", { name: "Time lapse" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog", { name: "Time lapse" }).waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Time lapse" }).and(page.locator(":focus")).waitFor();
      await page.keyboard.press("t");
      const lapse = page.getByRole("dialog", { name: "Time lapse" });
      const clock = lapse.locator(".lapse-clock");
      const slider = lapse.getByRole("slider", { name: "Time" });
      await clock.waitFor();
      const toEnd = async () => {
        await page.keyboard.press("End");
        return (await slider.inputValue()) === (await slider.getAttribute("max"));
      };
      await visit.until("the end of the range", toEnd);
      const atEnd = await clock.textContent();
      const withoutDot = await visit.until("the map without the van", async () => {
        const before = await pictureAt(page, MIDDLE);
        await page.keyboard.press("Home");
        const isDrawn = await visit.until("the van", async () => (await pictureAt(page, MIDDLE)) !== before);
        await page.keyboard.press("End");
        return isDrawn && before;
      });
      await visit.until("the van gone", async () => (await pictureAt(page, MIDDLE)) === withoutDot);
      expect(await clock.textContent()).toBe(atEnd);

      const [min, max] = [await slider.getAttribute("min"), await slider.getAttribute("max")].map(Number);
      await slider.fill(String((min! + max!) / 2));
      const half = await clock.textContent();
      await lapse.getByRole("button", { name: "Play" }).click();
      await visit.until("a running clock", async () => (await clock.textContent()) !== half);
      await page.keyboard.press("Space");
      await lapse.getByRole("button", { name: "Play" }).waitFor();
      expect(await violationsOf(page)).toEqual([]);

      const speed = lapse.getByLabel("Speed");
      const rate = await speed.inputValue();
      await page.keyboard.press("ArrowUp");
      await visit.until("a higher speed", async () => Number(await speed.inputValue()) > Number(rate));
      await lapse.getByLabel("Range").selectOption({ label: "One day…" });
      await lapse.getByLabel("Day").fill("2026-01-01");
      await lapse.getByText("No device reported in this time.").waitFor();

      await lapse.getByRole("button", { name: "Close" }).focus();
      await page.keyboard.press("Escape");
      await lapse.waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Time lapse" }).and(page.locator(":focus")).waitFor();
      // Finds the page's one map, so that of the time lapse is gone.
      await visit.until("one map", async () => (await drawnOver(page)) !== null);

      const live = await pixelOf(page, BEGIN.latitude, BEGIN.longitude);
      await rest(page);
      const before = await pictureAt(page, live);
      await store(stage.client, [{ device_id: "van", timestamp: Date.now(), ...BEGIN }]);
      await visit.until("the report", async () => (await shownPositions(page)).van![1] === BEGIN.latitude);
      await visit.until("the live van", async () => (await pictureAt(page, live)) !== before);
    });
  },
  { prepare: ({ client }) => store(client, drive(Date.now())) },
);

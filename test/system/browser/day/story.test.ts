import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { store } from "../../support/client.ts";
import { violationsOf } from "../support/axe.ts";
import { tabTo } from "../support/keys.ts";
import { cameraOf, drawnOver, pixelOf, rest } from "../support/map.ts";
import { describePage } from "../support/stage.ts";
import type { Visit } from "../support/visit.ts";

/*
 * Goal: a day is told as a story, on the map, in the list and on the time line, and all of them agree. Method: a van
 * that stays, drives twice as fast in the second half, stays, is silent, and drives back, with known speeds.
 */

const START_MS = Date.UTC(2026, 10, 10, 12);
const STEP_MS = 10_000;
const DEGREES_A_METER = 1 / 111_195;

interface Leg {
  readonly minutes: number;
  /** Meters per second. */
  readonly speed: number;
  readonly isSilent?: boolean;
}

const LEGS: readonly Leg[] = [
  { minutes: 20, speed: 0 },
  { minutes: 10, speed: 8 },
  { minutes: 10, speed: 16 },
  { minutes: 30, speed: 0 },
  { minutes: 15, speed: 0, isSilent: true },
  { minutes: 10, speed: -16 },
];

/** Eastward along the equator, and back. */
function reportsOf(legs: readonly Leg[]) {
  let timestamp = START_MS;
  let longitude = 0;
  return legs.flatMap(({ minutes, speed, isSilent = false }) =>
    Array.from({ length: (minutes * 60_000) / STEP_MS }, () => {
      timestamp += STEP_MS;
      longitude += speed * (STEP_MS / 1000) * DEGREES_A_METER;
      return { device_id: "van", timestamp, latitude: 0, longitude, speed: Math.abs(speed) };
    }).filter(() => !isSilent),
  );
}

describePage(
  "the story of a day",
  (stage) => {
    stage.test("line, list and time line tell the same day, by mouse and by keys", async (visit, page) => {
      await visit.enter(stage.key, "/map?device=van&day=2026-11-10&zone=UTC");
      await lineIsColored(visit);
      await listTells(page);
      await momentIsOnBoth(visit);
      expect(await violationsOf(page)).toEqual([]);
      await tripIsPlayedByKeys(visit);
      await weekIsTold(visit);
    });
  },
  { keepsAll: true, prepare: ({ client }) => store(client, reportsOf(LEGS)) },
);

/** In the bands of 18 and 36 mph, with a legend, marks of its direction, and the stops with their durations. */
async function lineIsColored(visit: Visit): Promise<void> {
  const { page } = visit;
  await page.getByText("Speed in mph, slow to fast").waitFor();
  await page.getByRole("button", { name: "Fit track" }).click();
  await visit.until("marks of the direction", async () => {
    const bearings = await valuesOf(page, "day-directions", "bearing");
    return bearings.includes(90) && bearings.includes(270);
  });
  const bands = (await valuesOf(page, "day-speeds", "band")) as readonly number[];
  expect(bands).toEqual([0, 1, 3, 0, 3]);
  expect(await page.locator(".speed-legend li").allTextContents()).toEqual([
    ...["0–10", "10–20", "20–30", "30–40", "40+"],
  ]);
  expect(await valuesOf(page, "day-ends", "name")).toEqual(["Start", "End"]);
  expect(await valuesOf(page, "day-stops", "duration")).toHaveLength(2);
  expect(await page.locator(".time-line-stop").count()).toBe(2);
  expect(await page.locator(".time-line-gap").count()).toBe(1);
}

async function listTells(page: Page): Promise<void> {
  const rows = page.locator(".stops li");
  await page.getByText("top 36 mph").first().waitFor();
  const kinds = await rows.evaluateAll((each) => each.map((row) => row.querySelector(".trip") !== null));
  expect(kinds).toEqual([false, true, false, true]);
  expect(await rows.nth(1).textContent()).toMatch(/12:\d\d – 12:\d\d UTC.*mi, average 2\d mph, top 36 mph/s);
  expect(await rows.nth(3).textContent()).toMatch(/silent for 15 min/);
}

/** The mouse on the line marks the moment on the plot, and the mouse on the plot marks it on the line. */
async function momentIsOnBoth(visit: Visit): Promise<void> {
  const { page } = visit;
  await rest(page);
  const at = await pixelOf(page, 0, 4000 * DEGREES_A_METER);
  await page.mouse.move(at.x, at.y);
  await page.locator(".plot-pointed:not([hidden])").waitFor();
  await visit.until("the moment on the line", async () => {
    const [text] = await valuesOf(page, "day-moment", "text");
    const caption = await page.locator(".plot-text").textContent();
    const time = /^(12:2\d:\d\d UTC), 18 mph$/.exec(String(text))?.[1];
    return time !== undefined && caption!.includes(`18 mph at ${time}`);
  });
  const plot = (await page.locator("time-plot .u-over").boundingBox())!;
  await page.mouse.move(plot.x + plot.width / 4, plot.y + plot.height / 2);
  await visit.until("the moment of the plot", async () => {
    const [text] = await valuesOf(page, "day-moment", "text");
    return /^12:(2[3-5]):\d\d UTC, 18 mph$/.test(String(text));
  });
  await page.mouse.move(0, 0);
  await visit.until("no moment", async () => (await valuesOf(page, "day-moment", "text")).length === 0);
}

/** Enter on a trip shows it and plays it, to its end and no further; there the moment stands on the line. */
async function tripIsPlayedByKeys(visit: Visit): Promise<void> {
  const { page } = visit;
  const before = await cameraOf(page);
  await page.getByLabel("Playback speed").selectOption("300");
  const trip = page.locator(".stops .trip").first();
  await tabTo(page, trip);
  await page.keyboard.press("Enter");
  await visit.until("the end of the trip", async () => {
    if (!(await page.getByRole("button", { name: "Play", exact: true }).isVisible())) return false;
    const clockMs = Number(await page.getByLabel("Time", { exact: true }).inputValue());
    return clockMs >= START_MS + 39 * 60_000 && clockMs <= START_MS + 41 * 60_000;
  });
  await visit.until("the moment at the clock", async () => {
    const [text] = await valuesOf(page, "day-moment", "text");
    return /^12:(39|40|41):\d\d UTC, \d+ mph$/.test(String(text));
  });
  expect(await cameraOf(page)).not.toEqual(before);
}

/** Several days are colored and told too, with their dates; a trip is only shown. */
async function weekIsTold(visit: Visit): Promise<void> {
  const { page } = visit;
  await page.getByLabel("Number of days").selectOption("7 days");
  await page.getByRole("button", { name: /About 8\.\d+ mi, top 36 mph/ }).click();
  const bands = (await valuesOf(page, "day-speeds", "band")) as readonly number[];
  expect(bands.includes(3)).toBe(true);
  expect(await page.locator(".story-day").allTextContents()).toEqual(["Tue, 10 Nov 2026"]);
  await page
    .getByRole("button", { name: /About 5\.\d+ mi, top 36 mph/ })
    .first()
    .click();
  expect(await violationsOf(page)).toEqual([]);
}

/** A property of what is drawn in a source. */
async function valuesOf(page: Page, source: string, name: string): Promise<readonly unknown[]> {
  const features = (await drawnOver(page))[source] ?? [];
  return features.map((feature) => feature.properties?.[name]);
}

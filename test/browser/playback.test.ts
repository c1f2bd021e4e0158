import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { store } from "../runtime/support/client.ts";
import { drawnOver, headOf } from "./support/map.ts";
import { describePage } from "./support/stage.ts";

/*
 * Goal: the clock, the head and the plot of a day that is played back agree at every rate, and no line is drawn where
 * nobody knows the way. Method: a bus whose place and speed follow from the time alone, with a silence and a jump.
 */

const DAY = "2026-11-10";
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
    stage.test("clock, head and plot agree at every rate", async (visit, page) => {
      await visit.enter(stage.key, `/map?device=bus&day=${DAY}&zone=UTC`);
      const slider = page.getByLabel("Time", { exact: true });
      await slider.waitFor();
      await page.locator("time-plot canvas").waitFor();
      for (const rate of ["1", "5", "10", "30", "60", "120", "300"]) {
        await page.getByLabel("Speed of playback").selectOption(rate);
        await slider.fill(String(START_MS + 60_000));
        await page.getByRole("button", { name: "Play" }).click();
        await visit.until(
          "the clock runs",
          async () => Number(await slider.inputValue()) > START_MS + 60_000,
        );
        await page.getByRole("button", { name: "Pause" }).click();
        await drawn(page);
        const clockMs = Number(await slider.inputValue());
        const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", timeZone: "UTC" }).format(
          clockMs,
        );
        expect(await page.locator("output.clock").textContent()).toContain(clock);
        const head = await headOf(page);
        expect(head.latitude).toBe(0);
        expect(head.longitude).toBeCloseTo((clockMs - START_MS) * DEGREES_A_MS, 6);
        // Speeds are plotted from reports; that of the last report before the clock is told beside.
        const reported = at(START_MS + Math.floor((clockMs - START_MS) / STEP_MS) * STEP_MS).speed;
        expect(await page.locator(".plot-text").textContent()).toContain(
          `${inMilesAnHour(reported)} mph at ${clock}`,
        );
      }
    });

    stage.test(
      "no line leads over a silence or a jump, and the plot has the greatest speed",
      async (visit, page) => {
        await visit.enter(stage.key, `/map?device=bus&day=${DAY}&zone=UTC`);
        const pieces = await visit.until("the lines", async () => {
          const [lines] = (await drawnOver(page))["day-lines"] ?? [];
          const drawn = (lines?.geometry.coordinates ?? []) as readonly (readonly [number, number])[][];
          return drawn.length > 0 && drawn;
        });
        const ends = pieces.map((piece) => [piece[0], piece.at(-1)]);
        const place = ({ longitude, latitude }: ReturnType<typeof at>) => [longitude, latitude];
        const expected = [REPORTS.slice(0, 180), REPORTS.slice(180, 360), REPORTS.slice(360)].map((part) => [
          place(part[0]!),
          place(part.at(-1)!),
        ]);
        expect(ends.map((pair) => pair.map((each) => [...each!].map((value) => value.toFixed(6))))).toEqual(
          expected.map((pair) => pair.map((each) => each.map((value) => value.toFixed(6)))),
        );
        const top = inMilesAnHour(Math.max(...REPORTS.map(({ speed }) => speed)));
        await page.getByText(`At most ${top} mph`).waitFor();
      },
    );
  },
  { prepare: ({ client }) => store(client, REPORTS) },
);

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

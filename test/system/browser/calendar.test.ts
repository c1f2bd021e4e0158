import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { get, store } from "../support/client.ts";
import { violationsOf } from "./support/axe.ts";
import { describePage } from "./support/stage.ts";

/*
 * A device that drove on some days of two years: the calendar shows them, keys choose an empty day and a full one, and
 * the statistics have the sums of the endpoint, on the page and as a file.
 */

const DAYS = ["2025-12-31", "2026-02-27", "2026-03-02", "2026-03-03", "2026-03-29"];
const MINUTE_MS = 60_000;
const METERS_PER_MILE = 1609.344;

/** Each day goes further than the day before. */
function drives() {
  return DAYS.flatMap((day, nth) =>
    Array.from({ length: 30 }, (_, index) => ({
      device_id: "bus",
      timestamp: Date.parse(`${day}T09:00:00Z`) + index * MINUTE_MS,
      latitude: 53.4 + index * (nth + 1) * 0.001,
      longitude: -2.98,
    })),
  );
}

interface DaysAnswer {
  readonly days: readonly {
    readonly date: string;
    readonly reports: number;
    readonly distance_meters: number;
  }[];
}

describePage(
  "calendar",
  (stage) => {
    stage.test(
      "shows the days with reports, picks a day by keys, and leads to statistics with a file",
      async (visit, page) => {
        const path =
          "/api/v1/devices/bus/days?start_date=2026-01-01&end_date=2026-12-31&timezone=Europe/London";
        const { days } = (await (await get(stage.client, path)).json()) as DaysAnswer;
        expect(days.map(({ date }) => date)).toEqual(DAYS.slice(1));

        // The device's last day opens by itself.
        await visit.enter(stage.key, "/map?device=bus&zone=Europe/London");
        await page.getByRole("heading", { name: /29 Mar 2026/ }).waitFor();
        await page.keyboard.press("c");
        const calendar = page.getByRole("dialog", { name: "Choose a day" });
        await calendar.getByRole("button", { name: /29 Mar 2026: .*30 reports/ }).waitFor();
        const shaded = calendar.locator('.date:not([data-shade="0"])');
        expect(await shaded.allTextContents()).toEqual(["27", "2", "3", "29"]);
        expect(
          await shaded.evaluateAll((cells) =>
            cells.map((cell) => Number((cell as HTMLElement).dataset.shade)),
          ),
        ).toEqual([1, 2, 3, 4]);
        expect(await violationsOf(page)).toEqual([]);

        // From 29 March a month back is 28 February, and the day before had reports. Enter chooses it.
        await page.keyboard.press("PageUp");
        await calendar.locator('[data-day="2026-02-28"]:focus').waitFor();
        await page.keyboard.press("ArrowLeft");
        await calendar.locator('[data-day="2026-02-27"]:focus').waitFor();
        await page.keyboard.press("Enter");
        await page.getByRole("heading", { name: /27 Feb 2026/ }).waitFor();
        await page.getByText(/30 reports/).waitFor();

        // A day without reports can be chosen too.
        await page.getByRole("button", { name: "Calendar" }).click();
        await calendar.getByRole("button", { name: /Sun, 1 Mar 2026: no reports/ }).click();
        await page.getByText(/No reports on this day/).waitFor();

        await page.getByRole("button", { name: "Statistics" }).click();
        const statistics = page.getByRole("dialog", { name: "Statistics of bus" });
        await statistics.getByRole("cell", { name: "30", exact: true }).first().waitFor();
        await statistics.getByRole("button", { name: "Months" }).click();
        await statistics.locator("bar-chart canvas").first().waitFor();
        await valuesOfBars(page, statistics.getByRole("slider", { name: "Distance (mi)" }), days);
        const listed = await statistics.getByRole("rowheader").allTextContents();
        expect(listed).toEqual(["March 2026", "February 2026"]);
        expect(await violationsOf(page)).toEqual([]);
        const downloading = page.waitForEvent("download");
        await statistics.getByRole("button", { name: "Download CSV" }).click();
        const file = await downloading;
        expect(file.suggestedFilename()).toMatch(/^bus-months-2026-01-01-to-\d{4}-\d\d-\d\d\.csv$/);
        const [header, january, february, march] = readFileSync(await file.path(), "utf8").split("\r\n");
        expect(header).toStartWith("First day,Last day,Distance (mi),Moving time (h)");
        expect(january).toBe("2026-01-01,2026-01-31,,,,,0,0");
        expect([february, march].map((row) => Number(row!.split(",")[2]))).toEqual([
          miles(days.slice(0, 1)),
          miles(days.slice(1)),
        ]);

        // From the years to a month, and from its day to the map.
        await statistics.getByRole("button", { name: "Years" }).click();
        await statistics.getByRole("button", { name: "2025", exact: true }).click();
        await statistics.getByRole("button", { name: "December 2025" }).click();
        await statistics.getByRole("button", { name: "31 Dec", exact: true }).click();
        await page.getByRole("heading", { name: /31 Dec 2025/ }).waitFor();

        // A month without reported speeds shows distances in place of the plot.
        await page.getByLabel("Number of days").selectOption("30 days");
        await page.getByRole("slider", { name: "Distance (mi) by day" }).locator("canvas").waitFor();
        await severalDays(page);
      },
      { webgl: false },
    );
  },
  { isPageAlone: true, prepare: ({ client }) => store(client, drives()) },
);

/** Several days have a table, whose days can be chosen, and are downloaded in one file. */
async function severalDays(page: Page): Promise<void> {
  await page.getByLabel("Last day").fill("2026-03-30");
  await page.getByRole("heading", { name: /^30 days to/ }).waitFor();
  await page.getByText("Day by day").click();
  const table = page.getByRole("table");
  await table.getByRole("button", { name: "29 Mar" }).waitFor();
  expect(await table.getByRole("rowheader").allTextContents()).toEqual(["29 Mar", "3 Mar", "2 Mar"]);
  const downloading = page.waitForEvent("download");
  await page.getByRole("group", { name: "Download the days" }).getByRole("button", { name: "CSV" }).click();
  const file = await downloading;
  expect(file.suggestedFilename()).toBe("bus-2026-03-01-to-2026-03-30.csv");
  const rows = readFileSync(await file.path(), "utf8")
    .trim()
    .split(/\r?\n/);
  expect(rows.length).toBe(1 + 3 * 30);
  await table.getByRole("button", { name: "3 Mar", exact: true }).click();
  await page.getByRole("heading", { name: /3 Mar 2026/ }).waitFor();
}

/** The pointer and the keys show the value of a bar: here a month, as the endpoint has it. */
async function valuesOfBars(page: Page, chart: Locator, days: DaysAnswer["days"]): Promise<void> {
  const tip = chart.locator(".bar-tip");
  const march = `March 2026: ${miles(days.slice(1)).toFixed(2).slice(0, 4)} mi`;
  const february = /^February 2026: \d/;
  await chart.focus();
  await page.keyboard.press("Home");
  await tip.getByText("January 2026: no reports").waitFor();
  await page.keyboard.press("ArrowRight");
  await tip.getByText(february).waitFor();
  await page.keyboard.press("ArrowRight");
  await tip.getByText(march).waitFor();
  expect(await chart.getAttribute("aria-valuetext")).toBe(march);
  const plot = (await chart.locator(".u-over").boundingBox())!;
  const months = Number(await chart.getAttribute("aria-valuemax")) + 1;
  await page.mouse.move(plot.x + (plot.width * 1.6) / (months + 0.2), plot.y + plot.height / 2);
  await tip.getByText(february).waitFor();
  const box = (await tip.boundingBox())!;
  expect(box.x).toBeGreaterThanOrEqual(plot.x);
  await page.mouse.move(0, 0);
  await tip.waitFor({ state: "hidden" });
}

function miles(days: DaysAnswer["days"]): number {
  const meters = days.reduce((sum, { distance_meters }) => sum + distance_meters, 0);
  return Number((meters / METERS_PER_MILE).toFixed(3));
}

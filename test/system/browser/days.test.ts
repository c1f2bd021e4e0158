import { expect } from "bun:test";
import type { Locator, Page } from "playwright-core";
import type { Page as WholePage } from "../../../src/web/page/page.ts";
import { store } from "../support/client.ts";
import { chooseInMenu } from "./support/header.ts";
import { askPart, type PartName } from "./support/parts.ts";
import { describePage } from "./support/stage.ts";

/*
 * Goal: a day is a day of the zone that was chosen, whatever the browser's own is, and every time names its zone.
 * Method: reports around both midnights of the days on which clocks change in Berlin, in a browser that is in New York.
 */

const DAYS = [
  {
    day: "2026-03-29",
    hours: 23,
    hoursInNewYork: [17, 18],
    startMs: Date.UTC(2026, 2, 28, 23),
    endMs: Date.UTC(2026, 2, 29, 22),
  },
  {
    day: "2026-10-25",
    hours: 25,
    hoursInNewYork: [18, 19],
    startMs: Date.UTC(2026, 9, 24, 22),
    endMs: Date.UTC(2026, 9, 25, 23),
  },
] as const;

const WHOLE_PAGE: PartName<WholePage> = ["page/page.ts", "Page"];

const MINUTE_MS = 60_000;

/** Before midnight, and after it. */
const EDGE = { before: 10, after: 20 };

/** Around the midnights that the day begins and ends with: 30 of the day itself, and 30 of the same day in New York. */
function reportsAround({ startMs, endMs }: (typeof DAYS)[number]) {
  return [startMs, endMs].flatMap((edgeMs) =>
    Array.from({ length: EDGE.before + EDGE.after }, (_, index) => ({
      device_id: "walker",
      timestamp: edgeMs + (index - EDGE.before) * (MINUTE_MS / 4),
      latitude: 52.5 + index / 10_000,
      longitude: 13.4,
    })),
  );
}

describePage(
  "days",
  (stage) => {
    stage.test(
      "a day of Berlin has 23 hours in March and 25 in October, and its own reports alone",
      async (visit, page) => {
        await visit.enter(stage.key, `/map?device=walker&day=${DAYS[0].day}&zone=Europe/Berlin`);
        await page.getByText("Hour by hour").click();
        const rows = page.getByRole("region", { name: "Device" }).locator("table.hours tbody tr");
        for (const { day, hours, hoursInNewYork } of DAYS) {
          await chooseInMenu(page, "Times in", "Europe/Berlin");
          await page.getByRole("textbox", { name: "Day" }).fill(day);
          const inBerlin = [EDGE.after, ...Array(hours - 2).fill(0), EDGE.before];
          await visit.until(`${hours} hours`, async () => Bun.deepEquals(await positionsIn(rows), inBerlin));
          await everyTimeNamesItsZone(page);
          // The same day of another zone is another stretch of time: midnight of Berlin is in its afternoon.
          await chooseInMenu(page, "Times in", "America/New_York");
          await visit.until("24 hours", async () => (await rows.count()) === 24);
          expect((await positionsIn(rows)).flatMap((count, hour) => (count > 0 ? [hour] : []))).toEqual([
            ...hoursInNewYork,
          ]);
          await everyTimeNamesItsZone(page);
        }
        await typeSlowly(page);
      },
      { timezoneId: "America/New_York", webgl: false },
    );
  },
  { isPageAlone: true, prepare: ({ client }) => store(client, DAYS.flatMap(reportsAround)) },
);

/** A day is typed digit by digit, while the page is drawn again and again. Chromium's field begins with the month. */
async function typeSlowly(page: Page): Promise<void> {
  const field = page.getByRole("textbox", { name: "Day" });
  await field.focus();
  await page.keyboard.press("Backspace");
  await redraw(page);
  expect(await field.inputValue()).toBe("");
  for (const digit of "04") {
    await page.keyboard.type(digit);
    await redraw(page);
  }
  await page.getByRole("heading", { name: /25 Apr 2026/ }).waitFor();
  expect(await field.inputValue()).toBe("2026-04-25");
  await page.keyboard.press("Backspace");
  await page.getByLabel("Number of days").focus();
  expect(await field.inputValue()).toBe("2026-04-25"); // What was left unfinished is what is looked at.
}

/** Has the page drawn again, as it is every second. */
async function redraw(page: Page): Promise<void> {
  await askPart(
    page,
    WHOLE_PAGE,
    (whole) =>
      new Promise<null>((resolve) => {
        whole.changed();
        requestAnimationFrame(() => resolve(null));
      }),
    null,
  );
}

async function positionsIn(rows: Locator): Promise<number[]> {
  const texts = await rows.locator("td:nth-of-type(1)").allTextContents();
  return texts.map((text) => (text === "–" ? 0 : Number(text)));
}

async function everyTimeNamesItsZone(page: Page): Promise<void> {
  const text = await page.evaluate<string>("document.body.innerText");
  const times = [...text.matchAll(/\b\d{1,2}:\d\d(?::\d\d)?(?:\s[ap]m)?(?=(.{0,24}))/gi)];
  expect(times.length).toBeGreaterThan(20);
  expect(
    times
      .filter(([, after]) => !/^(?: – \d{1,2}:\d\d(?:\s[ap]m)?)?\s(?:GMT|UTC|CES?T|E[SD]T)/.test(after!))
      .map(([all]) => all),
  ).toEqual([]);
}

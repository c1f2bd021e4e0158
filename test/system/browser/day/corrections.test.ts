import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { store } from "../../support/client.ts";
import { violationsOf } from "../support/axe.ts";
import { tabTo } from "../support/keys.ts";
import { drawnOver, pixelOf, rest } from "../support/map.ts";
import { describePage } from "../support/stage.ts";
import type { Visit } from "../support/visit.ts";

/*
 * Goal: a person sees jumps, hides them, sees the day correct itself, and takes it back. Method: a van that drives
 * north along a meridian with three positions far to the east; by suggestion, by a drag across the plot, by a click on
 * the line, and by keys alone.
 */

const START_MS = Date.UTC(2026, 10, 10, 12);
const STEP_MS = 10_000;
const COUNT = 240;
const JUMPS = [100, 160, 200];
const INACCURATE = 30;
const NORTH_DEGREES = 0.0008;

/** Not from 0, 0, which is suspicious, too. */
const latitudeAt = (index: number) => 1 + NORTH_DEGREES * index;

/** The day before, whose place is the same, so that a week has more than one day. */
const earlier = [0, 1, 2].map((index) => ({
  device_id: "van",
  timestamp: START_MS - 86_400_000 + STEP_MS * index,
  latitude: 1,
  longitude: 0,
  speed: 0,
}));

const reports = Array.from({ length: COUNT }, (_, index) => ({
  device_id: "van",
  timestamp: START_MS + STEP_MS * index,
  latitude: latitudeAt(index),
  longitude: JUMPS.includes(index) ? 0.2 : 0,
  speed: 9,
  ...(index === INACCURATE ? { horizontal_accuracy: 250 } : {}),
}));

describePage(
  "corrections",
  (stage) => {
    stage.test(
      "jumps are suggested, hidden once confirmed, and shown again by Ctrl+Z",
      async (visit, page) => {
        await visit.enter(stage.key, "/map?device=van&day=2026-11-10&zone=UTC");
        await page.getByText("3 suspicious positions").waitFor();
        await visit.until(
          "a ring around each",
          async () => (await marksOf(page, "suspect")) === JUMPS.length,
        );
        const whole = await summaryOf(page);
        expect(whole).toContain("240 reports");
        await page.getByRole("button", { name: "Hide all 3…" }).click();
        const dialog = page.getByRole("dialog", { name: "Hide 3 positions?" });
        await dialog.waitFor();
        expect(await violationsOf(page)).toEqual([]);
        await page.keyboard.press("Escape");
        await dialog.waitFor({ state: "detached" });
        expect(await summaryOf(page)).toBe(whole);
        await page.getByRole("button", { name: "Hide all 3…" }).click();
        await page.getByLabel("Note (optional)").fill("tunnel");
        await page.getByRole("button", { name: "Hide 3 positions" }).click();
        await page.getByText("3 positions are hidden.").waitFor();
        await page.getByText("237 reports").waitFor();
        await page.getByText("No suspicious positions").waitFor();
        expect(await page.getByRole("button", { name: /^Undo: 3 positions hidden, / }).count()).toBe(1);
        expect(await page.locator(".correction-note").textContent()).toBe("tunnel");
        expect(await violationsOf(page)).toEqual([]);
        await page.keyboard.press("Control+z");
        await page.getByText("3 positions are shown again.").waitFor();
        await page.getByText("3 suspicious positions").waitFor();
        await visit.until("the day as it was", async () => (await summaryOf(page)) === whole);
        expect(await page.getByRole("button", { name: /^Undo: / }).count()).toBe(0);
      },
    );

    stage.test(
      "a drag across the plot and a click on the line select; the list undoes",
      async (visit, page) => {
        await visit.enter(stage.key, "/map?device=van&day=2026-11-10&zone=UTC");
        await page.getByText("3 suspicious positions").waitFor();
        await draggedAcross(page, 0.25, 0.5, () => lowerPlot(visit));
        const [count] = /^\d+/.exec((await page.locator(".selection-bar").textContent())!)!;
        expect(Number(count)).toBeWithin(50, 70);
        await visit.until(
          "dots at the selection",
          async () => (await marksOf(page, "selected")) === Number(count),
        );
        await page.keyboard.press("Escape");
        await visit.until("no selection", async () => (await marksOf(page, "selected")) === 0);
        await clickOnLine(visit, 20);
        await page.getByText(/^1 position, 12:03:\d\d UTC$/).waitFor();
        await page.getByRole("button", { name: "Hide…" }).click();
        await page.getByRole("button", { name: "Hide 1 position", exact: true }).click();
        await page.getByText("239 reports").waitFor();
        await page.getByRole("button", { name: /^Undo: 1 position hidden, / }).click();
        await page.getByText("240 reports").waitFor();
      },
    );

    stage.test(
      "several days are selected in their plot, and hidden once they are counted",
      async (visit, page) => {
        await visit.enter(stage.key, "/map?device=van&day=2026-11-10&zone=UTC&span=week");
        await page.getByText("3 suspicious positions").waitFor(); // Until then nothing can be selected.
        await draggedAcross(page, 0.3, 0.99);
        await page.getByText(/^All positions, Mon, 9 Nov 2026, .* – Tue, 10 Nov 2026, /).waitFor();
        await page.getByRole("button", { name: "Hide…" }).click();
        const hide = page.getByRole("button", { name: /^Hide 1\d\d positions$/ });
        await hide.waitFor();
        expect(await violationsOf(page)).toEqual([]);
        await hide.click();
        await page.getByText(/^1\d\d positions are hidden\.$/).waitFor();
        await page.keyboard.press("Control+z");
        await page.getByText(/^1\d\d positions are shown again\.$/).waitFor();
      },
    );

    stage.test("a limit of accuracy suggests more, and is remembered", async (visit, page) => {
      const path = "/map?device=van&day=2026-11-10&zone=UTC";
      await visit.enter(stage.key, path);
      await page.getByText("3 suspicious positions").waitFor();
      await page.getByLabel("Accuracy limit").selectOption("328 ft");
      await page.getByText("4 suspicious positions").waitFor();
      await page.getByRole("button", { name: /Inaccurate/ }).waitFor();
      await visit.goto(path);
      await page.getByText("4 suspicious positions").waitFor();
    });

    stage.test("keys alone select a range, hide it and undo it", async (visit, page) => {
      await visit.enter(stage.key, "/map?device=van&day=2026-11-10&zone=UTC");
      const press = async (name: string | RegExp) => {
        await tabTo(page, page.getByRole("button", { name, exact: true }));
        await page.keyboard.press("Enter");
      };
      const time = page.getByLabel("Time", { exact: true });
      await time.focus();
      await page.keyboard.press("Home");
      await press("Select");
      await page.getByText(/^1 position, 12:00:00 UTC$/).waitFor();
      await time.focus();
      await page.keyboard.press("PageUp");
      await press(/^Extend to 12:10:00 UTC$/);
      await page.getByText("61 positions, 12:00 – 12:10 UTC").waitFor();
      await press("Hide…");
      await page.getByRole("dialog", { name: "Hide 61 positions?" }).waitFor();
      await page.keyboard.press("Enter"); // The button that hides has the focus.
      await page.getByText("179 reports").waitFor();
      await press("Undo");
      await page.getByText("240 reports").waitFor();
    });
  },
  { keepsAll: true, isPageAlone: true, prepare: ({ client }) => store(client, [...earlier, ...reports]) },
);

/** `12.3 mi, 1 stop, 30 min moving, 240 reports`. */
async function summaryOf(page: Page): Promise<string> {
  return (await page.locator(".day > p").first().textContent())!;
}

/** How many of a kind are drawn over the map. */
async function marksOf(page: Page, kind: "suspect" | "selected"): Promise<number> {
  const features = (await drawnOver(page))["day-marks"] ?? [];
  return features.filter(({ properties }) => properties?.kind === kind).length;
}

/** Drags from a share of the plot's width to another. */
async function draggedAcross(
  page: Page,
  from: number,
  to: number,
  meanwhile: () => Promise<void> = async () => undefined,
): Promise<void> {
  await page.locator(".plot-text").waitFor(); // It is not there while a plot is loaded.
  const plot = (await page.locator("time-plot .u-over").boundingBox())!;
  const y = plot.y + plot.height / 2;
  await page.mouse.move(plot.x + plot.width * from, y);
  await page.mouse.down();
  await page.mouse.move(plot.x + plot.width * to, y, { steps: 5 });
  await meanwhile();
  await page.mouse.up();
  await page.getByRole("button", { name: "Hide…" }).waitFor();
}

/** A caption of two lines leaves less room. */
async function lowerPlot(visit: Visit): Promise<void> {
  const { page } = visit;
  const heightOf = async () => (await page.locator("time-plot canvas").boundingBox())?.height ?? 0;
  const before = await heightOf();
  await page.locator(".plot-area").evaluate((area: HTMLElement) => {
    area.style.height = "140px";
  });
  await visit.until("a lower plot", async () => (await heightOf()) < before);
}

/** Clicks at a position of the van. */
async function clickOnLine({ page }: Visit, index: number): Promise<void> {
  await page.getByRole("button", { name: "Fit track" }).click();
  await rest(page);
  const at = await pixelOf(page, latitudeAt(index), 0);
  await page.mouse.click(at.x, at.y);
}

import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { get, store } from "../../support/client.ts";
import { violationsOf } from "../support/axe.ts";
import { describePage, type Stage } from "../support/stage.ts";

/*
 * Goal: a person corrects an hour of a phone whose clock was wrong, gives another hour to the phone that it belongs to,
 * and undoes both. Method: a van with two drives. The second one is shifted in time, which is refused where the first
 * one is, and given to a tram.
 */

const START_MS = Date.UTC(2026, 10, 10, 12);
const HOUR_MS = 3_600_000;
const STEP_MS = 10_000;
const COUNT = 60;

const drive = (deviceId: string, startMs: number) =>
  Array.from({ length: COUNT }, (_, index) => ({
    device_id: deviceId,
    timestamp: startMs + STEP_MS * index,
    latitude: 1 + 0.0008 * index,
    longitude: 0,
    speed: 9,
  }));

const reports = [
  ...drive("van", START_MS),
  ...drive("van", START_MS + HOUR_MS),
  ...drive("tram", START_MS + 3 * HOUR_MS),
];

const PATH = "/map?device=van&day=2026-11-10&zone=UTC";

describePage(
  "more changes",
  (stage) => {
    stage.test(
      "shift a drive in time, unless another is there, until they are undone",
      async (visit, page) => {
        visit.expect(/409/);
        await visit.enter(stage.key, PATH);
        const dialog = await askForMore(page);
        await dialog.getByText(/^They are then at 14:00 – 14:09 UTC\.$/).waitFor();
        await dialog.getByLabel("Direction").selectOption("earlier");
        await dialog.getByText(/^They are then at 12:00 – 12:09 UTC\.$/).waitFor();
        expect(await violationsOf(page)).toEqual([]);
        await dialog.getByRole("button", { name: "Shift 60 positions" }).click();
        await dialog.getByRole("alert").waitFor(); // The first drive is there.
        await dialog.getByLabel("Shift by").fill("0:30");
        await dialog.getByLabel("Note (optional)").fill("wrong clock");
        await dialog.getByRole("button", { name: "Shift 60 positions" }).click();
        await page.getByText("60 positions are shifted in time.").waitFor();
        expect(await firstMs(stage, "van", START_MS + COUNT * STEP_MS)).toBe(START_MS + HOUR_MS / 2);
        await page.getByRole("button", { name: /^Undo: 60 positions 30 min earlier, / }).click();
        await page.getByText("60 positions are as reported again.").waitFor();
        expect(await firstMs(stage, "van", START_MS + COUNT * STEP_MS)).toBe(START_MS + HOUR_MS);
      },
    );

    stage.test("give a drive to another device, which the user searches", async (visit, page) => {
      await visit.enter(stage.key, PATH);
      const dialog = await askForMore(page);
      await dialog.getByLabel("What was wrong").selectOption("The device");
      const give = dialog.getByRole("button", { name: "Give 60 positions" });
      expect(await give.isDisabled()).toBe(true);
      await dialog.getByLabel("Give them to").fill("tr");
      await page.keyboard.press("Enter"); // The first suggestion.
      await visit.until("a chosen device", () => give.isEnabled());
      expect(await violationsOf(page)).toEqual([]);
      await give.click();
      await page.getByText("60 positions are given to tram.").waitFor();
      await page.getByText("60 reports").waitFor();
      expect(await firstMs(stage, "tram", START_MS)).toBe(START_MS + HOUR_MS);
      await page.keyboard.press("Control+z");
      await page.getByText("60 positions are as reported again.").waitFor();
      await page.getByText("120 reports").waitFor();
      expect(await firstMs(stage, "tram", START_MS)).toBe(START_MS + 3 * HOUR_MS);
    });
  },
  { keepsAll: true, isPageAlone: true, prepare: ({ client }) => store(client, reports) },
);

/** Selects the second drive, and asks for more changes. */
async function askForMore(page: Page) {
  await page.getByText("No suspicious positions").waitFor(); // Until then nothing can be selected.
  await page.locator(".plot-text").waitFor();
  const plot = (await page.locator("time-plot .u-over").boundingBox())!;
  const y = plot.y + plot.height / 2;
  await page.mouse.move(plot.x + plot.width * 0.5, y);
  await page.mouse.down();
  await page.mouse.move(plot.x + plot.width - 1, y, { steps: 5 });
  await page.mouse.up();
  await page.getByText(/^60 positions, 13:00 – 13:09 UTC$/).waitFor();
  await page.getByRole("button", { name: "More…" }).click();
  return page.getByRole("dialog", { name: "Correct 60 positions?" });
}

/** When the device reported first after an instant. */
async function firstMs({ client }: Pick<Stage, "client">, deviceId: string, startMs: number) {
  const path = `/api/v1/devices/${deviceId}/track?start=${startMs}&end=${START_MS + 12 * HOUR_MS}&tolerance_meters=0`;
  const track = (await (await get(client, path)).json()) as { timestamp: number[] };
  return track.timestamp[0];
}

import { expect } from "bun:test";
import { store } from "../support/client.ts";
import { violationsOf } from "./support/axe.ts";
import { shownPositions } from "./support/devices.ts";
import { pressInHeader } from "./support/header.ts";
import { drawnOver, type Pixel, pictureAt, pixelOf, rest } from "./support/map.ts";
import { describePage } from "./support/stage.ts";

/* The time lapse: it plays what was, moves by hand, and leaves the live map as it was. */

const MINUTE_MS = 60_000;
const BEGIN = { latitude: 51.5, longitude: -0.1 };
const END = { latitude: 51.51, longitude: -0.12 };
/** The window's middle, which is that of the map. */
const MIDDLE: Pixel = { x: 640, y: 400 };

/** The van drives for an hour until a minute ago. */
function reports(nowMs: number) {
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
  { prepare: ({ client }) => store(client, reports(Date.now())) },
);

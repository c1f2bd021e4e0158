import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { store } from "../support/client.ts";
import { cameraOf, lookAt, pixelOf, rest, shownIn } from "./support/map.ts";
import { describePage } from "./support/stage.ts";

/* Names of devices on the map: at which zoom, where, and as text; and the card of the dot under the mouse. */

const HOSTILE = "<img src=x onerror=alert(1)>";
const VAN = { latitude: 51.5, longitude: -0.1 };

const at = (device_id: string, latitude: number, longitude: number) => ({
  device_id,
  timestamp: Date.now(),
  latitude,
  longitude,
});

describePage(
  "names of devices",
  (stage) => {
    stage.test("show near by, without collisions, follow their dots, and are text", async (visit, page) => {
      await visit.enter(stage.key, "/map?at=51.5,-0.1,10.5");
      await visit.until("the map", () => cameraOf(page));
      await page.getByText("32 devices").waitFor();
      await rest(page);
      expect(await namesOn(page)).toEqual([]);

      await lookAt(page, { ...VAN, zoom: 12 });
      await visit.until("the names", async () => (await namesOn(page)).includes("van"));
      await rest(page);
      const names = await namesOn(page);
      expect(names).toContain("<img src=x onerror=aler…");
      const crowd = names.filter((name) => name.startsWith("crowd"));
      expect(crowd.length).toBeGreaterThanOrEqual(1);
      expect(crowd.length).toBeLessThanOrEqual(4);
      expect(await page.locator("img[src=x]").count()).toBe(0);

      await store(stage.client, [at("van", 51.505, -0.11)]);
      await visit.until("the name beside the dot", async () => {
        const van = (await shownIn(page, "device-names")).find(
          ({ properties }) => properties?.name === "van",
        );
        const [longitude, latitude] = (van?.geometry.coordinates ?? [0, 0]) as [number, number];
        return Math.abs(longitude + 0.11) < 1e-4 && Math.abs(latitude - 51.505) < 1e-4;
      });

      await visit.goto(`/map?device=${encodeURIComponent(HOSTILE)}&at=51.5,-0.1,9`);
      await page.getByText(/, 1 reports?$/).waitFor(); // Its day may move the map.
      await lookAt(page, { ...VAN, zoom: 9 });
      await visit.until("the chosen name alone", async () => {
        const shown = await namesOn(page);
        return shown.length === 1 && shown[0]!.startsWith("<img");
      });
    });

    stage.test(
      "a card beside the dot under the mouse has speed, age and battery",
      async (visit, page) => {
        await store(stage.client, [{ ...at("bus", 51.5, -0.09), speed: 10, battery_level: 81 }]);
        await visit.enter(stage.key, "/map?at=51.5,-0.1,14");
        await visit.until("the map", () => cameraOf(page));
        await page.getByText("33 devices").waitFor();
        const canvas = page.locator(".map-canvas .maplibregl-canvas-container");
        const cursor = () => canvas.evaluate((element) => getComputedStyle(element).cursor);
        const { x, y } = await pixelOf(page, 51.5, -0.09);
        await page.mouse.move(x + 40, y + 40);
        expect(await cursor()).toBe("grab");
        await page.mouse.move(x + 3, y - 3);
        const card = page.locator(".hover-card");
        await card.getByText("bus").waitFor();
        await card.getByText("22 mph").waitFor();
        await card.getByText("Battery 81 %").waitFor();
        expect(await card.textContent()).toMatch(/now|\d+ s ago/);
        expect(await cursor()).toBe("pointer");
        await page.mouse.move(x + 40, y + 40);
        await card.waitFor({ state: "hidden" });
        await page.touchscreen.tap(x, y);
        await page.getByRole("heading", { name: "bus" }).waitFor();
        expect(await card.isVisible()).toBe(false);
      },
      { hasTouch: true },
    );
  },
  {
    isPageAlone: true,
    prepare: ({ client }) =>
      store(client, [
        at("van", VAN.latitude, VAN.longitude),
        at(HOSTILE, 51.49, -0.08),
        ...Array.from({ length: 30 }, (_, index) => at(`crowd ${index}`, 51.51, -0.12)),
      ]),
  },
);

async function namesOn(page: Page): Promise<readonly string[]> {
  return (await shownIn(page, "device-names")).map(({ properties }) => String(properties?.name));
}

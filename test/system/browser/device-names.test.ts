import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { store } from "../support/client.ts";
import { cameraOf, lookAt, rest, shownIn } from "./support/map.ts";
import { describePage } from "./support/stage.ts";

/* The names of devices on the map: at which zoom, of which devices, where, and as text. */

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

      await page.getByRole("option", { name: HOSTILE }).click();
      await lookAt(page, { ...VAN, zoom: 9 });
      await visit.until("the chosen name alone", async () => {
        const shown = await namesOn(page);
        return shown.length === 1 && shown[0]!.startsWith("<img");
      });
    });
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

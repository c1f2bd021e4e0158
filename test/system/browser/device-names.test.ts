import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { store } from "../support/client.ts";
import { violationsOf } from "./support/axe.ts";
import { turnTo } from "./support/color-scheme.ts";
import { cameraOf, lookAt, pixelOf, rest, shownIn } from "./support/map.ts";
import { describePage } from "./support/stage.ts";
import { Visit } from "./support/visit.ts";

/*
 * Names of devices on the map: at which zoom, where, and as text; the card of the dot under the mouse; and the names,
 * colors and icons that people give to devices.
 */

const HOSTILE = "<img src=x onerror=alert(1)>";
const VAN = { latitude: 51.5, longitude: -0.1 };
const TRAM = { latitude: 51.51, longitude: -0.09 };

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

    stage.test(
      "a device is given a name, a color and an icon, which another page shows at once, until they are removed",
      async (visit, page) => {
        visit.expect(/404.*profile/); // The device has none yet.
        const place = "at=51.5,-0.1,13";
        await store(stage.client, [at("tram", TRAM.latitude, TRAM.longitude)]);
        const other = await Visit.open(visit.url);
        try {
          await other.enter(stage.key, `/map?${place}`);
          await other.page.getByText("Live", { exact: true }).waitFor();
          await visit.enter(stage.key, `/map?device=tram&${place}`);
          await editTram(page);

          const device = page.getByRole("region", { name: "Device", exact: true });
          await device.getByRole("heading", { name: "Anna's tram" }).waitFor();
          await device.getByText("tram", { exact: true }).waitFor();
          await page.getByRole("option", { name: "Anna's tram" }).waitFor();

          await other.until("the name on the other map", async () => {
            const labels = await shownIn(other.page, "device-names");
            const label = labels.find(({ properties }) => properties?.name === "Anna's tram");
            return label?.properties?.badge === "badge train #1a73e8 #ffffff";
          });
          await findByName(other.page);
          await pointAt(other, TRAM);
          const card = other.page.locator(".hover-card");
          await card.getByText("Anna's tram").waitFor();
          await card.getByText("tram", { exact: true }).waitFor();
          expect(await card.locator(".badge").evaluate(groundOf)).toBe("rgb(26, 115, 232)");

          await page.getByRole("button", { name: "Edit device" }).click();
          const dialog = page.getByRole("dialog", { name: "Edit device" });
          expect(await dialog.getByRole("radio", { name: "Blue" }).isChecked()).toBe(true);
          await dialog.getByRole("listitem").getByText("family").waitFor();
          await dialog.getByRole("button", { name: "Remove all of this" }).click();
          for (const shown of [page, other.page]) {
            await shown.getByRole("option", { name: /^tram / }).waitFor();
            await shown.getByText("Anna's tram").waitFor({ state: "detached" });
          }
          await visit.until("the id on the map again", async () => (await namesOn(page)).includes("tram"));
          expect(other.faults).toEqual([]);
        } catch (error) {
          console.error(`What the other page showed: ${await other.keepPicture("another page with names")}`);
          await other.close();
          throw error;
        }
        await other.end();
      },
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

/** Fills in the dialog by mouse and keys, and looks at it by day and by night, wide and narrow. */
async function editTram(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Edit device" }).click();
  const dialog = page.getByRole("dialog", { name: "Edit device" });
  await dialog.getByLabel("Name", { exact: true }).fill("Anna's tram");
  await dialog.getByRole("radio", { name: "Teal" }).check();
  await page.keyboard.press("ArrowRight");
  await dialog.getByRole("radio", { name: "Train" }).check();
  await dialog.getByLabel("Add a tag").fill("family");
  await page.keyboard.press("Enter");
  await dialog.getByRole("listitem").getByText("family").waitFor();
  const wide = page.viewportSize()!;
  for (const colorScheme of ["light", "dark"] as const) {
    await turnTo(page, colorScheme);
    await page.setViewportSize(colorScheme === "light" ? wide : { width: 390, height: 844 });
    expect([colorScheme, await violationsOf(page)]).toEqual([colorScheme, []]);
    await dialog.getByRole("button", { name: "Save" }).click({ trial: true });
  }
  await page.setViewportSize(wide);
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
}

/** The search finds the device by the name, and the row says which id it has. */
async function findByName(page: Page): Promise<void> {
  await page.keyboard.press("/");
  await page.keyboard.type("anna");
  await page.getByText(/\b1 of \d+/).waitFor();
  const row = page.getByRole("option", { name: "Anna's tram" });
  await row.getByText("· tram").waitFor();
  expect(await row.locator(".badge").evaluate(groundOf)).toBe("rgb(26, 115, 232)");
  await page.keyboard.press("Escape");
}

async function pointAt({ page }: Visit, { latitude, longitude }: typeof TRAM): Promise<void> {
  await rest(page);
  const { x, y } = await pixelOf(page, latitude, longitude);
  await page.mouse.move(x + 40, y + 40);
  await page.mouse.move(x + 3, y - 3);
}

function groundOf(element: Element): string {
  return getComputedStyle(element).backgroundColor;
}

async function namesOn(page: Page): Promise<readonly string[]> {
  return (await shownIn(page, "device-names")).map(({ properties }) => String(properties?.name));
}

import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { store } from "../support/client.ts";
import { violationsOf } from "./support/axe.ts";
import { turnTo } from "./support/color-scheme.ts";
import { pressInHeader } from "./support/header.ts";
import { describePage } from "./support/stage.ts";

/* Nobody is kept out: axe has nothing against any state of the page, by day and by night, on a desk and on a phone. */

const DAY_MS = 86_400_000;

/** Each differs from the one before in one thing: to show the page in another size, or other colors, takes its time. */
const LOOKS = [
  { colorScheme: "light", viewport: { width: 1280, height: 800 } },
  { colorScheme: "light", viewport: { width: 390, height: 844 } },
  { colorScheme: "dark", viewport: { width: 390, height: 844 } },
  { colorScheme: "dark", viewport: { width: 1280, height: 800 } },
] as const;

const DIALOGS = [
  ["Share", "Share"],
  ["Connect", "Connect a phone"],
  ["Help", "Help"],
  ["Settings", "Settings"],
] as const;

type Look = (typeof LOOKS)[number];

async function take(page: Page, { colorScheme, viewport }: Look): Promise<void> {
  await page.setViewportSize(viewport);
  await turnTo(page, colorScheme);
}

async function breaksNoRule(page: Page, state: string): Promise<void> {
  const look = await page.evaluate(() => `${document.documentElement.dataset.theme}, ${innerWidth} pixels`);
  expect(await violationsOf(page), `${state}, ${look}`).toEqual([]);
}

describePage(
  "access",
  (stage) => {
    stage.test("signing in and connecting a phone break no rule of axe", async (visit, page) => {
      await visit.goto("/map");
      const key = page.getByLabel("Key", { exact: true });
      for (const look of LOOKS) {
        await take(page, look);
        await key.waitFor();
        await breaksNoRule(page, "sign-in");
        await key.fill(stage.key);
        await page.keyboard.press("Enter");
        const name = page.getByLabel("Device name");
        await name.waitFor();
        await breaksNoRule(page, "empty");
        await name.fill("ada-phone");
        await page.keyboard.press("Enter");
        await page.getByRole("img", { name: "The settings of OwnTracks as a QR code" }).waitFor();
        await breaksNoRule(page, "a phone's settings");
        await page.getByRole("button", { name: "Connect another" }).click(); // Or it would go on to ask for reports.
        await pressInHeader(page, "Sign out");
      }
    });

    stage.test("devices, tools and dialogs break no rule of axe", async (visit, page) => {
      await store(stage.client, reports());
      await visit.enter(stage.key);
      await page.getByText("Live", { exact: true }).waitFor();
      await page.locator(".map-canvas canvas").waitFor();
      for (const look of LOOKS) {
        await take(page, look);
        await breaksNoRule(page, "live");
        for (const key of ["/", "Control+A", "v", "a", "n", "ArrowDown", "Enter"])
          await page.keyboard.press(key);
        await page.getByText(/\d+ reports/).waitFor({ state: "attached" });
        const panels = page.getByRole("navigation", { name: "Panels" });
        if (await panels.isVisible()) {
          await breaksNoRule(page, "device");
          await panels.getByRole("button", { name: "Day" }).click();
        }
        await page.locator("time-plot canvas").waitFor();
        await breaksNoRule(page, "device and day");
        await page.keyboard.press("n");
        await page.locator(".nearby-list .name").first().waitFor();
        await breaksNoRule(page, "nearby");
        await pressInHeader(page, "Heatmap");
        await page.getByRole("heading", { name: "Heatmap" }).waitFor();
        await breaksNoRule(page, "where all were");
        await page.getByRole("button", { name: "Menu" }).click();
        await page.locator(".menu:popover-open").waitFor();
        await breaksNoRule(page, "menu");
        await page.keyboard.press("Escape");
        for (const [name, title] of DIALOGS) {
          await pressInHeader(page, name);
          await page.getByRole("dialog", { name: title }).waitFor();
          await breaksNoRule(page, title);
          await page.keyboard.press("Escape");
          await page.getByRole("dialog").waitFor({ state: "detached" });
        }
        for (const closed of [".device-head", ".nearby", ".density"]) {
          await page.keyboard.press("Escape");
          await page.locator(closed).waitFor({ state: "detached" });
        }
      }
    });
  },
  { isPageAlone: true },
);

/** Devices of every age, and one with a day: it went there and back, so that it is in the middle of what is shown. */
function reports() {
  const nowMs = Date.now();
  const ages = [0, 10 * 60_000, 5 * 3_600_000, 3 * DAY_MS];
  const others = ages.map((ageMs, index) => ({
    device_id: `other-${index}`,
    timestamp: nowMs - ageMs,
    latitude: 51.5 + index / 100,
    longitude: -0.1,
  }));
  const drive = Array.from({ length: 60 }, (_, index) => ({
    device_id: "van-1",
    timestamp: nowMs - index * 10_000,
    latitude: 51.5,
    longitude: -0.1 + 0.03 * Math.sin((index / 59) * 2 * Math.PI),
    speed: 10,
    battery_level: 81,
    altitude: 12,
  }));
  return [...others, ...drive];
}

import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { runCommand } from "../../support/server-process.ts";
import { store, untilKnown } from "../support/client.ts";
import { violationsOf } from "./support/axe.ts";
import { pressInHeader } from "./support/header.ts";
import { tabTo } from "./support/keys.ts";
import { describePage, type Stage } from "./support/stage.ts";

/* The settings: chosen in the menu or its dialog, followed at once by every part, and remembered. */

const DAY = "2026-03-04";

/** A drive at night, by the clock of UTC. */
function drive() {
  return Array.from({ length: 20 }, (_, index) => ({
    device_id: "van-1",
    timestamp: Date.parse(`${DAY}T03:00:00Z`) + index * 60_000,
    latitude: 51.5 + index * 0.01,
    longitude: -0.1,
    speed: 20,
  }));
}

describePage(
  "settings",
  (stage) => {
    stage.test(
      "are chosen by keys alone, change every part at once, and are there after a reload",
      async (visit, page) => {
        await visit.enter(stage.key, `/map?device=van-1&day=${DAY}`);
        const device = page.getByRole("region", { name: "Device" });
        await device.getByText("13.1 mi").first().waitFor();
        await openByKeys(page);
        const dialog = page.getByRole("dialog", { name: "Settings" });
        await choose(page, "Units", "Kilometers");
        await device.getByText("21.1 km").first().waitFor();
        await choose(page, "Times in", "Asia/Tokyo");
        await choose(page, "Clock", "12 hours");
        await choose(page, "Weeks begin on", "Saturday");
        await choose(page, "Colors", "Dark");
        expect(await violationsOf(page)).toEqual([]);
        await page.keyboard.press("Escape");
        await dialog.waitFor({ state: "detached" });
        await hasSettings(page);

        await page.goto(`${visit.url}/map?device=van-1&day=${DAY}`); // Without a zone.
        await hasSettings(page);

        // The zone of an address goes before the remembered one, and is not remembered.
        await page.goto(`${visit.url}/map?device=van-1&day=${DAY}&zone=UTC`);
        await page
          .getByText(/3:00\sAM – 3:19\sAM UTC/i)
          .first()
          .waitFor();
        await page.goto(`${visit.url}/map?device=van-1&day=${DAY}`);
        await hasSettings(page);
        await pressInHeader(page, "Light colors");
        await page.locator("html[data-theme=light]").waitFor();
      },
      { webgl: false },
    );

    stage.test(
      "name what the key lacks, and a command that works as it stands there",
      async (visit, page) => {
        const readKey = await createKey(stage, "keys create --app default --permission read");
        await visit.enter(readKey, "/map?device=van-1");
        await page.getByRole("button", { name: "Follow" }).waitFor();
        expect(await page.getByRole("button", { name: "Edit device" }).count()).toBe(0);
        await pressInHeader(page, "Settings");
        const dialog = page.getByRole("dialog", { name: "Settings" });
        await dialog.getByText("It may not connect phones").waitFor();
        const lacks =
          "It may not give devices names, colors and icons, and correct positions: that needs edit.";
        await dialog.getByText(lacks).waitFor();
        await page.setViewportSize({ width: 390, height: 844 });
        expect(await violationsOf(page)).toEqual([]);
        const command = await dialog.getByRole("textbox").inputValue();
        const [start, words] = command.split(" -- ");
        expect(start).toBe("npm run --silent cli");
        const key = await createKey(stage, words!);
        await page.keyboard.press("Escape");
        await pressInHeader(page, "Sign out");
        await page.getByLabel("Key", { exact: true }).fill(key);
        await page.keyboard.press("Enter");
        await page.getByText("Live", { exact: true }).waitFor();
        await pressInHeader(page, "Settings");
        await dialog.getByText("It may connect phones").waitFor();
        expect(await dialog.getByRole("textbox").count()).toBe(0);
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "Edit device" }).waitFor();
      },
      { webgl: false },
    );
  },
  { isPageAlone: true, prepare: ({ client }) => store(client, drive()) },
);

/** The menu opens by Enter, the arrow keys go around in it, and Enter presses an entry. */
async function openByKeys(page: Page): Promise<void> {
  await tabTo(page, page.getByRole("button", { name: "Menu" }));
  await page.keyboard.press("Enter");
  await page.locator(".menu:popover-open").waitFor();
  await tabTo(page, page.getByRole("button", { name: "Sign out" }));
  for (const key of ["ArrowUp", "ArrowUp", "ArrowUp", "ArrowDown"]) await page.keyboard.press(key);
  await page.getByRole("button", { name: "Settings" }).and(page.locator(":focus")).waitFor();
  await page.keyboard.press("Enter");
}

async function choose(page: Page, label: string, value: string): Promise<void> {
  await page.getByRole("dialog", { name: "Settings" }).getByLabel(label).selectOption(value);
}

/** Kilometers, the clock of Tokyo with 12 hours, weeks from Saturday on, and the dark theme. */
async function hasSettings(page: Page): Promise<void> {
  const device = page.getByRole("region", { name: "Device" });
  await device.getByText("21.1 km").first().waitFor();
  await device
    .getByText(/12:00\sPM – 12:19\sPM GMT\+9/i)
    .first()
    .waitFor();
  expect(new URL(page.url()).searchParams.get("zone")).toBe("Asia/Tokyo");
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
  await page.keyboard.press("c");
  const calendar = page.getByRole("dialog", { name: "Choose a day" });
  expect(await calendar.locator("th").first().getAttribute("abbr")).toBe("Saturday");
  await page.keyboard.press("Escape");
  await calendar.waitFor({ state: "detached" });
}

/** Runs a command that creates a key, and waits until the server knows it. */
async function createKey({ runtime, place, server }: Stage, command: string): Promise<string> {
  const { out } = await runCommand(runtime, place, command.split(" "));
  const key = out.trim();
  await untilKnown({ url: server.url, key });
  return key;
}

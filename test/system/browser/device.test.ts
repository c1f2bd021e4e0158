import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { store } from "../support/client.ts";
import { violationsOf } from "./support/axe.ts";
import { describePage } from "./support/stage.ts";

/* The panel of a device: four facts as tiles, its place, and its coordinates behind a button. */

/** A van that drives north through London until now, and one that stands in Limerick. */
function reports() {
  const nowMs = Date.now();
  const drive = Array.from({ length: 10 }, (_, index) => ({
    device_id: "van-1",
    timestamp: nowMs - (9 - index) * 10_000,
    latitude: 51.5 + index * 0.001,
    longitude: -0.12574,
    speed: 20,
    bearing: 0,
    battery_level: 81,
    altitude: 12,
  }));
  return [
    ...drive,
    { device_id: "van-2", timestamp: nowMs - 3 * 86_400_000, latitude: 52.66472, longitude: -8.62306 },
  ];
}

/** A zone where it is about noon, so that all of the drive is today. */
function noonZone(): string {
  const hours = new Date().getUTCHours() - 12;
  return `Etc/GMT${hours < 0 ? hours : `+${hours}`}`; // POSIX: its signs are the other way round.
}

function facts(page: Page): Promise<readonly string[]> {
  return page
    .locator(".fact-tiles > div")
    .evaluateAll((tiles) =>
      tiles.map((tile) => [...tile.children].map(({ textContent }) => textContent.trim()).join(": ")),
    );
}

describePage(
  "a device's panel",
  (stage) => {
    stage.test(
      "has four facts, its place, a line with the date, and coordinates to copy",
      async (visit, page) => {
        await visit.context.grantPermissions(["clipboard-read", "clipboard-write"]);
        await visit.enter(stage.key, `/map?device=van-1&zone=${encodeURIComponent(noonZone())}`);
        const device = page.getByRole("region", { name: "Device" });
        await page.getByText("Distance today").waitFor();
        expect(
          (await facts(page)).map((fact) => fact.replace(/: (now|\d+ s ago|1 min ago)$/, ": seconds ago")),
        ).toEqual([
          "Speed: 45 mph N",
          "Battery: 81 %",
          "Last report: seconds ago",
          "Distance today: 0.62 mi",
        ]);
        await device
          .getByText(/of London|In London/)
          .first()
          .waitFor();
        await device.getByText(/\d{4}, \d+:\d\d:\d\d (GMT|UTC)\S*, altitude 39 ft/).waitFor();
        await device.getByRole("button", { name: "Copy coordinates" }).click();
        await device.getByRole("button", { name: "Copied" }).waitFor();
        expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("51.50900, -0.12574");
        await visit.context.clearPermissions();

        // Another day of it: the tile is still about today.
        await page.getByRole("button", { name: "Previous day" }).click();
        await page.getByText(/No reports on this day/).waitFor();
        await page.getByText("Distance today").waitFor();
        expect(await facts(page)).toContain("Distance today: 0.62 mi");

        // Whom the map follows is not followed any more when another is chosen.
        const follow = device.getByRole("button", { name: "Follow" });
        await follow.click();
        await device.getByRole("button", { name: "Follow", pressed: true }).waitFor();
        await page.getByRole("option", { name: "van-2" }).click();
        await device.getByText("In Luimneach").first().waitFor();
        await device.getByRole("button", { name: "Follow", pressed: false }).waitFor();
        expect(await facts(page)).toEqual(["Last report: 3 days ago", "Distance today: 0 ft"]);
      },
      { webgl: false },
    );

    stage.test(
      "shows the coordinates where a browser has no clipboard, as over http on a LAN",
      async (visit, page) => {
        visit.expect(/Cross-Origin-Opener-Policy header has been ignored/);
        await visit.goto("/map?device=van-2");
        await page.getByLabel("Key", { exact: true }).fill(stage.key);
        await page.keyboard.press("Enter");
        const device = page.getByRole("region", { name: "Device" });
        await device.getByRole("button", { name: "Copy coordinates" }).click();
        await device.getByText("52.66472, -8.62306").waitFor();
        expect(await violationsOf(page)).toEqual([]);
      },
      { host: "wherehouse.test", webgl: false, viewport: { width: 390, height: 844 } },
    );
  },
  { isPageAlone: true, prepare: ({ client }) => store(client, reports()) },
);

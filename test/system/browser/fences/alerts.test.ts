import { expect } from "bun:test";
import { store } from "../../support/client.ts";
import { violationsOf } from "../support/axe.ts";
import { tabTo } from "../support/keys.ts";
import { expectAccessible } from "../support/looks.ts";
import { drawnOver } from "../support/map.ts";
import { describePage, type Stage } from "../support/stage.ts";
import { button, openTab, storedItems } from "./card.ts";
import { reports } from "./van.ts";

/*
 * Goal: a person makes alerts, sees what they would have said, and changes them, with the pointer and by keys alone.
 * Method: a van that was fast for an hour of yesterday.
 */

function storedAlerts(stage: Stage): Promise<readonly Record<string, unknown>[]> {
  return storedItems(stage, "alerts");
}

describePage(
  "alerts",
  (stage) => {
    stage.test("one is tried on yesterday, stored, changed and deleted", async (visit, page) => {
      visit.expect(/status of 400/); // Of a number out of bounds.
      await openTab(visit, stage, "Alerts");
      await button(page, "New alert").click();
      await page.getByLabel("Faster than").fill("60"); // Miles an hour in this browser.
      await page.getByRole("textbox", { name: "Name", exact: true }).fill("Fast");
      await page.getByLabel("Search for a device to add").fill("van");
      await page.keyboard.press("Enter");
      await button(page, "Preview").click();
      await page.getByText(/^2 events from /).waitFor();
      expect(await page.locator(".item-events li").allTextContents()).toEqual([
        expect.stringMatching(/van\s+Began\s+.*13:00:00 UTC/),
        expect.stringMatching(/van\s+Ended after 1 h\s+.*14:00:00 UTC/),
      ]);
      expect(await storedAlerts(stage)).toEqual([]);
      await page.locator(".item-events button").first().click();
      await visit.until(
        "the event on the map",
        async () => (await drawnOver(page))["fence-events"]!.length === 1,
      );
      await expectAccessible(page);
      await button(page, "Save").click();
      await page.getByRole("heading", { name: "Fast" }).waitFor();
      expect(await storedAlerts(stage)).toMatchObject([
        { name: "Fast", speed_above: 26.8224, devices: ["van"], active: true },
      ]);
      expect(await violationsOf(page)).toEqual([]);

      await button(page, "Edit").click();
      await page.getByLabel(/^About/).selectOption("Battery");
      await page.getByLabel("Battery below").fill("200");
      await button(page, "Save").click();
      await page.locator("#fault-battery_below").waitFor();
      await page.getByLabel("Battery below").fill("20");
      await button(page, "Remove van").click();
      await button(page, "Save").click();
      await page.getByText("Battery below 20 %").waitFor();
      const [changed] = await storedAlerts(stage);
      expect(changed).toMatchObject({ name: "Fast", battery_below: 20 });
      expect([changed!.speed_above, changed!.devices]).toEqual([undefined, undefined]);
      await button(page, "Back").click();
      await page.getByLabel("Search alerts").fill("fas");
      await page.getByText("1 alert", { exact: true }).waitFor();
      await page.locator(".item-list button").click();
      await button(page, "Edit").click();
      await button(page, "Delete…").click();
      await page.getByRole("dialog", { name: "Delete “Fast”?" }).waitFor();
      await button(page, "Delete").click();
      await page.getByText("No name and no tag contains “fas”.").waitFor();
      expect(await storedAlerts(stage)).toEqual([]);
    });

    stage.test("keys alone make one, and Esc leads back", async (visit, page) => {
      await openTab(visit, stage, "Alerts");
      await tabTo(page, button(page, "New alert"));
      await page.keyboard.press("Enter");
      await tabTo(page, page.getByLabel(/^About/));
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
      await tabTo(page, page.getByLabel("Silent for"));
      await page.keyboard.type("90");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Silent for 1 h 30 min" }).waitFor();
      expect(await storedAlerts(stage)).toMatchObject([{ silent_for: 90 }]);
      await page.keyboard.press("Escape");
      await page.getByRole("heading", { name: "Alerts" }).waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await page.getByRole("heading", { name: "Alerts" }).waitFor({ state: "detached" });
    });
  },
  { isPageAlone: true, prepare: ({ client }) => store(client, reports()) },
);

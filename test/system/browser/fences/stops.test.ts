import { expect } from "bun:test";
import { store } from "../../support/client.ts";
import { violationsOf } from "../support/axe.ts";
import { expectAccessible } from "../support/looks.ts";
import { drawnOver } from "../support/map.ts";
import { describePage } from "../support/stage.ts";
import { AWAY_DEGREES, DEPOT, NOON_MS, removeFences, reports, storedFences } from "./van.ts";

/*
 * Goal: a person makes a geofence around a stop of a device's day, and that day then tells of it. Method: a van that
 * stands at a depot.
 */

const YESTERDAY = new Date(NOON_MS).toISOString().slice(0, 10);

describePage(
  "a geofence around a stop",
  (stage) => {
    stage.test(
      "two clicks make a geofence around a stop, whose events come to the list and to the day of the device",
      async (visit, page) => {
        await visit.enter(stage.key, `/map?device=van&day=${YESTERDAY}&zone=UTC`);
        await page
          .getByRole("button", { name: /^Fence here/ })
          .first()
          .click();
        await page.getByRole("button", { name: "Save" }).click();
        await page.getByText("Circle, radius").waitFor();
        const [circle] = await storedFences(stage);
        expect(circle!.properties.radius_meters).toBe(50);
        expect(circle!.geometry.coordinates).toEqual([
          expect.closeTo(DEPOT.longitude, 3),
          expect.closeTo(DEPOT.latitude, 3),
        ]);
        // What it tells from now on is in the day of the device.
        const outside = { longitude: DEPOT.longitude + AWAY_DEGREES };
        await store(stage.client, [{ device_id: "van", timestamp: Date.now(), ...DEPOT, ...outside }]);
        await visit.goto("/map?device=van&zone=UTC");
        await page.getByRole("heading", { name: "van" }).waitFor();
        await page.keyboard.press("g");
        await page.getByRole("button", { name: "Events", exact: true }).click();
        await page.getByText("Nothing has happened yet.").waitFor();
        await expectAccessible(page);
        await store(stage.client, [{ device_id: "van", timestamp: Date.now(), ...DEPOT }]);
        const name = String(circle!.properties.name);
        await page.locator(".item-events").getByText(`${name}: Entered`).waitFor();
        const event = page.locator(".day-events button");
        await event.getByText("Entered").waitFor();
        expect(await event.locator(".name").textContent()).toBe(name);
        await visit.until("its mark", async () => (await drawnOver(page))["day-events"]!.length === 1);
        expect(await violationsOf(page)).toEqual([]);
        await event.click();
        await removeFences(stage);
      },
    );
  },
  { isPageAlone: true, prepare: ({ client }) => store(client, reports()) },
);

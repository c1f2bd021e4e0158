import { expect } from "bun:test";
import { store } from "../../support/client.ts";
import { send } from "../../webhooks/subscriber.ts";
import { violationsOf } from "../support/axe.ts";
import { drawnOver } from "../support/map.ts";
import { describePage, type Stage } from "../support/stage.ts";
import { AWAY_DEGREES, DEPOT, NOON_MS, removeFences, reports, storedFences } from "./van.ts";

/*
 * Goal: a person makes a geofence around a stop of a device's day, and that day then tells of it. Method: a van that
 * stands at a depot.
 */

const YESTERDAY = new Date(NOON_MS).toISOString().slice(0, 10);

async function eventsOf({ client }: Stage): Promise<readonly unknown[]> {
  const answer = await send(client, "GET", "/api/v1/devices/van/events");
  return (answer as unknown as { readonly events: readonly unknown[] }).events;
}

describePage(
  "a geofence around a stop",
  (stage) => {
    stage.test(
      "two clicks make a geofence around a stop, whose events are in the day of the device",
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
        await store(stage.client, [{ device_id: "van", timestamp: Date.now() + 1, ...DEPOT }]);
        await visit.until("the event", async () => (await eventsOf(stage)).length > 0);
        await visit.goto("/map?device=van&zone=UTC");
        const event = page.locator(".day-events button");
        await event.getByText("Entered").waitFor();
        expect(await event.locator(".name").textContent()).toBe(String(circle!.properties.name));
        await visit.until("its mark", async () => (await drawnOver(page))["day-events"]!.length === 1);
        expect(await violationsOf(page)).toEqual([]);
        await event.click();
        await removeFences(stage);
      },
    );
  },
  { isPageAlone: true, prepare: ({ client }) => store(client, reports()) },
);

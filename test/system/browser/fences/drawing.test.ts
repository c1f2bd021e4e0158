import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { send, store } from "../../support/client.ts";
import { violationsOf } from "../support/axe.ts";
import { pressInHeader } from "../support/header.ts";
import { tabTo } from "../support/keys.ts";
import { expectAccessible } from "../support/looks.ts";
import { cameraOf, drawnOver, pixelOf, rest } from "../support/map.ts";
import { describePage, type Stage } from "../support/stage.ts";
import type { Visit } from "../support/visit.ts";
import { AWAY_DEGREES, DEPOT, removeFences, reports, storedFences } from "./van.ts";

/*
 * Goal: a person draws geofences, sees what they would have said, and changes them, with the pointer and by keys alone.
 * Method: a van that stands at a depot for an hour of yesterday, drives away and comes back.
 */

const AT_DEPOT = "/map?at=51.5,-0.1,14&zone=UTC";

async function clickAt(page: Page, north: number, east: number): Promise<void> {
  const { x, y } = await pixelOf(page, DEPOT.latitude + north, DEPOT.longitude + east);
  await page.mouse.move(x, y);
  await page.mouse.click(x, y);
}

async function openFences(visit: Visit, { key }: Stage): Promise<void> {
  const { page } = visit;
  await visit.enter(key, AT_DEPOT);
  await visit.until("a map", async () => (await cameraOf(page)) !== null);
  await page.keyboard.press("g");
  await page.getByRole("heading", { name: "Geofences" }).waitFor();
}

async function drawPolygon(visit: Visit): Promise<void> {
  const { page } = visit;
  await page.getByRole("button", { name: "New polygon" }).click();
  await visit.until("the tool", async () => (await drawnOver(page))["td-polygon"] !== undefined);
  const corners = [
    [0.004, -0.006],
    [0.004, 0.006],
    [-0.004, 0.006],
    [-0.004, -0.006],
    [0.004, -0.006],
  ] as const;
  for (const [north, east] of corners) await clickAt(page, north, east);
  await page.getByText("Drag corners").waitFor();
}

const nameField = (page: Page) => page.getByRole("textbox", { name: "Name" });

describePage(
  "geofences",
  (stage) => {
    stage.test("a polygon is drawn, tried on yesterday, stored, changed and deleted", async (visit, page) => {
      visit.expect(/status of 400/); // Of a number out of bounds.
      await openFences(visit, stage);
      await page.getByText("No geofences yet.").waitFor();
      await drawPolygon(visit);
      await nameField(page).fill("Depot");
      await page.getByRole("button", { name: "Preview" }).click();
      await page.getByText(/^2 events from /).waitFor();
      expect(await page.locator(".item-events li").allTextContents()).toEqual([
        expect.stringMatching(/van\s+Left\s+.*13:00:00 UTC/),
        expect.stringMatching(/van\s+Entered\s+.*14:00:00 UTC/),
      ]);
      expect(await storedFences(stage)).toEqual([]);
      await page.locator(".item-events button").first().click();
      await visit.until("the event on the map", async () => {
        const [event] = (await drawnOver(page))["fence-events"]!;
        return event?.geometry.coordinates[0] === DEPOT.longitude + AWAY_DEGREES;
      });
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByRole("heading", { name: "Depot" }).waitFor();
      const [first] = await storedFences(stage);
      expect(first).toMatchObject({ geometry: { type: "Polygon" }, properties: { name: "Depot" } });
      expect(first!.geometry.coordinates[0]).toHaveLength(5);

      await page.getByRole("button", { name: "Edit", exact: true }).click();
      await page.getByLabel("Tell of a stay after").fill("9999999");
      await page.getByRole("button", { name: "Save" }).click();
      const fault = page.locator("#fault-dwell_seconds");
      await fault.waitFor();
      expect(await fault.textContent()).toMatch(/^dwell_seconds must be a whole number/);
      await page.getByLabel("Tell of a stay after").fill("10");
      await page.getByRole("radio", { name: "Teal" }).check();
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Tells of a stay of 10 min.").waitFor();
      expect((await storedFences(stage))[0]).toMatchObject({
        ...{ id: first!.id, geometry: first!.geometry },
        properties: { name: "Depot", dwell_seconds: 600, color: "#0097a7" },
      });

      await page.getByRole("button", { name: "Edit", exact: true }).click();
      await page.getByRole("button", { name: "Delete…" }).click();
      await page.getByRole("dialog", { name: "Delete “Depot”?" }).waitFor();
      await page.getByRole("button", { name: "Delete", exact: true }).click();
      await page.getByText("No geofences yet.").waitFor();
      expect(await storedFences(stage)).toEqual([]);
    });

    stage.test("Esc takes back a corner, then the shape, then the draft", async (visit, page) => {
      await openFences(visit, stage);
      await page.getByRole("button", { name: "New polygon" }).click();
      await visit.until("the tool", async () => (await drawnOver(page))["td-polygon"] !== undefined);
      for (const [north, east] of [
        [0.004, -0.006],
        [0.004, 0.006],
        [-0.004, 0.006],
      ] as const)
        await clickAt(page, north, east);
      // The pointer is a corner, too, and the ring ends where it begins.
      const corners = async () => {
        const [shape] = (await drawnOver(page))["td-polygon"]!;
        return (shape!.geometry.coordinates[0] as unknown as readonly unknown[]).length - 2;
      };
      await visit.until("three corners", async () => (await corners()) === 3);
      await page.keyboard.press("Escape");
      await visit.until("a corner less", async () => (await corners()) === 2);
      for (let presses = 0; presses < 8; presses++) await page.keyboard.press("Escape");
      await page.getByRole("heading", { name: "Geofences" }).waitFor({ state: "detached" });
      expect((await drawnOver(page))["td-polygon"] ?? []).toEqual([]);
    });

    stage.test(
      "keys alone make a circle; the form is accessible in light and dark, on a desktop and on a phone",
      async (visit, page) => {
        await openFences(visit, stage);
        const press = async (name: string | RegExp) => {
          await tabTo(page, page.getByRole("button", { name, exact: true }));
          await page.keyboard.press("Enter");
        };
        await press("New circle");
        await press("Circle at the map's center");
        await tabTo(page, page.getByLabel(/^Radius/));
        await page.keyboard.press("Control+A");
        await page.keyboard.type("250");
        await tabTo(page, nameField(page));
        await page.keyboard.type("By keys");
        await expectAccessible(page);
        await nameField(page).focus();
        await page.keyboard.press("Enter");
        await page.getByRole("heading", { name: "By keys" }).waitFor();
        const [circle] = await storedFences(stage);
        expect(circle!.properties).toMatchObject({ name: "By keys", radius_meters: 250 });
        expect(circle!.geometry.coordinates).toEqual([
          expect.closeTo(DEPOT.longitude, 4),
          expect.closeTo(DEPOT.latitude, 4),
        ]);
        expect(await violationsOf(page)).toEqual([]);
        await press("Back");
        await page.getByLabel("Search geofences").fill("KEY");
        await page.getByText("1 geofence", { exact: true }).waitFor();
        expect(await violationsOf(page)).toEqual([]);
        await page.getByLabel("Search geofences").fill("nothing");
        await page.getByText("No name and no tag contains “nothing”.").waitFor();
        await removeFences(stage);
      },
    );

    stage.test("a click on the map chooses a geofence", async (visit, page) => {
      const geometry = { type: "Point", coordinates: [DEPOT.longitude + 0.01, DEPOT.latitude] };
      await send(stage.client, "POST", "/api/v1/geofences", {
        type: "Feature",
        geometry,
        properties: { name: "Yard", radius_meters: 300 },
      });
      await openFences(visit, stage);
      await visit.until("it is drawn", async () => (await drawnOver(page)).fences!.length === 1);
      await rest(page);
      await clickAt(page, 0, 0.01);
      await page.getByRole("heading", { name: "Yard" }).waitFor();
      await pressInHeader(page, "Geofences");
      await visit.until("an empty map", async () => (await drawnOver(page)).fences!.length === 0);
      await removeFences(stage);
    });
  },
  { isPageAlone: true, prepare: ({ client }) => store(client, reports()) },
);

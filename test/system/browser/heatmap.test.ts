import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { store } from "../support/client.ts";
import { drawnOver, lookAt, pictureAt, pixelOf, rest } from "./support/map.ts";
import { describePage } from "./support/stage.ts";
import type { Visit } from "./support/visit.ts";
import { noonZone } from "./support/zones.ts";

/*
 * The heatmap: colors where positions are, over faded dots, in any range from an hour to a year. The ground of a city
 * without streets: where devices have been, drawn faintly; share links and a setting hide it.
 */

const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;
const DOT = { latitude: 51.5, longitude: -0.1 };
const DEPOT = { latitude: 51.51, longitude: -0.12 };

/** The van stands at its depot on other days, and is on the road half an hour ago. */
function stays(nowMs: number) {
  const atDepot = [3, 40, 300].flatMap((daysAgo) =>
    Array.from({ length: 5 }, (_, index) => ({
      device_id: "van",
      timestamp: nowMs - daysAgo * DAY_MS - index * 1000,
      ...DEPOT,
    })),
  );
  return [...atDepot, { device_id: "van", timestamp: nowMs - 30 * MINUTE_MS, ...DOT }];
}

describePage(
  "heatmap",
  (stage) => {
    stage.test(
      "shows where positions are in any range, and dots fade meanwhile",
      async (visit, page) => {
        await visit.enter(stage.key, "/map?at=51.505,-0.11,13");
        await page.getByText("Live", { exact: true }).waitFor();
        await page.locator(".map-canvas canvas").waitFor();
        const names = async () => ((await drawnOver(page))["device-names"] ?? []).length;
        await visit.until("the van has a name", async () => (await names()) === 1);
        await rest(page);
        const [dot, depot] = [
          await pixelOf(page, DOT.latitude, DOT.longitude),
          await pixelOf(page, DEPOT.latitude, DEPOT.longitude),
        ];
        const before = { dot: await pictureAt(page, dot), depot: await pictureAt(page, depot) };

        await page.getByRole("button", { name: "Heatmap" }).click();
        const panel = page.getByRole("region", { name: "Heatmap" });
        await panel.getByText("6 positions in view.").waitFor();
        await panel.getByText(/^few\s+1 position$/).waitFor();
        await panel.getByText(/^many\s+5 or more$/).waitFor();
        await panel.getByText(/^Positions in each square of \d+ ft$/).waitFor();
        await visit.until("no name lies over the heatmap", async () => (await names()) === 0);
        await rest(page);
        expect(await pictureAt(page, depot)).not.toBe(before.depot);

        const range = panel.getByLabel("Range");
        const choose = async (label: string, state: string) => {
          await range.selectOption({ label });
          await panel.getByText(state).waitFor();
          await rest(page);
        };
        await choose("a year", "16 positions in view.");
        await choose("30 days", "6 positions in view.");
        await choose("last hour", "1 position in view.");
        await choose("yesterday", "No positions here in this time.");
        // Without cells there is nothing but the faded dot.
        expect(await pictureAt(page, depot)).toBe(before.depot);
        expect(await pictureAt(page, dot)).not.toBe(before.dot);

        await range.selectOption({ label: "from … to …" });
        const day = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 16);
        await panel.getByLabel("To").fill(day(50));
        await panel.getByText("The first minute must be before the last.").waitFor();
        await panel.getByLabel("From").fill(day(350));
        await panel.getByText("5 positions in view.").waitFor();

        await page.keyboard.press("Escape");
        await panel.waitFor({ state: "detached" });
        await visit.until("the name is back", async () => (await names()) === 1);
        await rest(page);
        expect(await pictureAt(page, dot)).toBe(before.dot);
      },
      { timezoneId: noonZone() },
    );
  },
  { prepare: ({ client }) => store(client, stays(Date.now())) },
);

const MIDDLE = { latitude: 51.51, longitude: -0.1 };
/** On the street that was driven, away from the dot and its name. */
const STREET = { latitude: 51.51, longitude: -0.11 };

/** A van drove along a street on each of some weeks, and stands elsewhere now. */
function drives(nowMs: number) {
  const each = [10, 24, 38].flatMap((daysAgo) =>
    Array.from({ length: 200 }, (_, index) => ({
      device_id: "van",
      timestamp: nowMs - daysAgo * DAY_MS + index * 5000,
      latitude: MIDDLE.latitude,
      longitude: MIDDLE.longitude - 0.02 + index / 5000,
    })),
  );
  return [...each, { device_id: "van", timestamp: nowMs - MINUTE_MS, latitude: 51.518, longitude: -0.08 }];
}

const tilesIn = ({ requests }: Visit) =>
  requests.filter((request) => request.startsWith("GET /api/v1/tiles/"));

async function open(visit: Visit, page: Page): Promise<void> {
  await visit.goto(`/map?at=${MIDDLE.latitude},${MIDDLE.longitude},13`);
  await page.getByText("Live", { exact: true }).waitFor();
  await page.locator(".map-canvas canvas").waitFor();
  await rest(page);
}

async function choose(page: Page, label: string): Promise<void> {
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("button", { name: "Settings", exact: true }).click();
  await page
    .getByRole("dialog", { name: "Settings" })
    .getByLabel("Own tracks as streets")
    .selectOption({ label });
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await rest(page);
}

describePage(
  "own tracks",
  (stage) => {
    stage.test(
      "are the ground where there are no streets, until the user hides them",
      async (visit, page) => {
        await visit.signIn(stage.key);
        await open(visit, page);
        const pixel = await pixelOf(page, STREET.latitude, STREET.longitude);
        const shown = await pictureAt(page, pixel);
        const asked = tilesIn(visit);
        expect(asked.length).toBeGreaterThan(0);

        // What is known is not asked for again, and above the level of cities nothing is.
        await lookAt(page, { ...MIDDLE, zoom: 9 });
        await rest(page);
        await lookAt(page, { ...MIDDLE, zoom: 13 });
        await rest(page);
        expect(await pictureAt(page, pixel)).toBe(shown);
        expect(tilesIn(visit)).toEqual(asked);

        await choose(page, "Hidden");
        expect(await pictureAt(page, pixel)).not.toBe(shown);
        await open(visit, page);
        expect(tilesIn(visit)).toEqual(asked);
        await choose(page, "Shown");
        expect(await pictureAt(page, pixel)).toBe(shown);
      },
    );

    stage.test("are never asked for by the visitor of a share link", async (visit, page) => {
      await visit.signIn(stage.key);
      const terms = { device_ids: ["van"], not_before: Date.now() - DAY_MS, expires: Date.now() + DAY_MS };
      const response = await visit.context.request.post(`${visit.url}/map/keys`, {
        headers: { "x-wherehouse-page": "1" },
        data: { kind: "share", ...terms, precision_meters: null, label: "" },
      });
      const { text } = (await response.json()) as { readonly text: string };
      await visit.goto(`/map/s#${text}`);
      await page.getByText("You see 1 device").waitFor();
      await page.locator(".map-canvas canvas").waitFor();
      await lookAt(page, { ...MIDDLE, zoom: 13 });
      await rest(page);
      expect(tilesIn(visit)).toEqual([]);
    });
  },
  { prepare: ({ client }) => store(client, drives(Date.now())) },
);

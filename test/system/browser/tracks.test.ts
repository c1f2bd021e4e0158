import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { store } from "../support/client.ts";
import { lookAt, pictureAt, pixelOf, rest } from "./support/map.ts";
import { describePage } from "./support/stage.ts";
import type { Visit } from "./support/visit.ts";

/* The ground of a city without streets: where devices have been, drawn faintly. Share links and a setting hide it. */

const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;
const MIDDLE = { latitude: 51.51, longitude: -0.1 };
/** On the street that was driven, away from the dot and its name. */
const STREET = { latitude: 51.51, longitude: -0.11 };

/** A van drove along a street on each of some weeks, and stands elsewhere now. */
function reports(nowMs: number) {
  const drives = [10, 24, 38].flatMap((daysAgo) =>
    Array.from({ length: 200 }, (_, index) => ({
      device_id: "van",
      timestamp: nowMs - daysAgo * DAY_MS + index * 5000,
      latitude: MIDDLE.latitude,
      longitude: MIDDLE.longitude - 0.02 + index / 5000,
    })),
  );
  return [...drives, { device_id: "van", timestamp: nowMs - MINUTE_MS, latitude: 51.518, longitude: -0.08 }];
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
  { prepare: ({ client }) => store(client, reports(Date.now())) },
);

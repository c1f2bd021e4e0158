import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { get, store } from "../support/client.ts";
import { drawnOver, pixelOf } from "./support/map.ts";
import { describePage, type Stage } from "./support/stage.ts";

/* Nearby devices, compared with the endpoint; across ±180° too. */

/** Around Taveuni in Fiji, which the meridian crosses. */
const MIDDLE = { latitude: -16.8, longitude: 179.99 };

function fleet() {
  return Array.from({ length: 60 }, (_, index) => ({
    device_id: `boat-${index}`,
    timestamp: Date.now() - index * 1000,
    latitude: -16.8 + ((index % 8) - 4) / 20,
    longitude: wrapped(179.99 + (Math.floor(index / 8) - 4) / 20),
  }));
}

function wrapped(longitude: number): number {
  return longitude > 180 ? longitude - 360 : longitude;
}

describePage(
  "nearby",
  (stage) => {
    stage.test(
      "a click or a key lists whom the endpoint lists, in its order, within a circle on both sides of ±180°",
      async (visit, page) => {
        await visit.enter(stage.key, "/map?at=-16.8,179.99,9");
        await page.locator(".map-canvas canvas").waitFor();
        await page.getByRole("button", { name: "Nearby" }).click();
        const askedByClick = page.waitForRequest(/\/devices\/nearby\?/);
        const { x, y } = await pixelOf(page, MIDDLE.latitude, MIDDLE.longitude);
        await page.mouse.click(x, y);
        await compare(page, stage, (await askedByClick).url());
        const [, edge] = (await drawnOver(page)).circle!;
        const longitudes = (edge!.geometry.coordinates as unknown as (readonly [number, number])[]).map(
          ([longitude]) => longitude,
        );
        expect(Math.min(...longitudes)).toBeLessThan(180);
        expect(Math.max(...longitudes)).toBeGreaterThan(180);
        await page.keyboard.press("Escape");
        await page.getByRole("heading", { name: "Nearby" }).waitFor({ state: "detached" });

        // By keys alone, around the middle of the map.
        const askedByKey = page.waitForRequest(/\/devices\/nearby\?/);
        await page.keyboard.press("n");
        await compare(page, stage, (await askedByKey).url());
        await page.keyboard.press("Escape");
        await page.getByRole("heading", { name: "Nearby" }).waitFor({ state: "detached" });
      },
    );
  },
  { isPageAlone: true, prepare: ({ client }) => store(client, fleet()) },
);

interface NearbyAnswer {
  readonly results: readonly { readonly device_id: string }[];
  readonly pagination: { readonly total_matches: number };
}

/** The list of the page with what the endpoint answers to the same question. */
async function compare(page: Page, { client, server }: Stage, url: string): Promise<void> {
  const answer = (await (await get(client, url.slice(server.url.length))).json()) as NearbyAnswer;
  expect(answer.results.length).toBeGreaterThan(10);
  const names = page.locator(".nearby-list .name");
  await names.nth(answer.results.length - 1).waitFor();
  expect(await names.allTextContents()).toEqual(answer.results.map(({ device_id }) => device_id));
  await page.getByText(new RegExp(`^\\s*${answer.pagination.total_matches} devices at `)).waitFor();
}

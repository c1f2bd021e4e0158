import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { PALETTES } from "../../../src/web/map/palette.ts";
import { STREETS_BOUNDS, STREETS_CREDIT, streetsFile } from "../../unit/map/fixture.ts";
import { store } from "../support/client.ts";
import { violationsOf } from "./support/axe.ts";
import { cameraOf, pictureAt, pixelOf } from "./support/map.ts";
import { describePage } from "./support/stage.ts";

/* The operator's streets lie over the world, by day and by night, and who made both is credited. */

const [WEST, SOUTH, EAST, NORTH] = STREETS_BOUNDS;

describePage(
  "the base map",
  (stage) => {
    stage.test("shows the operator's streets over the world, by day and by night", async (visit, page) => {
      await visit.enter(stage.key);
      await visit.until("the map", () => cameraOf(page));
      for (const theme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme: theme });
        const { water, park, built, land } = PALETTES[theme];
        const grounds = [
          [SOUTH + 0.004, WEST + 0.006, park],
          [SOUTH + 0.004, WEST + 0.033, built],
          [NORTH - 0.004, EAST - 0.006, water], // Where the world has land.
          [NORTH - 0.005, WEST + 0.005, land],
        ] as const;
        for (const [latitude, longitude, color] of grounds)
          await visit.until(`the color ${color} at ${latitude}, ${longitude}`, async () =>
            Bun.deepEquals(await colorAt(page, latitude, longitude), channelsOf(color)),
          );
      }
      const credits = page.locator(".maplibregl-ctrl-attrib");
      await credits.getByText(STREETS_CREDIT).waitFor();
      for (const source of ["Natural Earth", "GeoNames", "CC BY 4.0"])
        await credits.getByRole("link", { name: source }).waitFor();
      expect(visit.requests.filter((request) => request.includes("/map/streets/"))).not.toEqual([]);
    });
  },
  {
    args({ directory }) {
      const path = join(directory, "streets.pmtiles");
      writeFileSync(path, streetsFile());
      return ["--map", path];
    },
    isPageAlone: true,
    prepare: ({ client }) =>
      store(
        client,
        [
          { device_id: "a", latitude: SOUTH, longitude: WEST },
          { device_id: "b", latitude: NORTH, longitude: EAST },
        ].map((each) => ({ ...each, timestamp: Date.now() })),
      ),
  },
);

describePage(
  "the base map of a server without streets",
  (stage) => {
    stage.test("says once at city level how streets are added, and names the place", async (visit, page) => {
      await visit.enter(stage.key);
      const hint = page.getByRole("note").filter({ hasText: "No streets here yet." });
      await hint.waitFor();
      await hint.getByText("map fetch --near 42.36,-71.07").waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await hint.getByRole("button", { name: "Hide the note about streets" }).click();
      await hint.waitFor({ state: "detached" });
    });
  },
  {
    isPageAlone: true,
    prepare: ({ client }) =>
      store(
        client,
        [
          { device_id: "a", latitude: SOUTH, longitude: WEST },
          { device_id: "b", latitude: NORTH, longitude: EAST },
        ].map((each) => ({ ...each, timestamp: Date.now() })),
      ),
  },
);

/** Red, green and blue in the middle of what is shown there. */
async function colorAt(page: Page, latitude: number, longitude: number): Promise<readonly number[]> {
  const picture = await pictureAt(page, await pixelOf(page, latitude, longitude));
  return page.evaluate(async (png) => {
    const image = new Image();
    image.src = `data:image/png;base64,${png}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d")!;
    canvas.drawImage(image, 0, 0);
    return [...canvas.getImageData(image.width / 2, image.height / 2, 1, 1).data.slice(0, 3)];
  }, picture);
}

function channelsOf(color: string): readonly number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
}

import { expect } from "bun:test";
import { store } from "../runtime/support/client.ts";
import { knownPositions, shownPositions } from "./support/devices.ts";
import { cameraOf, pictureAt, pixelOf } from "./support/map.ts";
import { describePage, type Stage } from "./support/stage.ts";
import type { Visit } from "./support/visit.ts";

/* Dots are where their devices are, the map stays where it was put, and without WebGL all else works. */

const CORNERS = [
  { device_id: "south", latitude: 51.45, longitude: -0.2 },
  { device_id: "north", latitude: 51.55, longitude: 0 },
];
const START = { latitude: 51.5, longitude: -0.15 };
const END = { latitude: 51.5, longitude: -0.05 };

describePage(
  "the map",
  (stage) => {
    stage.test("a dot moves where its device reports, and the map stays", async (visit, page) => {
      await enterMap(stage, visit);
      const before = await cameraOf(page);
      const [start, end] = [
        await pixelOf(page, START.latitude, START.longitude),
        await pixelOf(page, END.latitude, END.longitude),
      ];
      const [atStart, atEnd] = [await pictureAt(page, start), await pictureAt(page, end)];
      expect(atStart).not.toBe(atEnd);
      await report(stage, "van", END);
      await visit.until("the moved dot", async () => (await pictureAt(page, end)) !== atEnd);
      await visit.until("an empty place", async () => (await pictureAt(page, start)) !== atStart);
      // As many updates as come in a minute, also of devices that nobody has seen yet, far away.
      for (let step = 0; step < 60; step++) {
        await report(stage, "van", { latitude: 51.5, longitude: -0.05 - step / 1000 });
        if (step % 10 === 0) await report(stage, `far-${step}`, { latitude: -30 + step, longitude: step });
      }
      await visit.until("all reports", async () =>
        Bun.deepEquals(await shownPositions(page), await knownPositions(stage.client)),
      );
      await Bun.sleep(1000); // What would move the map has begun by then.
      expect(await cameraOf(page)).toEqual(before);
    });

    stage.test(
      "without WebGL the list works, and a sentence says why there is no map",
      async (visit, page) => {
        await visit.enter(stage.key);
        await page.getByText(/no WebGL/).waitFor();
        const rows = page.getByRole("listbox", { name: "Devices" }).getByRole("option");
        await rows.filter({ hasText: "south" }).waitFor();
        await page.keyboard.press("/");
        await page.keyboard.type("nor");
        await visit.until("the device that matches", async () => (await rows.count()) === 1);
        expect(await rows.textContent()).toContain("north");
      },
      { webgl: false },
    );
  },
  {
    async prepare({ client }) {
      await store(
        client,
        [...CORNERS, { device_id: "van", ...START }].map((each) => ({ ...each, timestamp: Date.now() })),
      );
    },
  },
);

async function enterMap({ key }: Stage, visit: Visit): Promise<void> {
  await visit.enter(key);
  await visit.until("the map", () => cameraOf(visit.page));
  await visit.page.waitForLoadState("networkidle", { timeout: 3000 }).catch(() => undefined); // The stream goes on.
  await Bun.sleep(500); // Tiles and labels fade in.
}

function report(
  { client }: Stage,
  device_id: string,
  place: { readonly latitude: number; readonly longitude: number },
) {
  return store(client, [{ device_id, timestamp: Date.now(), ...place }]);
}

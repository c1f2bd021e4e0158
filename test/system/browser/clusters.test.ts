import { store } from "../support/client.ts";
import { cameraOf, lookAt, pictureAt, pixelOf, rest, shownIn } from "./support/map.ts";
import { describePage } from "./support/stage.ts";

/* Far out, a circle with a count stands for many dots; it opens by a click, into the dots. */

const DEPOT = { latitude: 40, longitude: 20 };

describePage(
  "clusters",
  (stage) => {
    stage.test("stand for more than 500 dots, and open by a click", async (visit, page) => {
      await visit.enter(stage.key, "/map?at=40,20,3.2");
      await visit.until("the map", () => cameraOf(page));
      await page.getByText("1,204 devices").waitFor();
      const counts = async () =>
        (await shownIn(page, "cluster-counts")).map(({ properties }) => properties?.count);
      await visit.until("the count", async () => Bun.deepEquals(await counts(), ["1.2k"]));

      const { x, y } = await pixelOf(page, DEPOT.latitude, DEPOT.longitude);
      await page.mouse.move(x + 8, y);
      await page.locator(".map-canvas.is-over-dot").waitFor();
      await page.mouse.click(x + 8, y);
      await visit.until("a closer look", async () => ((await cameraOf(page))?.zoom ?? 0) > 5.1);
      await visit.until("the count nearer by", async () => Bun.deepEquals(await counts(), ["1.2k"]));

      await lookAt(page, { ...DEPOT, zoom: 8 });
      await visit.until("no circle", async () => (await counts()).length === 0);
      await rest(page);
      const at = await pixelOf(page, DEPOT.latitude, DEPOT.longitude);
      const empty = await pictureAt(page, { x: at.x + 200, y: at.y + 100 });
      await visit.until("the dots", async () => (await pictureAt(page, at)) !== empty);
    });
  },
  {
    isPageAlone: true,
    prepare: ({ client }) =>
      store(
        client,
        Array.from({ length: 1204 }, (_, index) => ({
          device_id: `van ${index}`,
          timestamp: Date.now(),
          latitude: index < 1200 ? DEPOT.latitude : -30 + index / 1000,
          longitude: DEPOT.longitude,
        })),
      ),
  },
);

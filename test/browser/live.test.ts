import { store } from "../runtime/support/client.ts";
import { knownPositions, shownPositions } from "./support/devices.ts";
import { describePage } from "./support/stage.ts";

/* What the page shows follows what the server is told, also through a server's end. */

const DEVICES = 200;

/** Somewhere in London, another place for each step. */
function report(device: number, step: number) {
  const latitude = 51.4 + ((device * 7 + step) % 100) / 500;
  return { device_id: `van-${device}`, timestamp: Date.now(), latitude, longitude: -0.1 + device / 1000 };
}

describePage(
  "live",
  (stage) => {
    stage.test("a report is shown a moment later, and a new device too", async (visit, page) => {
      await visit.enter(stage.key);
      await page.getByText("Live", { exact: true }).waitFor();
      const moved = { ...report(1, 50), timestamp: Date.now() };
      await store(stage.client, [moved, { ...moved, device_id: "newcomer" }]);
      await visit.until("the moved device", async () => {
        const { "van-1": van, newcomer } = await shownPositions(page);
        return van?.[0] === moved.timestamp && van[1] === moved.latitude && newcomer?.[1] === moved.latitude;
      });
    });
  },
  {
    prepare: ({ client }) =>
      store(
        client,
        Array.from({ length: DEVICES }, (_, device) => report(device, 0)),
      ),
  },
);

describePage(
  "a server that goes away",
  (stage) => {
    stage.test("is waited for, and nothing that it took is missing afterwards", async (visit, page) => {
      await visit.enter(stage.key);
      await page.getByText("Live", { exact: true }).waitFor();
      visit.expect(/ERR_|503|maplibre-gl\.mjs/); // Tiles of the map can't be had either.
      stage.server.kill("SIGKILL");
      await page.getByText(/Reconnecting/).waitFor();
      await Bun.sleep(3000);
      await stage.restart();
      await store(
        stage.client,
        Array.from({ length: DEVICES }, (_, device) => report(device, 9)),
      );
      await page.getByText("Live", { exact: true }).waitFor({ timeout: 40_000 });
      await visit.until("all positions", async () =>
        Bun.deepEquals(await shownPositions(page), await knownPositions(stage.client)),
      );
    });
  },
  {
    prepare: ({ client }) =>
      store(
        client,
        Array.from({ length: DEVICES }, (_, device) => report(device, 0)),
      ),
  },
);

import { expect } from "bun:test";
import { store } from "../runtime/support/client.ts";
import { describePage } from "./support/stage.ts";

/* The page comes whole from the server alone, and is small enough. */

describePage(
  "the page",
  (stage) => {
    stage.test(
      "takes a key once, shows the devices, and asks nobody else for anything",
      async (visit, page) => {
        await visit.goto("/map");
        await page.getByLabel("Key", { exact: true }).fill(stage.key);
        await page.keyboard.press("Enter");
        await page.getByRole("region", { name: "Devices" }).getByText("van-1").waitFor();
        expect(page.url()).toBe(`${stage.server.url}/map`);
      },
    );
  },
  {
    prepare: ({ client }) =>
      store(client, [{ device_id: "van-1", timestamp: Date.now(), latitude: 51.5, longitude: -0.12 }]),
  },
);

import { expect } from "bun:test";
import { store } from "../runtime/support/client.ts";
import { describePage } from "./support/stage.ts";

/* The page comes whole from the server alone, and is small enough. */

const MARKUP = `"'><img src=/x onerror=alert(1) data-evil>\${1}{{2}}`;

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

    stage.test("shows a name that is markup as text, wherever it stands", async (visit, page) => {
      await visit.enter(stage.key);
      await page.getByRole("option", { name: MARKUP }).click();
      await page.getByRole("heading", { name: MARKUP }).waitFor();
      await page.getByRole("button", { name: `Close ${MARKUP}` }).waitFor();
      await page.getByRole("button", { name: "Share" }).click();
      await page.getByRole("button", { name: `Leave out ${MARKUP}` }).waitFor();
      expect(await page.locator("[data-evil]").count()).toBe(0);
    });
  },
  {
    prepare: ({ client }) =>
      store(
        client,
        ["van-1", MARKUP].map((device_id) => {
          return { device_id, timestamp: Date.now(), latitude: 51.5, longitude: -0.12 };
        }),
      ),
  },
);

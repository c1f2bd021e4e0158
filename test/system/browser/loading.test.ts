import { expect } from "bun:test";
import type { Locator, Page, Route } from "playwright-core";
import { store } from "../support/client.ts";
import { violationsOf } from "./support/axe.ts";
import { turnTo } from "./support/color-scheme.ts";
import { describePage } from "./support/stage.ts";

/*
 * Goal: what is being loaded has a calm shape of its size, and what failed says so in its own place, with one thing
 * that helps. Method: the test holds back, or answers in the server's place, what the page requests.
 */

const DEVICES = "**/locations/current/columns*";
const LIVE = "**/api/v1/live?*";
const DAY = /devices\/van\/(track|stops|series|locations)/;

const refusal = (message: string) => (route: Route) =>
  route.fulfill({ status: 400, json: { success: false, message } });

describePage(
  "loading",
  (stage) => {
    stage.test(
      "shows shapes where devices, their values and the plot will be, and moves nothing then",
      async (visit, page) => {
        const held: Route[] = [];
        let isHeld = true;
        const hold = (route: Route) => (isHeld ? void held.push(route) : route.fallback());
        await page.route(DEVICES, hold);
        await page.route(DAY, hold);
        await visit.enter(stage.key, "/map?device=van");
        const list = page.getByRole("region", { name: "Devices" });
        const device = page.getByRole("region", { name: "Device", exact: true });
        const day = page.getByRole("region", { name: "Day" });
        await list.locator(".skeleton-rows").waitFor();
        await device.locator(".skeleton-lines").first().waitFor();
        await day.locator('.plot-area[aria-busy="true"] .bone').waitFor();
        expect(await list.getAttribute("aria-busy")).toBe("true");
        await breaksNoRule(page);
        const places = await placesOf(page);

        isHeld = false;
        for (const route of held) await route.fallback();
        await list.getByRole("option", { name: "van" }).waitFor();
        await device.getByText("reports").waitFor();
        await day.locator("time-plot canvas").waitFor();
        expect(await page.locator(".bone").count()).toBe(0);
        expect(await list.getAttribute("aria-busy")).toBe("false");
        const moved = (await placesOf(page)).map((at, index) => Math.abs(at - places[index]!));
        expect(Math.max(...moved)).toBeLessThan(2); // Fractions of a line's height.
      },
      { webgl: false },
    );

    stage.test(
      "a day without reports leaves its place to the map",
      async (visit, page) => {
        await visit.enter(stage.key, "/map?device=van&day=2020-02-02");
        await page.getByText("No reports on this day.").waitFor();
        const bar = (await page.getByRole("region", { name: "Day" }).boundingBox())!;
        const controls = (await page.getByLabel("Day", { exact: true }).first().boundingBox())!;
        expect(bar.height).toBeLessThan(controls.height + 24);
      },
      { webgl: false },
    );

    stage.test(
      "failures stand in the list, the device, the plot and over the map, each with what helps",
      async (visit, page) => {
        visit.expect(/status of (400|502)/);
        await page.route(DEVICES, (route) => route.fulfill({ status: 502, body: "" }));
        await visit.enter(stage.key);
        const list = page.getByRole("region", { name: "Devices" });
        await list
          .getByRole("alert")
          .getByText("The devices can't be loaded. The server answered 502. Trying again…")
          .waitFor();
        await tryNow(page, list, DEVICES);

        await page.route("**/devices/van/track*", refusal("no line today"));
        await list.getByRole("option", { name: "van" }).click();
        const device = page.getByRole("region", { name: "Device", exact: true });
        await device.getByRole("alert").getByText("No line today.").waitFor();
        await page.unroute("**/devices/van/track*");
        await page.route("**/devices/van/series*", refusal("no plot today"));
        await device.getByRole("button", { name: "Try again" }).click();

        const day = page.getByRole("region", { name: "Day" });
        await day.getByRole("alert").getByText("No plot today.").waitFor();
        await breaksNoRule(page);
        await page.unroute("**/devices/van/series*");
        await day.getByRole("button", { name: "Try again" }).click();
        await day.locator("time-plot canvas").waitFor();
        for (const region of [list, device, day]) expect(await region.getByRole("alert").count()).toBe(0);

        await page.route(LIVE, (route) => route.fulfill({ status: 502, body: "" }));
        await page.reload();
        const tools = page.getByRole("region", { name: "Tools" });
        await tools
          .getByRole("alert")
          .getByText("The server answered 502. Devices are shown where they were last seen.")
          .waitFor();
        expect(await violationsOf(page)).toEqual([]);
        await tryNow(page, tools, LIVE);
        await page.getByText("Live", { exact: true }).waitFor();
        await visit.until("no alert", async () => (await tools.getByRole("alert").count()) === 0);
        expect(await page.locator("#page").textContent()).not.toMatch(/server: |log \d/);
      },
      { webgl: false },
    );

    stage.test(
      "a device that was chosen while the server was down is there once the server is back, without a press",
      async (visit, page) => {
        visit.expect(/ERR_|503/);
        await visit.enter(stage.key);
        await page.getByText("Live", { exact: true }).waitFor();
        stage.server.kill("SIGKILL");
        await page.getByText(/Reconnecting/).waitFor();
        await page.getByRole("option", { name: "van" }).click();
        const device = page.getByRole("region", { name: "Device", exact: true });
        await device.getByRole("alert").getByText("The server can't be reached. Trying again…").waitFor();
        await stage.restart();
        await device.getByText("reports").waitFor();
        await page.getByText("Live", { exact: true }).waitFor();
        await visit.until(
          "no alert",
          async () => (await page.getByRole("alert").filter({ hasText: "reached" }).count()) === 0,
        );
      },
      { webgl: false },
    );
  },
  {
    isPageAlone: true,
    prepare: ({ client }) =>
      store(
        client,
        Array.from({ length: 40 }, (_, index) => ({
          ...{ device_id: "van", timestamp: Date.now() - index * 5000, speed: 10 + index },
          ...{ latitude: 51.5 + index / 1e4, longitude: -0.1 },
        })),
      ),
  },
);

/** Axe has nothing against it, by day and by night. Once in a visit: after axe, browsers may not turn light again. */
async function breaksNoRule(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await turnTo(page, colorScheme);
    expect([colorScheme, await violationsOf(page)]).toEqual([colorScheme, []]);
  }
}

/** Presses the button while requests still fail: after that the page might succeed by itself. */
async function tryNow(page: Page, region: Locator, path: string): Promise<void> {
  const again = page.waitForRequest(path);
  await region.getByRole("button", { name: "Try now" }).click();
  await again;
  await page.unroute(path);
}

/** Where the parts of the page are, and the sizes of those that others lie below or beside. */
function placesOf(page: Page): Promise<readonly number[]> {
  return page.evaluate(() => {
    const boxOf = (selector: string) => document.querySelector(selector)!.getBoundingClientRect();
    const panels = [".map", ".list", ".device", ".time", ".plot-area"].map(boxOf);
    const parts = [".fact-tiles", ".day"].map(boxOf);
    return [
      ...panels.flatMap(({ x, y, width, height }) => [x, y, width, height]),
      ...parts.flatMap(({ x, y, width }) => [x, y, width]),
    ];
  });
}

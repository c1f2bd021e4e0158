import { expect } from "bun:test";
import type { Page, Route } from "playwright-core";
import { runCommand } from "../../support/server-process.ts";
import { store } from "../support/client.ts";
import { describePage, type Stage } from "./support/stage.ts";
import type { Visit } from "./support/visit.ts";

/*
 * Goal: no link, session or panel is lost when a request fails. Method: the test answers requests of the page as
 * something between it and the server would (nothing, a proxy, a gateway), and then lets them through.
 */

const SESSION = "**/map/session";
const LIVE = "**/api/v1/live?*";
const PROXY_PAGE = "<h1>No backend</h1>";

/** What may come in place of our server's answer. */
const FAILURES: Readonly<Record<string, (route: Route) => Promise<void>>> = {
  "no answer": (route) => route.abort(),
  "a proxy's 502": (route) => route.fulfill({ status: 502, body: PROXY_PAGE }),
  "a gateway's 404": (route) => route.fulfill({ status: 404, json: { message: "no Route matched" } }),
  "a 429": (route) => route.fulfill({ status: 429, headers: { "retry-after": "1" }, body: PROXY_PAGE }),
  "a network's own page": (route) => route.fulfill({ status: 200, body: "<h1>Accept our terms</h1>" }),
};

describePage(
  "outages",
  (stage) => {
    stage.test("a link whose first requests fail keeps its key, also over a reload", async (visit, page) => {
      visit.expect(/ERR_FAILED/);
      await visit.signIn(stage.key);
      const shared = await shareLink(visit);
      await page.route(SESSION, (route) => route.abort());
      await visit.goto(`/map/s#${shared}`);
      for (const act of [() => page.reload(), () => page.unroute(SESSION)]) {
        await page.getByText("Can't reach the server, trying again in").waitFor();
        const said = await page.locator("#page").textContent();
        expect(said).not.toMatch(/revoked|ended|another/);
        expect(page.url()).not.toContain("wh_");
        await act();
      }
      await page.getByText("You see 1 device").waitFor();
      expect(await keptInBrowser(page)).toEqual([0, 0]);

      const address = await codeLink(stage);
      await page.route(SESSION, (route) => route.abort(), { times: 1 });
      await page.goto(address);
      await page.getByText("Live", { exact: true }).waitFor();
      expect([page.url().includes("code"), await keptInBrowser(page)]).toEqual([false, [0, 0]]);
    });

    stage.test("who is signed in sees no form, whatever the first request meets", async (visit, page) => {
      visit.expect(/ERR_FAILED|status of (502|404|429)/);
      await visit.signIn(stage.key);
      for (const [name, fail] of Object.entries(FAILURES)) {
        await page.route(SESSION, fail, { times: 1 });
        await visit.goto("/map");
        await page.getByText("trying again in").waitFor();
        expect([name, await page.getByLabel("Key", { exact: true }).count()]).toEqual([name, 0]);
        await page.getByRole("button", { name: "Try now" }).click();
        await page.getByText("Live", { exact: true }).waitFor();
      }
    });

    stage.test(
      "the live stream outlasts what a proxy says, and a stopped one can be connected again",
      async (visit, page) => {
        visit.expect(/status of (404|403|405)/);
        let answers = [404, 403, 405].map((status) => ({ status, body: PROXY_PAGE }));
        await page.route(LIVE, async (route) => {
          const [answer, ...others] = answers;
          answers = others;
          await (answer === undefined ? route.fallback() : route.fulfill(answer));
        });
        await visit.enter(stage.key);
        await page.getByText("Reconnecting").waitFor();
        await page.getByText("Live", { exact: true }).waitFor();
        expect(answers).toEqual([]);

        answers = [{ status: 403, body: JSON.stringify({ success: false, message: "not for this key" }) }];
        await page.reload();
        await page.getByRole("status").getByText("Stopped").waitFor();
        await page.getByRole("alert").getByText("Not for this key.").waitFor();
        await page.getByRole("button", { name: "Connect again" }).click();
        await page.getByText("Live", { exact: true }).waitFor();
      },
    );

    stage.test(
      "panels recover with the connection, and parts that could not be loaded are there then",
      async (visit, page) => {
        visit.expect(/ERR_FAILED|status of 502|Failed to fetch dynamically imported/);
        let isDown = true;
        // A module, what it imports, a package, a style sheet: each fails once.
        const parts =
          /keys\/(making|copying)\.ts|plots\/time-plot\.ts|uPlot\.|uqr|base\.json|maplibre-gl\.mjs/;
        const met = new Set<string>();
        await page.route(parts, (route) => {
          const name = parts.exec(route.request().url())![0];
          const isFirst = !met.has(name);
          met.add(name);
          return isDown && isFirst ? route.abort() : route.fallback();
        });
        await page.route(/devices\/van\/(track|series|locations)/, (route) =>
          isDown ? route.fulfill({ status: 502, body: PROXY_PAGE }) : route.fallback(),
        );
        await visit.enter(stage.key, "/map?device=van");
        const device = page.getByRole("region", { name: "Device" });
        await device.getByText("The server answered 502. Trying again…").waitFor();
        await page.getByRole("button", { name: "Share" }).click();
        await page
          .getByRole("alert")
          .getByText("A part of the page can't be loaded. Trying again…")
          .waitFor();
        isDown = false;
        await page.getByRole("dialog", { name: "Share" }).waitFor();
        await page.keyboard.press("Escape");
        await device
          .getByText(/\d+ reports?/)
          .first()
          .waitFor();
        await page.locator("time-plot canvas").waitFor();
        await page.locator(".map-canvas canvas").waitFor();
        await visit.until("no alert", async () => (await device.getByRole("alert").count()) === 0);
        expect([...met].sort()).toContain("keys/copying.ts");
      },
    );

    stage.test("a tile of the map that could not be loaded is asked for again", async (visit, page) => {
      visit.expect(/status of 502/);
      let isDown = true;
      const holes = new Set<string>();
      page.on("requestfinished", async (request) => {
        if ((await request.response())?.ok()) holes.delete(request.url());
      });
      await page.route("**/map/tiles/**", (route) => {
        if (!isDown) return route.fallback();
        const url = route.request().url();
        if (url.includes("/5/")) holes.add(url); // Of the zoom that the map rests at.
        return route.fulfill({ status: 502, body: PROXY_PAGE });
      });
      await visit.enter(stage.key, "/map?at=51.5,-0.1,5");
      await visit.until("a hole", async () => holes.size > 0);
      isDown = false;
      await visit.until("no hole", async () => holes.size === 0);
    });
  },
  {
    isPageAlone: true,
    prepare: ({ client }) =>
      store(
        client,
        [60, 30, 0].map((secondsAgo) => ({
          ...{ device_id: "van", timestamp: Date.now() - secondsAgo * 1000, speed: secondsAgo },
          ...{ latitude: 51.5 + secondsAgo / 1e5, longitude: -0.1 },
        })),
      ),
  },
);

/** What stands behind the `#` of a link to the van. */
async function shareLink({ context, url }: Visit): Promise<string> {
  const terms = { device_ids: ["van"], not_before: 0, expires: Date.now() + 600_000, precision_meters: null };
  const response = await context.request.post(`${url}/map/keys`, {
    headers: { "x-wherehouse-page": "1" },
    data: { kind: "share", ...terms, label: "" },
  });
  return ((await response.json()) as { readonly text: string }).text;
}

/** A link that signs in once. */
async function codeLink({ runtime, place, server }: Stage): Promise<string> {
  const { out } = await runCommand(runtime, place, ["keys", "link", "--url", server.url]);
  return /http\S+#code=\S+/.exec(out)![0];
}

function keptInBrowser(page: Page): Promise<readonly number[]> {
  return page.evaluate(() => [sessionStorage.length, localStorage.length]);
}

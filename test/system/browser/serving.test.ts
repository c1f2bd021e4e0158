import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { store } from "../support/client.ts";
import { describePage } from "./support/stage.ts";
import type { Visit } from "./support/visit.ts";

/*
 * Goal: the page comes whole from the server alone, is small enough, and keeps no key. Method: somebody signs in by the
 * form, and what was asked for meanwhile is fetched again and weighed.
 */

const MARKUP = `"'><img src=/x onerror=alert(1) data-evil>\${1}{{2}}`;

/** Of all code that shows the map, its worker too, as it goes over the line. */
const CODE_BYTES_MAX = 560_000;

describePage(
  "the page",
  (stage) => {
    stage.test(
      "takes a key once, shows the devices and their names as text, is small, and keeps the key nowhere",
      async (visit, page) => {
        await visit.goto("/map");
        await page.getByLabel("Key", { exact: true }).fill(stage.key);
        await page.keyboard.press("Enter");
        await page.getByRole("region", { name: "Devices" }).getByText("van-1").waitFor();
        await page.locator(".map-canvas canvas").waitFor();
        expect(page.url()).toBe(`${stage.server.url}/map`);

        const code = await visit.until("the map's worker", async () => {
          const asked = codeOf(visit);
          return asked.some((path) => path.includes("worker")) && asked;
        });
        // These are loaded once a person needs them.
        expect(code.filter((path) => /uplot|uqr|terra-draw/i.test(path))).toEqual([]);
        const sizes = await Promise.all(code.map((path) => packedSize(visit.url + path)));
        expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(CODE_BYTES_MAX);

        for (const text of [await keptBy(visit), await page.content(), stage.server.out, stage.server.error])
          expect(text).not.toContain(stage.key);
        expect(await page.evaluate(() => document.cookie)).toBe("");
        expect(await visit.context.cookies()).toMatchObject([{ httpOnly: true, sameSite: "Strict" }]);
        await showsMarkupAsText(page);
      },
    );

    stage.test(
      "can be installed by a phone, also from a share link, of which the installed page knows nothing",
      async (visit, page) => {
        visit.expect(/401/); // No link has that key.
        const session = await page.context().newCDPSession(page);
        for (const path of ["/map", "/map/s#wh_secret"]) {
          await visit.goto(path);
          const { url, errors, data } = await session.send("Page.getAppManifest");
          expect([url, errors]).toEqual([`${visit.url}/map/manifest.webmanifest`, []]);
          expect(JSON.parse(data!)).toMatchObject({ id: "/map", start_url: "/map", display: "standalone" });
          expect(data).not.toContain("secret");
          // A page of a test is as good as in a private window, in which none can be installed.
          const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
          expect(installabilityErrors.map(({ errorId }) => errorId)).toEqual(["in-incognito"]);
        }
        await session.detach();
      },
      { webgl: false },
    );
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

/** A name that is markup is text, wherever it stands. */
async function showsMarkupAsText(page: Page): Promise<void> {
  await page.getByRole("option", { name: MARKUP }).click();
  await page.getByRole("heading", { name: MARKUP }).waitFor();
  await page.getByRole("button", { name: `Close ${MARKUP}` }).waitFor();
  await page.getByRole("button", { name: "Share" }).click();
  await page.getByRole("button", { name: `Remove ${MARKUP}` }).waitFor();
  expect(await page.locator("[data-evil]").count()).toBe(0);
}

/** The paths of the scripts that were asked for. */
function codeOf({ requests }: Visit): readonly string[] {
  const paths = requests.map((request) => request.slice("GET ".length));
  return [...new Set(paths.filter((path) => /\.(?:ts|m?js)$/.test(path)))];
}

/** Of the body as it is sent to who takes gzip, and nothing better. */
async function packedSize(url: string): Promise<number> {
  const response = await fetch(url, { headers: { "accept-encoding": "gzip" }, decompress: false });
  expect(response.headers.get("content-encoding"), url).toBe("gzip");
  return (await response.arrayBuffer()).byteLength;
}

/** All that the browser keeps of a page, in one text. */
async function keptBy({ context, page }: Visit): Promise<string> {
  const kept = await page.evaluate(async () => [
    [...document.querySelectorAll("input")].map(({ value }) => value),
    await globalThis.caches.keys(),
    await indexedDB.databases(),
    [JSON.stringify(localStorage), JSON.stringify(sessionStorage)],
    [document.cookie, location.href, history.state],
  ]);
  return JSON.stringify([kept, await context.cookies()]);
}

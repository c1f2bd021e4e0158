import { expect } from "bun:test";
import type { Page } from "playwright-core";
import type { ChosenDevice } from "../../../src/web/device/chosen-device.ts";
import { readQrPath } from "../../support/read-qr.ts";
import { store } from "../support/client.ts";
import { violationsOf } from "./support/axe.ts";
import { shownPositions } from "./support/devices.ts";
import { type Camera, cameraOf, isDrawn } from "./support/map.ts";
import { askPart, type PartName } from "./support/parts.ts";
import { describePage, type Stage } from "./support/stage.ts";
import { Visit } from "./support/visit.ts";
import { noonZone } from "./support/zones.ts";

/*
 * Goal: a share link shows its devices and no other, as coarsely as was chosen, until its instant or until it is
 * revoked. Method: a link made in the dialog is opened by a second browser, which knows nothing else.
 */

const VAN = { latitude: 51.512_34, longitude: -0.123_45 };

const MINUTE_MS = 60_000;

const OVER = "This link has expired or was revoked";

/** Where the other device is, and where it goes: out of sight of a map that stays. */
const QUIET = { latitude: 51.6, longitude: 0 };
const MOVED = { latitude: 51.62, longitude: 0.03 };

function report(device_id: string, place: { readonly latitude: number; readonly longitude: number }) {
  return { device_id, timestamp: Date.now(), ...place };
}

describePage(
  "a share link",
  (stage) => {
    stage.test(
      "shows its devices alone, by the centers of cells, until it is revoked or its instant has come",
      async (visit, page) => {
        await visit.enter(stage.key, "/map?device=van-1");
        const url = await makeLink(page);
        const guest = await Visit.open(visit.url);
        try {
          await guest.goto("/map/s");
          await guest.page.getByText("Please open the complete link that you were sent").waitFor();
          await guest.page.goto(url); // Where the page is open already.
          await guest.page.getByText("You see 1 device").waitFor();
          await showsCells(stage, guest);
          guest.expect(/401/);
          await page
            .getByRole("dialog")
            .getByRole("button", { name: /^Revoke/ })
            .click();
          await showsNothing(guest);

          await openLinkThatEnds(visit, guest);
          await showsNothing(guest);
          expect(guest.faults).toEqual([]);
        } catch (error) {
          console.error(`What the guest saw: ${await guest.keepPicture("a guest of a share link")}`);
          await guest.close();
          throw error;
        }
        await guest.end();

        // Who made a link looks at it, here before its device has reported, and stays signed in.
        await visit.goto(`/map/s#${await createLink(visit, "van-9", 600_000)}`);
        await page.getByText("You see 1 device").waitFor();
        await page.getByText("There is no position to show yet.").waitFor();
        expect(await devicesKept(page)).toEqual({ map: ["van-1", "van-2", "walker"], share: [] });
        await visit.goto("/map");
        await page.getByRole("button", { name: "Share" }).waitFor();
      },
      { webgl: false }, // The guest has a map.
    );

    stage.test(
      "to one device is made with its last position, and its visitor sees that followed, on a phone above a low sheet",
      async (visit, page) => {
        await visit.enter(stage.key, "/map?device=van-2");
        await page.getByRole("button", { name: "Share" }).click();
        const dialog = page.getByRole("dialog", { name: "Share" });
        await dialog.getByText("Visitors can see the path since").waitFor();
        await dialog.getByRole("button", { name: "Create link" }).click();
        const url = await dialog
          .getByRole("region", { name: "The new link" })
          .getByRole("textbox")
          .inputValue();
        await page.goto(url);
        await page.getByText("You see 1 device").waitFor();
        for (const place of [QUIET, MOVED]) {
          await visit.until("the map at the device", async () => isNear(await cameraOf(page), place));
          expect((await cameraOf(page))!.zoom).toBeCloseTo(14);
          await page.locator('.sheet[data-height="low"]').waitFor();
          await store(stage.client, [report("van-2", MOVED)]);
        }
        const banner = (await page.getByRole("note").boundingBox())!;
        const buttons = (await page.getByRole("button", { name: "Zoom in" }).boundingBox())!;
        expect(banner.x + banner.width).toBeLessThanOrEqual(buttons.x);
        await page.reload();
        await visit.until("the map at the device", async () => isNear(await cameraOf(page), MOVED));
        await page.getByRole("button", { name: "Follow", pressed: true }).waitFor({ state: "attached" });
      },
      { viewport: { width: 390, height: 844 } },
    );

    stage.test(
      "shows the trail of the last half hour, which grows, and the path before it, but nothing before the link's start",
      async (visit, page) => {
        await visit.signIn(stage.key);
        const startMs = Date.now() - 50 * MINUTE_MS;
        await visit.goto(`/map/s#${await createLink(visit, "walker", 600_000, startMs)}`);
        await page.locator('.sheet[data-height="low"]').waitFor();
        const trail = await visit.until(
          "the trail",
          async () => (await lineOf(page)).times.length > 20 && lineOf(page),
        );
        expect(trail.times.length).toBeLessThanOrEqual(32);
        expect(trail.times[0]).toBeGreaterThanOrEqual(trail.times.at(-1)! - 30 * MINUTE_MS - 1000);
        await visit.until("a drawn line", () => isDrawn(page, "day-line"));
        expect(await violationsOf(page)).toEqual([]);
        expect((await cameraOf(page))!.zoom).toBeCloseTo(14);

        await store(stage.client, [report("walker", { latitude: 51.7001, longitude: 0.1001 })]);
        await visit.until(
          "a longer trail",
          async () => (await lineOf(page)).times.at(-1)! > trail.times.at(-1)!,
        );

        await page.getByRole("button", { name: "Day", exact: true }).click();
        const spans = page.getByLabel("Number of days");
        expect(await spans.inputValue()).toBe("recent");
        await spans.selectOption("1 day");
        await page.waitForURL(/span=day/);
        const path = await visit.until(
          "the path",
          async () => (await lineOf(page)).times.length > 40 && lineOf(page),
        );
        expect(path.times[0]).toBeGreaterThanOrEqual(startMs);
        await page.reload();
        await visit.until("the path", async () => (await lineOf(page)).times[0] === path.times[0]);

        // A coarse link shows the same half hour in cells and whole minutes, from further away.
        await page.goto("about:blank");
        await visit.goto(`/map/s#${await createLink(visit, "walker", 600_000, startMs, 500)}`);
        const coarse = await visit.until(
          "the trail",
          async () => (await lineOf(page)).times.length > 1 && lineOf(page),
        );
        expect(coarse.times.every((ms) => ms % MINUTE_MS === 0)).toBe(true);
        expect(new Set(coarse.latitudes).size).toBeLessThan(10);
        expect(trail.latitudes.filter((latitude) => coarse.latitudes.includes(latitude))).toEqual([]);
        expect((await cameraOf(page))!.zoom).toBeCloseTo(13);

        // Of several devices all trails are shown, and none is chosen.
        await page.goto("about:blank");
        await visit.goto(`/map/s#${await createLink(visit, ["walker", "van-2"], 600_000, startMs)}`);
        await page.locator('.sheet[data-height="low"]').waitFor();
        await visit.until("a drawn trail", () => isDrawn(page, "trails"));
        expect(await lineOf(page)).toEqual({ times: [], latitudes: [] });
      },
      { viewport: { width: 390, height: 844 }, timezoneId: noonZone() }, // So the day is longer than the trail.
    );

    stage.test(
      "is sent by the browser's own dialog where there is one, and stands in a QR code",
      async (visit, page) => {
        await visit.enter(stage.key, "/map?device=van-2");
        await page.evaluate(() => {
          const share = async (data: unknown) => {
            document.body.dataset.shared = JSON.stringify(data);
          };
          Object.defineProperty(navigator, "share", { value: share, configurable: true });
        });
        await page.getByRole("button", { name: "Share" }).click();
        const dialog = page.getByRole("dialog", { name: "Share" });
        await dialog.getByRole("button", { name: "Create link" }).click();
        const url = await dialog
          .getByRole("region", { name: "The new link" })
          .getByRole("textbox")
          .inputValue();
        const code = dialog.getByRole("img", { name: "The link as a QR code" });
        const size = Number((await code.getAttribute("viewBox"))!.split(" ")[2]);
        expect(readQrPath((await code.locator("path").getAttribute("d"))!, size)).toBe(url);
        await dialog.getByRole("button", { name: "Send with an app" }).click();
        const shared = await visit.until("what was sent", () =>
          page.evaluate(() => document.body.dataset.shared ?? null),
        );
        expect(JSON.parse(shared)).toEqual({ title: "Live position of van-2", url });
        await dialog.getByText("A phone can't reach 127.0.0.1").waitFor();
        expect(await violationsOf(page)).toEqual([]);

        await page.reload(); // A browser without that dialog.
        await page.getByRole("button", { name: "Share" }).click();
        await dialog.getByRole("button", { name: "Create link" }).click();
        await dialog.getByRole("region", { name: "The new link" }).getByRole("textbox").waitFor();
        expect(await dialog.getByRole("button", { name: "Send with an app" }).count()).toBe(0);
      },
      { webgl: false },
    );
  },
  {
    isPageAlone: true,
    prepare: ({ client }) =>
      store(client, [
        ...Array.from({ length: 90 }, (_, minutes) => ({
          ...report("walker", { latitude: 51.7 - minutes / 2000, longitude: 0.1 }),
          timestamp: Date.now() - minutes * MINUTE_MS,
        })),
        { ...report("van-1", VAN), timestamp: Date.now() - 2 * MINUTE_MS },
        report("van-2", QUIET),
      ]),
  },
);

/** Made in the dialog: from today on, within 500 m. */
async function makeLink(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Share" }).click();
  const dialog = page.getByRole("dialog", { name: "Share" });
  await dialog.getByLabel("Positions from").selectOption("today on");
  await dialog.getByLabel("Precision").selectOption("within 500 m");
  await dialog.getByRole("button", { name: "Create link" }).click();
  return dialog.getByRole("region", { name: "The new link" }).getByRole("textbox").inputValue();
}

/** What stands behind the `#` of a link. */
async function createLink(
  { context, url }: Visit,
  deviceIds: string | readonly string[],
  lastsMs: number,
  startMs = Date.now() - 60 * MINUTE_MS,
  precisionMeters: number | null = null,
): Promise<string> {
  const terms = { device_ids: [deviceIds].flat(), not_before: startMs, expires: Date.now() + lastsMs };
  const response = await context.request.post(`${url}/map/keys`, {
    headers: { "x-wherehouse-page": "1" },
    data: { kind: "share", ...terms, precision_meters: precisionMeters, label: "" },
  });
  return ((await response.json()) as { readonly text: string }).text;
}

/** Opens a link that is good for a moment. A slow machine that comes too late tries one that lasts twice as long. */
async function openLinkThatEnds(visit: Visit, { page, url }: Visit): Promise<void> {
  const van = page.getByRole("option", { name: "van-1" });
  for (let lastsMs = 2000; ; lastsMs *= 2) {
    await page.goto("about:blank"); // Or the page that is open would only see another `#`.
    await page.goto(`${url}/map/s#${await createLink(visit, "van-1", lastsMs)}`);
    await van.or(page.getByText(OVER)).waitFor();
    if (await van.isVisible()) return;
  }
}

/**
 * The devices of each page, where a browser takes what it has kept without asking whether that is still good, as it
 * does on the way back through its history.
 */
function devicesKept(page: Visit["page"]): Promise<Readonly<Record<"map" | "share", readonly string[]>>> {
  return page.evaluate(async () => {
    const ask = async (from: string) => {
      const headers = { "x-wherehouse-page": from };
      const path = "/api/v1/locations/current/columns";
      const response = await fetch(path, { headers, cache: "force-cache" });
      return ((await response.json()) as { readonly device_id: readonly string[] }).device_id;
    };
    return { map: await ask("1"), share: await ask("share") };
  });
}

/** Nothing of the other device, and the van at the center of its cell, wherever in it it is. */
async function showsCells({ client }: Stage, visit: Visit): Promise<void> {
  const { page } = visit;
  await page.getByRole("option", { name: "van-1" }).waitFor();
  const shown = await shownPositions(page);
  expect(Object.keys(shown)).toEqual(["van-1"]);
  const { pathname, hash } = new URL(page.url());
  expect([pathname, hash]).toEqual(["/map/s", ""]); // Where the map looks may stand there, the key not.
  expect(await page.content()).not.toContain("van-2");
  const [, latitude, longitude] = shown["van-1"]!;
  expect([latitude, longitude]).not.toEqual([VAN.latitude, VAN.longitude]);
  expect(metersNorth(latitude - VAN.latitude)).toBeLessThanOrEqual(250);
  // Elsewhere in the same cell it is shown at the same place, whole minutes later. What comes first is told first.
  await store(client, [report("van-2", QUIET)]);
  await store(client, [report("van-1", { ...VAN, latitude: latitude + (latitude - VAN.latitude) / 2 })]);
  await visit.until(
    "the newer report",
    async () => (await shownPositions(page))["van-1"]![0] > shown["van-1"]![0],
  );
  const later = await shownPositions(page);
  expect(Object.keys(later)).toEqual(["van-1"]);
  expect(later["van-1"]!.slice(1)).toEqual([latitude, longitude]);
  expect(later["van-1"]![0] % 60_000).toBe(0);
}

async function showsNothing({ page }: Visit): Promise<void> {
  await page.getByText(OVER).waitFor();
  await page.getByText("Ask the sender for a new one.").waitFor();
  expect(await page.content()).not.toMatch(/van-1|key|session/i);
}

function isNear(camera: Camera | null, { latitude, longitude }: typeof QUIET): boolean {
  if (camera === null) return false;
  return Math.abs(camera.latitude - latitude) < 1e-3 && Math.abs(camera.longitude - longitude) < 1e-3;
}

const CHOSEN_DEVICE: PartName<ChosenDevice> = ["device/chosen-device.ts", "ChosenDevice"];

interface Line {
  readonly times: readonly number[];
  readonly latitudes: readonly number[];
}

/** The line of the chosen device as the page has it. */
function lineOf(page: Page): Promise<Line> {
  return askPart(
    page,
    CHOSEN_DEVICE,
    ({ history }) => ({ times: history?.track.timestampMs ?? [], latitudes: history?.track.latitude ?? [] }),
    null,
  );
}

function metersNorth(degrees: number): number {
  return Math.abs(degrees) * 111_195;
}

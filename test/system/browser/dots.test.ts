import { expect } from "bun:test";
import type { Page } from "playwright-core";
import type { DotBuffer } from "../../../src/web/gl/dot-buffer.ts";
import { store } from "../support/client.ts";
import { shownPositions } from "./support/devices.ts";
import { pressInHeader } from "./support/header.ts";
import { cameraOf, layersOf, lookAt, type Pixel, pictureAt, pixelOf, rest } from "./support/map.ts";
import { askPart, type PartName } from "./support/parts.ts";
import { describePage, type Stage } from "./support/stage.ts";
import type { Visit } from "./support/visit.ts";

/* What only a browser shows of the dots: that they are drawn, where, and until when. */

const DOT_BUFFER: PartName<DotBuffer> = ["gl/dot-buffer.ts", "DotBuffer"];

const VAN = { latitude: 51.5, longitude: -0.1 };
const WEST = { latitude: -17, longitude: 179.99 };
const EAST = { latitude: -17, longitude: -179.99 };

describePage(
  "dots",
  (stage) => {
    stage.test(
      "stand where their devices are, also across ±180°, in the other theme and after a loss of the graphics",
      async (visit, page) => {
        await visit.enter(stage.key, "/map?at=-17,180,12");
        await visit.until("the map", () => cameraOf(page));
        await page.getByText("3 devices").waitFor();
        const { longitude } = (await cameraOf(page))!;
        const near = (each: number) => each + 360 * Math.round((longitude - each) / 360);
        const empty = await pictureAt(page, await pixelOf(page, -17.02, longitude));
        for (const place of [WEST, EAST])
          await seen(visit, await pixelOf(page, place.latitude, near(place.longitude)), empty);

        await lookAt(page, { ...VAN, zoom: 14 });
        const at = await pixelOf(page, VAN.latitude, VAN.longitude);
        await surviveTheme(visit, at);
        for (const motion of ["no-preference", "reduce", "no-preference"] as const)
          await setMotion(visit, motion);
        await chooseAndFollow(stage, visit, at);
      },
    );

    stage.test("draw a tail behind themselves while they move", async (visit, page) => {
      await visit.enter(stage.key, "/map?at=-17,179.99,12");
      await page.getByText("3 devices").waitFor();
      await visit.until("the map", () => cameraOf(page));
      const middle = await pixelOf(page, WEST.latitude - 0.01, WEST.longitude);
      await rest(page);
      const empty = await pictureAt(page, middle);
      const moved = { ...WEST, latitude: WEST.latitude - 0.02, speed: 10 };
      await store(stage.client, [{ device_id: "west", timestamp: Date.now(), ...moved }]);
      await seen(visit, middle, empty);
    });
  },
  {
    isPageAlone: true,
    prepare: ({ client }) =>
      store(client, [
        { device_id: "van", timestamp: Date.now(), ...VAN },
        { device_id: "west", timestamp: Date.now(), ...WEST },
        { device_id: "east", timestamp: Date.now(), ...EAST },
      ]),
  },
);

/** The dot is drawn by day and by night, and when the browser has taken the graphics away and given them back. */
async function surviveTheme(visit: Visit, at: Pixel): Promise<void> {
  const { page } = visit;
  const aside = { x: at.x + 60, y: at.y };
  await seen(visit, at, await pictureAt(page, aside));
  const byDay = await pictureAt(page, at);
  await pressInHeader(page, "Dark colors");
  await visit.until("the dark map", async () => (await pictureAt(page, at)) !== byDay);
  await seen(visit, at, await pictureAt(page, aside));
  const byNight = await steadyPicture(visit, at);

  await loseGraphics(page, "loseContext");
  await page.getByText("Redrawing the map").waitFor();
  await loseGraphics(page, "restoreContext");
  await page.getByText("Redrawing the map").waitFor({ state: "detached" });
  await visit.until("the same dot", async () => (await pictureAt(page, at)) === byNight);
  const layers = await layersOf(page);
  const order = ["day-line", "tails", "dots", "world-seas", "world-places", "stop-rings", "chosen-dot"];
  expect(layers.filter((layer) => order.includes(layer))).toEqual(order);
}

/** Colors of the map fade into one another. */
function steadyPicture(visit: Visit, at: Pixel): Promise<string> {
  return visit.until("a steady picture", async () => {
    const before = await pictureAt(visit.page, at);
    await rest(visit.page);
    return (await pictureAt(visit.page, at)) === before ? before : null;
  });
}

/** A click nearby chooses the device, and the map follows it until it is dragged. */
async function chooseAndFollow(stage: Stage, visit: Visit, at: Pixel): Promise<void> {
  const { page } = visit;
  await page.mouse.click(at.x + 5, at.y - 5);
  await page.getByRole("heading", { name: "van" }).waitFor();
  await page.getByRole("button", { name: "Follow" }).click();
  await report(stage, { latitude: 51.51, longitude: -0.08 });
  await visit.until("the map at the device", async () => isAt(await cameraOf(page), 51.51, -0.08));

  await page.mouse.move(at.x, at.y + 100);
  await page.mouse.down();
  await page.mouse.move(at.x + 80, at.y + 150, { steps: 4 });
  await page.mouse.up();
  await page.getByRole("button", { name: "Follow", pressed: false }).waitFor();
  await setMotion(visit, "reduce");
  await report(stage, VAN);
  // Without motion, a map that followed would be there in the turn in which the table takes the report.
  await visit.until("the report", async () => (await shownPositions(page)).van![1] === VAN.latitude);
  expect(isAt(await cameraOf(page), VAN.latitude, VAN.longitude)).toBe(false);
}

async function setMotion(visit: Visit, reducedMotion: "no-preference" | "reduce"): Promise<void> {
  await visit.page.emulateMedia({ reducedMotion });
  await visit.until(
    `gliding, where motion is set to ${reducedMotion}`,
    async () => (await glideMsOf(visit.page)) > 0 === (reducedMotion === "no-preference"),
  );
}

function glideMsOf(page: Page): Promise<number> {
  return askPart(page, DOT_BUFFER, (buffer) => buffer.glideMs, null);
}

async function seen(visit: Visit, at: Pixel, empty: string): Promise<void> {
  await visit.until("a dot", async () => (await pictureAt(visit.page, at)) !== empty);
}

function report({ client }: Stage, place: typeof VAN) {
  return store(client, [{ device_id: "van", timestamp: Date.now(), ...place }]);
}

function isAt(camera: typeof VAN | null, latitude: number, longitude: number): boolean {
  return (
    camera !== null &&
    Math.abs(camera.latitude - latitude) < 1e-4 &&
    Math.abs(camera.longitude - longitude) < 1e-4
  );
}

function loseGraphics(page: Page, step: "loseContext" | "restoreContext"): Promise<void> {
  return page.evaluate((method) => {
    const holder = globalThis as { extension?: WEBGL_lose_context | null };
    const canvas = document.querySelector<HTMLCanvasElement>(".map-canvas canvas")!;
    holder.extension ??= canvas.getContext("webgl2")!.getExtension("WEBGL_lose_context");
    holder.extension![method]();
  }, step);
}

import { expect } from "bun:test";
import type { CDPSession, Page } from "playwright-core";
import { get, store } from "../../support/client.ts";
import { violationsOf } from "../support/axe.ts";
import { tabTo } from "../support/keys.ts";
import { drawnOver, lookAt, type Pixel, pixelOf, rest } from "../support/map.ts";
import { describePage, type Stage } from "../support/stage.ts";

/*
 * Goal: a person sees a position where it can't have been, drags it to where it belongs, sees the day correct itself,
 * and takes it back. Method: a van that drives north along a meridian, with one position far to the east. It is moved
 * by the mouse, by keys alone and by touch; then the test reads its place from the server.
 */

const START_MS = Date.UTC(2026, 10, 10, 12);
const STEP_MS = 10_000;
const COUNT = 120;
const JUMP = 60;
const NORTH_DEGREES = 0.0008;
/** Away from the line, but near enough for 56 m/s, which is no jump. */
const PLAUSIBLE_LONGITUDE = 0.005;

const latitudeAt = (index: number) => 1 + NORTH_DEGREES * index;

const reports = Array.from({ length: COUNT }, (_, index) => ({
  device_id: "van",
  timestamp: START_MS + STEP_MS * index,
  latitude: latitudeAt(index),
  longitude: index === JUMP ? 0.05 : 0,
  speed: 9,
}));

const PATH = "/map?device=van&day=2026-11-10&zone=UTC";

describePage(
  "moving a position",
  (stage) => {
    stage.test("by its handle shows both places, and the day follows until Ctrl+Z", async (visit, page) => {
      await visit.enter(stage.key, PATH);
      await selectJump(page);
      await lookAt(page, { latitude: latitudeAt(JUMP) + 0.01, longitude: 0.025, zoom: 12 });
      await rest(page);
      const from = await handleAt(page);
      const to = await pixelOf(page, latitudeAt(JUMP), 0);
      await page.mouse.move(from.x, from.y);
      await page.mouse.down();
      await page.mouse.move(to.x, to.y, { steps: 5 });
      await page.mouse.up();
      await page.getByText(/^12:10:00 UTC: 3\.4\d mi W of where it was\.$/).waitFor();
      const drawn = ((await drawnOver(page))["day-move"] ?? []).map(({ geometry, properties }) => ({
        kind: properties?.kind,
        positions: geometry.coordinates.length,
      }));
      expect(drawn).toEqual([
        { kind: "line", positions: 3 },
        { kind: "shift", positions: 2 },
      ]);
      expect(await violationsOf(page)).toEqual([]);
      expect(await placeNow(stage)).toEqual({ latitude: latitudeAt(JUMP), longitude: 0.05 });
      await page.getByLabel("Note (optional)").fill("reflection");
      await page.getByRole("button", { name: "Move", exact: true }).click();
      await page.getByText("1 position is moved.").waitFor();
      await page.getByText("No suspicious positions").waitFor();
      const { latitude, longitude } = await placeNow(stage);
      expect([Math.abs(latitude - latitudeAt(JUMP)), Math.abs(longitude)].every((each) => each < 0.002)).toBe(
        true,
      );
      const undo = page.getByRole("button", { name: /^Undo: 1 position moved to 1\.0\d+, / });
      expect(await undo.count()).toBe(1);
      expect(await page.locator(".correction-note").textContent()).toBe("reflection");
      expect(await violationsOf(page)).toEqual([]);
      await page.keyboard.press("Control+z");
      await page.getByText("The position is back where it was reported.").waitFor();
      await page.getByText("1 suspicious position", { exact: true }).waitFor();
      expect([await placeNow(stage), await undo.count()]).toEqual([
        { latitude: latitudeAt(JUMP), longitude: 0.05 },
        0,
      ]);
    });

    stage.test("by keys alone, with Escape and Enter", async (visit, page) => {
      await visit.enter(stage.key, PATH);
      const press = async (name: string | RegExp) => {
        await tabTo(page, page.getByRole("button", { name, exact: true }).first());
        await page.keyboard.press("Enter");
      };
      await press(/^12:10:00 UTC Jump/);
      await press("Move…");
      const handle = page.getByRole("button", { name: /^Position of 12:10:00 UTC/ });
      await visit.until("the focus", () => handle.evaluate((each) => each === document.activeElement));
      await page.keyboard.press("ArrowLeft");
      await page.getByText(/ W of where it was\.$/).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("heading", { name: "Move a position" }).waitFor({ state: "detached" });
      expect(await placeNow(stage)).toEqual({ latitude: latitudeAt(JUMP), longitude: 0.05 });
      await page.keyboard.press("Shift+ArrowLeft");
      await page.keyboard.press("Shift+ArrowUp");
      await page.getByText(/ NW of where it was\.$/).waitFor();
      await page.keyboard.press("Enter");
      await page.getByText("1 position is moved.").waitFor();
      const { latitude, longitude } = await placeNow(stage);
      expect([latitude > latitudeAt(JUMP), longitude < 0.05]).toEqual([true, true]);
      await press(/^Undo: 1 position moved/);
      await page.getByText("The position is back where it was reported.").waitFor();
    });

    stage.test("can't be undone before what was corrected later, which is listed", async (visit, page) => {
      visit.expect(/409/);
      await visit.enter(stage.key, PATH);
      await selectJump(page);
      await page.getByRole("button", { name: "Move…" }).click();
      await lookAt(page, { latitude: latitudeAt(JUMP) + 0.01, longitude: 0.025, zoom: 12 });
      await clickAt(page, latitudeAt(JUMP), PLAUSIBLE_LONGITUDE);
      await page.getByText(/ W of where it was\.$/).waitFor();
      await page.keyboard.press("Enter");
      await page.getByText("1 position is moved.").waitFor();
      await page.getByText("No suspicious positions").waitFor();
      await clickAt(page, latitudeAt(JUMP), PLAUSIBLE_LONGITUDE);
      await page.getByRole("button", { name: "Hide…" }).click();
      await page.getByLabel("Note (optional)").fill("unknown");
      await page.getByRole("button", { name: "Hide 1 position", exact: true }).click();
      await page.getByText("119 reports").waitFor();
      await page.getByRole("button", { name: /^Undo: 1 position moved/ }).click();
      const note = page.getByRole("alert", { name: "Undo these first" });
      await note.getByText("1 position hidden").waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await note.getByRole("button", { name: /^Undo: 1 position hidden/ }).click();
      await note.waitFor({ state: "detached" });
      await page.getByText("120 reports").waitFor();
      await page.getByRole("button", { name: /^Undo: 1 position moved/ }).click();
      await page.getByText("1 suspicious position", { exact: true }).waitFor();
    });

    stage.test(
      "by touch, on a phone",
      async (visit, page) => {
        await visit.enter(stage.key, PATH);
        await selectJump(page);
        const from = await handleAt(page);
        await touchDrag(await page.context().newCDPSession(page), from, { x: from.x - 60, y: from.y + 40 });
        await page.getByText(/ SW of where it was\.$/).waitFor();
        expect(await violationsOf(page)).toEqual([]);
        await page.getByRole("button", { name: "Cancel" }).click();
        await page.getByRole("button", { name: "Hide…" }).waitFor(); // The sheet is back, with the selection.
        expect(await placeNow(stage)).toEqual({ latitude: latitudeAt(JUMP), longitude: 0.05 });
      },
      { viewport: { width: 390, height: 844 }, hasTouch: true },
    );
  },
  { keepsAll: true, isPageAlone: true, prepare: ({ client }) => store(client, reports) },
);

/** Selects the position that is suspicious, and waits until the map has it in its middle. */
async function selectJump(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^12:10:00 UTC Jump/ }).click();
  await page.locator(".map-handle").waitFor();
  await rest(page);
}

async function handleAt(page: Page): Promise<Pixel> {
  const { x, y, width, height } = (await page.locator(".map-handle").boundingBox())!;
  return { x: x + width / 2, y: y + height / 2 };
}

async function clickAt(page: Page, latitude: number, longitude: number): Promise<void> {
  await rest(page);
  const { x, y } = await pixelOf(page, latitude, longitude);
  await page.mouse.click(x, y);
}

async function touchDrag(session: CDPSession, from: Pixel, to: Pixel): Promise<void> {
  const touch = (type: "touchStart" | "touchMove" | "touchEnd", touchPoints: Pixel[]) =>
    session.send("Input.dispatchTouchEvent", { type, touchPoints });
  await touch("touchStart", [from]);
  for (const part of [0.3, 0.6, 1])
    await touch("touchMove", [{ x: from.x + part * (to.x - from.x), y: from.y + part * (to.y - from.y) }]);
  await touch("touchEnd", []);
  await session.detach();
}

/** Where the server says that the van was. */
async function placeNow({ client }: Pick<Stage, "client">) {
  const ms = START_MS + STEP_MS * JUMP;
  const path = `/api/v1/devices/van/track?start=${ms}&end=${ms + 1}&tolerance_meters=0`;
  const track = (await (await get(client, path)).json()) as { latitude: number[]; longitude: number[] };
  return { latitude: track.latitude[0]!, longitude: track.longitude[0]! };
}

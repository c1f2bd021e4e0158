import { expect } from "bun:test";
import { store } from "../support/client.ts";
import { knownPositions, shownPositions } from "./support/devices.ts";
import { cameraOf, pictureAt, pixelOf, rest } from "./support/map.ts";
import { describePage, type Stage } from "./support/stage.ts";
import type { Visit } from "./support/visit.ts";

/*
 * What the page shows follows what the server is told, also through a server's end, and the map stays where it was put.
 * Without WebGL all else works.
 */

const DEVICES = 200;
const START = { latitude: 51.5, longitude: -0.2 };
const END = { latitude: 51.5, longitude: -0.15 };

/** Somewhere east of the van, another place for each step. */
function report(device: number, step: number) {
  const latitude = 51.4 + ((device * 7 + step) % 100) / 500;
  return at(`bus-${device}`, { latitude, longitude: -0.1 + device / 1000 });
}

function at(device_id: string, place: typeof START) {
  return { device_id, timestamp: Date.now(), ...place };
}

function reports(step: number) {
  return Array.from({ length: DEVICES }, (_, device) => report(device, step));
}

describePage(
  "live",
  (stage) => {
    stage.test(
      "a report is a moved dot on a map that stays, and nothing is missing after a server's end",
      async (visit, page) => {
        await visit.enter(stage.key);
        await page.getByText("Live", { exact: true }).waitFor();
        await rest(page);
        await moveDots(stage, visit);
        await loseServer(stage, visit);
      },
    );

    stage.test(
      "without WebGL list, details and the day's hours work, and a sentence says why there is no map",
      async (visit, page) => {
        await visit.enter(stage.key, "/map?zone=UTC");
        await page.getByText(/does not support WebGL/).waitFor();
        const rows = page.getByRole("listbox", { name: "Devices" }).getByRole("option");
        await rows.first().waitFor();
        await page.keyboard.press("/");
        await page.keyboard.type("BUS-77");
        await visit.until("the device that matches", async () => (await rows.count()) === 1);
        await page.keyboard.press("Enter");
        const device = page.getByRole("region", { name: "Device" });
        await device.getByRole("heading", { name: "bus-77" }).waitFor();
        await device.getByRole("button", { name: "Copy coordinates" }).waitFor();
        await device.getByText("Hour by hour").click();
        const counts = await device.locator("table.hours tbody td:nth-of-type(1)").allTextContents();
        expect([counts.length, counts.filter((count) => Number(count) > 0).length]).toEqual([24, 1]);
        await page.getByRole("region", { name: "Day" }).getByRole("button", { name: "Play" }).waitFor();
      },
      { webgl: false },
    );
  },
  { isPageAlone: true, prepare: ({ client }) => store(client, [...reports(0), at("van", START)]) },
);

async function moveDots(stage: Stage, visit: Visit): Promise<void> {
  const { page } = visit;
  const before = await cameraOf(page);
  const [start, end] = [
    await pixelOf(page, START.latitude, START.longitude),
    await pixelOf(page, END.latitude, END.longitude),
  ];
  const [atStart, atEnd] = [await pictureAt(page, start), await pictureAt(page, end)];
  expect(atStart).not.toBe(atEnd);
  await store(stage.client, [at("van", END)]);
  await visit.until("the moved dot", async () => (await pictureAt(page, end)) !== atEnd);
  await visit.until("an empty place", async () => (await pictureAt(page, start)) !== atStart);
  // As many updates as come in a minute, also of devices that nobody has seen yet, far away.
  for (let step = 0; step < 60; step++) {
    const away = at(`far-${step}`, { latitude: -30 + step, longitude: step });
    const van = at("van", { latitude: 51.5, longitude: -0.15 - step / 1000 });
    await store(stage.client, step % 10 === 0 ? [van, away] : [van]);
  }
  await untilEqual(stage, visit);
  await rest(page); // What moves the map begins in the turn in which the table takes a report.
  expect(await cameraOf(page)).toEqual(before);
}

async function loseServer(stage: Stage, visit: Visit): Promise<void> {
  const { page } = visit;
  visit.expect(/ERR_|503|maplibre-gl\.mjs/); // Tiles of the map can't be had either.
  stage.server.kill("SIGKILL");
  await page.getByText(/Reconnecting/).waitFor();
  const tries = () => visit.requests.filter((request) => request === "GET /api/v1/live").length;
  const before = tries();
  await visit.until("two more tries in vain", async () => tries() >= before + 2);
  await stage.restart();
  await store(stage.client, reports(9));
  await page.getByText("Live", { exact: true }).waitFor({ timeout: 40_000 });
  await untilEqual(stage, visit);
}

/** Until the page has all positions of all devices as the server has them. */
async function untilEqual({ client }: Stage, visit: Visit): Promise<void> {
  await visit.until("all positions", async () =>
    Bun.deepEquals(await shownPositions(visit.page), await knownPositions(client)),
  );
}

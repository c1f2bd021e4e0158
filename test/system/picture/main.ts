import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  type ServerProcess,
  startDemo,
} from "../../support/server-process.ts";
import { chromiumPath } from "../browser/support/chromium.ts";
import { Visit, type VisitOptions } from "../browser/support/visit.ts";
import { pause } from "../support/pause.ts";
import { Film } from "./film.ts";
import { step, useSteppedClock } from "./stepped-clock.ts";

/** `npm run picture`: the pictures of the pages for people, of the demo as it is now. */

const DOCS = join(import.meta.dir, "../../../docs");

/** The Danish straits. */
const SHIPS = "/map?at=55.72,11.85,7.8";
/** A bus in Liverpool that has stopped. */
const BUS = "/map?device=4841&zone=Europe/London";

/** Tails are two minutes long. */
const TAILS_MS = 130_000;

const WINDOW = { width: 1280, height: 800 };

const FILM_WINDOW = { width: 1120, height: 700 };
const FILM_WIDTH = 800;
const FRAME_MS = 120;

interface Demo {
  readonly place: Place;
  readonly server: ServerProcess;
}

process.exit(await main()); // The browser would keep us.

async function main(): Promise<number> {
  if (chromiumPath === null) return 1;
  const places = [openPlace(), openPlace()] as const;
  try {
    const fast: Demo = { place: places[0], server: await startDemo(RUNTIMES[0]!, places[0]) };
    const ready = pause(TAILS_MS);
    // As slow as it was: what is shown moves little while it is looked at.
    const slow: Demo = {
      place: places[1],
      server: await startDemo(RUNTIMES[0]!, places[1], ["--speed", "1"]),
    };
    await takeDay(slow);
    await ready;
    await takeMap(fast);
    await takeFilm(fast, slow);
    return 0;
  } catch (error) {
    console.error(error);
    return 1;
  } finally {
    for (const place of places) await closePlace(place);
  }
}

async function takeMap(demo: Demo): Promise<void> {
  const visit = await open(demo, SHIPS, { colorScheme: "dark", viewport: WINDOW });
  await settle(visit.page);
  await take(visit, "map.png");
}

async function takeDay(demo: Demo): Promise<void> {
  const visit = await open(demo, BUS, { colorScheme: "light", viewport: WINDOW });
  await showDay(visit.page);
  await take(visit, "day.png");
}

async function take(visit: Visit, name: string): Promise<void> {
  await visit.page.screenshot({ path: join(DOCS, name) });
  await leave(visit);
  console.log(`Written: docs/${name}`);
}

async function leave(visit: Visit): Promise<void> {
  if (visit.faults.length > 0) throw new Error(visit.faults.join("\n"));
  await visit.close();
}

/** Ships that move, their last hour as a time lapse, and the day of a bus. */
async function takeFilm(fast: Demo, slow: Demo): Promise<void> {
  const options: VisitOptions = {
    colorScheme: "dark",
    viewport: FILM_WINDOW,
    deviceScaleFactor: FILM_WIDTH / FILM_WINDOW.width,
  };
  const darkroom = await Visit.open("about:blank");
  const film = new Film(darkroom.page, FILM_WIDTH, (FILM_WINDOW.height * FILM_WIDTH) / FILM_WINDOW.width);
  const shoot = async (page: Page, frames: number) => {
    for (let frame = 0; frame < frames; frame++) {
      await step(page, FRAME_MS);
      await film.add(await page.screenshot(), FRAME_MS, frame === 0);
    }
  };

  const ships = await open(fast, SHIPS, options);
  const { page } = ships;
  await settle(page);
  await shoot(page, 26);
  await showLapse(page);
  await shoot(page, 26);
  await leave(ships);

  const bus = await open(slow, BUS, options);
  await showDay(bus.page);
  await bus.page.getByLabel("Playback speed").selectOption("120×");
  await bus.page.getByRole("button", { name: "Play", exact: true }).click();
  await shoot(bus.page, 26);
  await leave(bus);

  writeFileSync(join(DOCS, "map.webp"), film.file);
  console.log(`Written: docs/map.webp, ${film.file.length} bytes`);
}

async function open({ server, place }: Demo, path: string, options: VisitOptions): Promise<Visit> {
  const visit = await Visit.open(server.url, {
    deviceScaleFactor: 1,
    reducedMotion: "no-preference",
    locale: "en-IE",
    timezoneId: "Europe/Copenhagen",
    ...options,
  });
  await useSteppedClock(visit.page);
  await visit.enter(readFirstKey(place), path);
  return visit;
}

/** A time lapse of the last minutes, in which ships went faster than in the hour before. */
async function showLapse(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Time lapse" }).click();
  await page.getByRole("button", { name: "Pause" }).click();
  const lapse = page.getByRole("dialog");
  await lapse.getByLabel("Time", { exact: true }).focus();
  for (const key of ["End", "PageUp"]) await page.keyboard.press(key);
  await lapse.getByLabel("Speed").selectOption("60×");
  await lapse.getByRole("button", { name: "Play" }).click();
  await page.mouse.move(FILM_WINDOW.width / 2, FILM_WINDOW.height / 2);
  await step(page, FRAME_MS, 3);
}

/** The whole way on the map, the list in sight, and a moment within the day. */
async function showDay(page: Page): Promise<void> {
  await page.locator("time-plot canvas").waitFor();
  await page.getByRole("button", { name: "Fit track" }).click();
  await settle(page);
  await page.getByRole("button", { name: "Hide the note about streets" }).click();
  await page.getByLabel("Time", { exact: true }).focus();
  await page.keyboard.press("PageDown");
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.getByText("Stops and trips").evaluate((heading) => heading.scrollIntoView({ block: "center" }));
  await settle(page);
}

/** Tiles and names are there, and what glides or fades has done so. */
async function settle(page: Page): Promise<void> {
  for (let round = 0; round < 10; round++) {
    await step(page, 200, 5);
    await pause(300);
  }
}

import { join } from "node:path";
import { closePlace, openPlace, RUNTIMES, readFirstKey, startDemo } from "../../support/server-process.ts";
import { chromiumPath } from "../browser/support/chromium.ts";
import { Visit } from "../browser/support/visit.ts";
import { pause } from "../support/pause.ts";

/** `npm run picture`: the picture that the README begins with, of the demo as it is now. */

const PICTURE = join(import.meta.dir, "../../../docs/map.png");

/** The bus in Limerick at a moment of its way, with the whole route in view. */
const LOOKS_AT = "/map?device=limerick-304&zone=Europe/Dublin&at=52.6405,-8.6430,12.3";

/** Tiles, names and the plot are there, and what glides has arrived. */
const SETTLE_MS = 4000;

process.exitCode = await main();

async function main(): Promise<number> {
  if (chromiumPath === null) return 1;
  const place = openPlace();
  try {
    // As slow as it was: what is shown moves little while it is looked at.
    const server = await startDemo(RUNTIMES[0]!, place, ["--speed", "1"]);
    const visit = await Visit.open(server.url, {
      deviceScaleFactor: 1,
      locale: "en-IE",
      timezoneId: "Europe/Dublin",
    });
    await visit.enter(readFirstKey(place), LOOKS_AT);
    await visit.page.locator("time-plot canvas").waitFor();
    await visit.page.getByLabel("Time", { exact: true }).focus();
    await visit.page.keyboard.press("PageDown");
    await visit.page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await pause(SETTLE_MS);
    await visit.page.screenshot({ path: PICTURE });
    if (visit.faults.length > 0) throw new Error(visit.faults.join("\n"));
    console.log(`Written: ${PICTURE}`);
    return 0;
  } finally {
    await closePlace(place);
    process.exit(process.exitCode ?? 0); // The browser would keep us.
  }
}

import { describe, expect, test } from "bun:test";
import { closePlace, openPlace, RUNTIMES, readFirstKey, startDemo } from "../../support/server-process.ts";
import { chromiumPath } from "./support/chromium.ts";
import { shownPositions } from "./support/devices.ts";
import { Visit } from "./support/visit.ts";

/* The demo as somebody sees it who has just begun. */

describe.skipIf(chromiumPath === null).each(RUNTIMES)("the demo on $name", (runtime) => {
  test("shows devices that move, and says how fast", async () => {
    const place = openPlace();
    const server = await startDemo(runtime, place, ["--speed", "30"]);
    const visit = await Visit.open(server.url);
    try {
      await visit.enter(readFirstKey(place));
      await visit.page.getByText("recorded devices at 30x speed").waitFor();
      const before = (await shownPositions(visit.page))["limerick-304"];
      await visit.until("a dot that has moved", async () => {
        const positions = await shownPositions(visit.page);
        return !Bun.deepEquals(positions["limerick-304"], before);
      });
      expect(visit.faults).toEqual([]);
    } finally {
      await visit.close();
      await closePlace(place);
    }
  });
});

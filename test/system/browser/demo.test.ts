import { describe, expect, test } from "bun:test";
import { closePlace, openPlace, RUNTIMES, readFirstKey, startDemo } from "../../support/server-process.ts";
import { chromiumPath } from "./support/chromium.ts";
import { shownPositions } from "./support/devices.ts";
import { cameraOf } from "./support/map.ts";
import { Visit } from "./support/visit.ts";

/* The demo as somebody sees it who has just begun. */

describe.skipIf(chromiumPath === null).each(RUNTIMES)("the demo on $name", (runtime) => {
  test("begins in the Danish straits with ships that move, and says how fast", async () => {
    const place = openPlace();
    const server = await startDemo(runtime, place, ["--speed", "30"]);
    const visit = await Visit.open(server.url);
    try {
      const address = /Open the map at (\S+)/.exec(server.out)![1]!;
      await visit.enter(readFirstKey(place), address.slice(server.url.length));
      await visit.page.getByText("recorded devices at 30x speed").waitFor();
      const { bounds } = await visit.until("the map", () => cameraOf(visit.page));
      const before = await shownPositions(visit.page);
      const inView = Object.entries(before).filter(
        ([, [, latitude, longitude]]) =>
          latitude > bounds.south &&
          latitude < bounds.north &&
          longitude > bounds.west &&
          longitude < bounds.east,
      );
      expect(inView.length).toBeGreaterThan(150);
      await visit.until("most ships of the view under way", async () => {
        const positions = await shownPositions(visit.page);
        const moved = inView.filter(([id, position]) => !Bun.deepEquals(positions[id], position));
        return moved.length > inView.length / 3;
      });
      expect(visit.faults).toEqual([]);
    } finally {
      await visit.close();
      await closePlace(place);
    }
  });
});

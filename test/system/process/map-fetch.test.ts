import { afterAll, beforeAll, describe, expect } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  runCommand,
  startReady,
} from "../../support/server-process.ts";
import { STREETS_BOUNDS, streetsFile } from "../../unit/map/fixture.ts";
import { createRangeServer, type RangeServer } from "../../unit/map/streets/range-server.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: on both runtimes `map fetch` copies an area over a real connection, survives one that breaks off, and a server
 * shows the streets; backups and `verify` pass over them.
 */

const ARCHIVE = streetsFile();
const BOX = "-71.08,42.35,-71.06,42.37";

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    let place: Place;
    let remote: RangeServer;
    let listener: Bun.Server<undefined>;
    let from: string[];

    beforeAll(() => {
      place = openPlace();
      remote = createRangeServer(ARCHIVE);
      listener = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => remote.answer(request) });
      from = ["map", "fetch", "--from", `http://127.0.0.1:${listener.port}/planet.pmtiles`];
    });
    afterAll(async () => {
      await closePlace(place);
      await listener.stop(true);
    });

    test("without --yes and without a terminal it says how much there is, and writes nothing", async () => {
      const { code, out, error } = await runCommand(runtime, place, [...from, "--bbox", BOX]);
      expect([code, out]).toEqual([1, ""]);
      expect(error).toMatch(
        /^box -71\.08,.+: \d+ tiles of zooms 0 to 14, 0\.0 MB, by transferring 0\.0 MB in \d+ requests from http:/,
      );
      expect(error).toContain("Nothing was copied: give --yes to copy them.");
      expect(() => readdirSync(place.dataDir)).toThrow("ENOENT");
    });

    test("an area is copied, a broken connection is repeated, and a server shows the streets", async () => {
      const before = remote.requests.length;
      remote.intercept = (first, last, count) => {
        if (count !== before + 2) return null;
        const headers = { "content-range": `bytes ${first}-${last}/${ARCHIVE.length}`, etag: '"1"' };
        return new Response(ARCHIVE.slice(first, first + 10), { status: 206, headers });
      };
      const fetched = await runCommand(runtime, place, [
        ...from,
        "--near",
        "42.36,-71.07",
        "--radius",
        "1km",
        "--yes",
      ]);
      expect(fetched).toMatchObject({ code: 0, out: expect.stringMatching(/^Copied \d+ tiles /) });
      const folder = join(place.dataDir, "map");
      expect(readdirSync(folder).filter((name) => name !== "lock")).toEqual(["42.36_-71.07.pmtiles"]);

      writeFileSync(join(folder, "damaged.pmtiles"), "no map");
      const server = await startReady(runtime, place);
      const base = (await (await fetch(`${server.url}/map/base.json`)).json()) as {
        streets: { bounds: number[]; credits: unknown[] };
      };
      expect(base.streets.bounds.map((edge) => edge.toFixed(2))).toEqual([
        "-71.08",
        "42.35",
        "-71.06",
        "42.37",
      ]);
      expect(base.streets.bounds[0]).toBeGreaterThan(STREETS_BOUNDS[0]);
      expect(base.streets.credits).toHaveLength(3);
      const tile = await fetch(`${server.url}/map/streets/14/4957/6060`);
      expect([tile.status, (await tile.arrayBuffer()).byteLength > 50]).toEqual([200, true]);
      expect((await server.stop()).error).toContain("damaged.pmtiles");
    });

    test("verify passes over them, and a backup does not have them", async () => {
      const backup = join(place.directory, "backup");
      mkdirSync(backup);
      expect(await runCommand(runtime, place, ["verify"])).toMatchObject({ code: 0 });
      expect(await runCommand(runtime, place, ["backup", backup])).toMatchObject({ code: 0 });
      expect(readdirSync(backup)).not.toContain("map");
      expect(readFileSync(join(backup, "backup.json"), "utf8")).not.toContain("pmtiles");
    });

    test("a server that ignores ranges and an archive that changes are refused, and nothing is replaced", async () => {
      const old = readdirSync(join(place.dataDir, "map"));
      const again = [...from, "--bbox", BOX, "--yes"];
      remote.intercept = () => new Response(ARCHIVE);
      const ignored = await runCommand(runtime, place, again);
      expect(ignored).toMatchObject({ code: 1, error: expect.stringContaining("the server ignores ranges") });
      remote.intercept = () => {
        remote.etag = `"${Math.random()}"`;
        return null;
      };
      const changed = await runCommand(runtime, place, again);
      expect(changed).toMatchObject({
        code: 1,
        error: expect.stringContaining("it changed while it was copied"),
      });
      expect(readdirSync(join(place.dataDir, "map"))).toEqual(old);
    });
  });
}

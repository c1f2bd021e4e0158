import { afterAll, beforeAll, describe, expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { VectorTile } from "@mapbox/vector-tile";
import { PbfReader } from "pbf";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  runCommand,
  startReady,
} from "../../support/server-process.ts";
import { streetsFile } from "../../unit/map/fixture.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: on both runtimes the server sends tiles of the world and of the operator's streets from the real disk, and does
 * not start with a file that it can't show.
 */

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    let place: Place;
    let streets: string;

    beforeAll(() => {
      place = openPlace();
      streets = join(place.directory, "boston.pmtiles");
    });
    afterAll(() => closePlace(place));

    test("the tiles of both maps come from the disk", async () => {
      writeFileSync(streets, streetsFile());
      const server = await startReady(runtime, place, ["--map", streets]);
      const layersAt = async (path: string, accepted: string) => {
        const response = await fetch(server.url + path, { headers: { "accept-encoding": accepted } });
        const tile = new VectorTile(new PbfReader(new Uint8Array(await response.arrayBuffer())));
        return [response.status, Object.keys(tile.layers)];
      };
      for (const accepted of ["gzip", "identity"]) {
        expect(await layersAt("/map/tiles/6/19/23", accepted)).toEqual([
          200,
          ["earth", "water", "boundaries", "places"],
        ]);
        expect(await layersAt("/map/streets/14/4956/6060", accepted)).toEqual([
          200,
          ["earth", "landuse", "roads"],
        ]);
      }
      expect((await fetch(`${server.url}/map/streets/14/0/0`)).status).toBe(204);
      await server.stop();
    });

    test("a file that was cut off is refused at the start, with what to do", async () => {
      writeFileSync(streets, streetsFile().subarray(0, 9000));
      const { code, out, error } = await runCommand(runtime, place, [
        "serve",
        "--port",
        "0",
        "--map",
        streets,
      ]);
      expect([code, out]).toEqual([1, ""]);
      expect(JSON.parse(error.split("\n")[0]!)).toMatchObject({
        event: "failed",
        msg: expect.stringMatching(
          /^Cannot use ".+boston.pmtiles" as a map: .+ so its copy is incomplete; copy it again$/,
        ),
      });
    });

    test("so is one that is not there", async () => {
      const args = ["serve", "--port", "0", "--map", join(place.directory, "nowhere.pmtiles")];
      const { code, error } = await runCommand(runtime, place, args);
      expect(code).toBe(1);
      expect(JSON.parse(error.split("\n")[0]!).msg).toMatch(/^Cannot look up ".+nowhere.pmtiles": /);
    });
  });
}

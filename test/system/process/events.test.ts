import { afterAll, beforeAll, describe, expect } from "bun:test";
import { join } from "node:path";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  runCommand,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: events last like what they are made of, in the directory and in its backup, and go with it.
 * Method: real processes. A device enters a geofence and leaves it; the server is killed; commands run beside it.
 */

interface Event {
  readonly id: string;
  readonly kind: string;
}

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    let place: Place;
    let server: ServerProcess;
    let key = "";
    let made: readonly Event[] = [];

    beforeAll(async () => {
      place = openPlace();
      server = await startReady(runtime, place);
      key = readFirstKey(place);
    });
    afterAll(() => closePlace(place));

    const elsewhere = (): Place => ({ ...place, dataDir: join(place.directory, "restored") });

    async function ask(path: string, body?: object): Promise<Readonly<Record<string, unknown>>> {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
      const answer = await fetch(`${server.url}${path}`, init);
      const json = (await answer.json()) as Readonly<Record<string, unknown>>;
      expect([path, answer.status, json]).toEqual([path, 200, expect.anything()]);
      return json;
    }

    async function events(): Promise<readonly Event[]> {
      return (await ask("/api/v1/events")).events as readonly Event[];
    }

    async function run(at: Place, ...args: string[]): Promise<string> {
      const { code, out, error } = await runCommand(runtime, at, args);
      expect({ args, code, out, error }).toEqual({ args, code: 0, out, error });
      return out;
    }

    test("a device makes events, which the next process has after a kill", async () => {
      await ask("/api/v1/geofences", {
        type: "Feature",
        geometry: { type: "Point", coordinates: [2, 1] },
        properties: { radius_meters: 100, name: "Depot" },
      });
      const nowMs = Date.now();
      const locations = [1.1, 1, 1, 1.1].map((latitude, i) => ({
        ...{ device_id: "vanishing-van", user_id: "vera", latitude, longitude: 2 },
        timestamp: nowMs + 1000 * (i + 1),
      }));
      await ask("/ingest/v1/locations", { locations });
      await until(async () => (await events()).length === 2);
      made = await events();
      expect(made.map(({ kind }) => kind)).toEqual(["enter", "exit"]);
      server.kill("SIGKILL");
      await server.ended;
      server = await startReady(runtime, place);
      expect(await events()).toEqual(made);
    });

    test("a backup beside the server has them, and so has what is restored from it", async () => {
      const directory = join(place.directory, "backup");
      await run(place, "backup", directory);
      expect(await run(place, "verify")).toMatch(/events +2, 0 of them withdrawn/);
      await run(elsewhere(), "restore", directory);
      expect(await run(elsewhere(), "verify")).toMatch(/events +2, 0 of them withdrawn/);
      await server.stop();
      server = await startReady(runtime, elsewhere());
      expect(await events()).toEqual(made);
      await server.stop();
    });

    test("an erasure leaves no trace of them, also without a server", async () => {
      const about = ["--device", "vanishing-van"];
      const before = await runCommand(runtime, place, ["verify", "--erased", ...about]);
      expect([before.code, before.out]).toEqual([
        1,
        expect.stringContaining("events/events.sqlite: 2 rows of events"),
      ]);
      await run(place, "erase", ...about, "--app", "default", "--yes", "--now");
      expect(await run(place, "verify", "--erased", ...about)).toContain("There is no trace");
      expect(await run(place, "verify")).toMatch(/events +0, 0 of them withdrawn/);
    });
  });
}

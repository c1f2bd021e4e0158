import { afterAll, beforeAll, describe, expect } from "bun:test";
import { join } from "node:path";
import { UNIX_ENVIRONMENT } from "../../support/programs.ts";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  runCommand,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { type Client, get, store, untilKnown } from "../support/client.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: the archive of `export --complete` is a ZIP that other programs read, and has what the endpoints answer.
 * Method: the real processes on both runtimes; Python's zipfile reads the archive and checks its sums.
 */

const PYTHON = Bun.which("python3");
if (PYTHON === null) console.warn("Left out: archives as Python reads them, since there is no python3.");

/** Prints the files of an archive as a JSON object of texts. */
const READ_ZIP = `
import json, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
assert archive.testzip() is None
print(json.dumps({name: archive.read(name).decode("utf-8") for name in archive.namelist()}))
`;

function unzipped(path: string): Readonly<Record<string, string>> {
  const { exitCode, stdout, stderr } = Bun.spawnSync([PYTHON!, "-c", READ_ZIP, path], {
    env: UNIX_ENVIRONMENT,
  });
  expect({ exitCode, error: stderr.toString() }).toEqual({ exitCode: 0, error: "" });
  return JSON.parse(stdout.toString());
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

for (const runtime of RUNTIMES) {
  describe.if(PYTHON !== null)(`on ${runtime.name}`, () => {
    let place: Place;
    let server: ServerProcess;
    let client: Client;

    async function createKey(...args: string[]): Promise<string> {
      const { code, out } = await runCommand(runtime, place, ["keys", "create", "--app", "default", ...args]);
      expect(code).toBe(0);
      return out.trim();
    }

    async function jsonOf(path: string) {
      const answer = await get(client, path);
      expect([path, answer.status]).toEqual([path, 200]);
      return answer.json();
    }

    /** Two phones of a user and another's, on a day that is archived and on a later one. */
    async function fill(daysAgo: number): Promise<void> {
      const startMs = Math.floor(Date.now() / DAY_MS - daysAgo) * DAY_MS;
      const reports = Array.from({ length: 300 }, (_, row) => ({
        device_id: ["anna/1", "anna-2", "bert"][row % 3]!,
        user_id: row % 3 === 2 ? "bert" : "anna",
        timestamp: startMs + row * 60_000,
        latitude: 53.4 + row / 1e4,
        longitude: -2.9,
      }));
      await store(client, reports);
    }

    beforeAll(async () => {
      place = openPlace();
      server = await startReady(runtime, place);
      const permissions = ["read", "write", "edit"].flatMap((name) => ["--permission", name]);
      client = { url: server.url, key: await createKey(...permissions, "--tier", "unlimited") };
      await untilKnown(client);
      await fill(20);
      await server.stop();
      expect((await runCommand(runtime, place, ["seal"])).code).toBe(0);
      server = await startReady(runtime, place);
      client = { ...client, url: server.url };
      await fill(2);
      const phone = await createKey("--permission", "write", "--device", "anna/1");
      await untilKnown({ ...client, key: phone });
      const change = async (method: string, path: string, body: object, key = client.key) => {
        const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
        const answer = await fetch(client.url + path, { method, headers, body: JSON.stringify(body) });
        expect([path, answer.status]).toEqual([path, 200]);
      };
      const end = Date.now() - DAY_MS;
      const hidden = { action: "hide", device_id: "anna/1", start: end - 5 * DAY_MS, end, note: "naïve" };
      await change("POST", "/api/v1/corrections", hidden);
      await change("PUT", "/api/v1/devices/anna%2F1/profile", { name: "Anna's", tags: ["phone"] });
      const future = new Date(Date.now() + 48 * HOUR_MS).toISOString();
      const geometry = { type: "Point", coordinates: [-2.9, 53.4] };
      const point = { type: "Feature", geometry, properties: { timestamp: future, device_id: "x" } };
      await change("POST", "/ingest/overland", { locations: [point] }, phone);
    });
    afterAll(() => closePlace(place));

    test("the archive has what the endpoints answer, through the server and in its directory", async () => {
      const answers = {
        shown: await (
          await get(client, "/api/v1/export?format=csv&start_date=2020-01-01&user_id=anna")
        ).text(),
        reported: await (
          await get(client, "/api/v1/export?format=gpx&start_date=2020-01-01&user_id=anna&originals=true")
        ).text(),
        profile: await jsonOf("/api/v1/devices/anna%2F1/profile"),
        corrections: await jsonOf("/api/v1/corrections"),
        quarantine: await jsonOf("/api/v1/quarantine"),
      };
      expect(answers.quarantine.entries).toHaveLength(1);
      const { success: _, ...message } = await jsonOf(
        `/api/v1/quarantine/${answers.quarantine.entries[0].id}`,
      );
      const listed = JSON.parse((await runCommand(runtime, place, ["keys", "list", "--json"])).out);
      const bound = listed.find(({ deviceId }: { deviceId: string | null }) => deviceId === "anna/1");

      const expectAll = (path: string) => {
        const files = unzipped(path);
        expect(files["records/as-shown.csv"]).toBe(answers.shown);
        expect(files["records/as-reported.gpx"]).toBe(answers.reported);
        const { features } = JSON.parse(files["records/as-reported.geojson"]!);
        expect(features).toHaveLength(400);
        expect(JSON.parse(files["profiles.json"]!)).toEqual([
          { device_id: "anna/1", ...answers.profile.profile },
        ]);
        expect(JSON.parse(files["corrections.json"]!)).toEqual(answers.corrections.corrections);
        expect(JSON.parse(files["quarantine.json"]!)).toEqual([message]);
        expect(JSON.parse(files["keys.json"]!)).toMatchObject([
          { id: bound.id, device_id: "anna/1", last_four: bound.lastFour, created: bound.createdMs },
        ]);
        expect(files["README.txt"]).toContain('What is stored about user "anna"');
        expect(Object.values(files).join("")).not.toContain("bert");
      };
      const complete = ["export", "--complete", "--user", "anna"];
      const served = join(place.directory, "served.zip");
      const asked = ["--url", client.url, "--key", client.key];
      expect((await runCommand(runtime, place, [...complete, ...asked, "--out", served])).code).toBe(0);
      expectAll(served);
      await server.stop();
      const own = join(place.directory, "own.zip");
      const direct = await runCommand(runtime, place, [...complete, "--app", "default", "--out", own]);
      expect(direct.code).toBe(0);
      expectAll(own);
    });
  });
}

import { afterEach, beforeEach, describe, expect } from "bun:test";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  runCommand,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { get, store } from "../support/client.ts";
import { test, testOnBunAlone } from "../support/process-test.ts";

/*
 * Goal: a data directory has one owner and gives away no secret, and its keys act on the server that runs.
 * Method: the real process and the real commands beside it, on a directory that was not there before.
 */

const PATH = "/api/v1/locations/current";
const KEY_FILE_TROUBLE = /"msg":"Keys: .*keys\.json.*every key is unknown/m;
const A_KEY = /wh_[0-9A-Za-z]{40,}/;

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    let place: Place;

    beforeEach(() => {
      place = openPlace();
    });
    afterEach(() => closePlace(place));

    test("a first start leaves a key for its owner alone, and says no secret", async () => {
      const server = await startReady(runtime, place);
      const key = readFirstKey(place);
      expect(key).toMatch(A_KEY);
      await store({ url: server.url, key }, [report(1)]);
      expect((await get({ url: server.url, key }, PATH)).status).toBe(200);
      expect((await get({ url: server.url, key: key.replace(/.$/, "~") }, PATH)).status).toBe(401);
      const page = await (await fetch(`${server.url}/docs/ui`)).text();
      const assets = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path);
      expect(assets.length).toBeGreaterThan(1); // Files of a package, which the process must be let read.
      for (const path of assets) expect((await fetch(`${server.url}${path}`)).status).toBe(200);
      const { code, out, error } = await server.stop();
      expect(code).toBe(0);
      expect(out).toContain(`The first key is in ${join(place.dataDir, "first-key")}\n`);
      expect(out + error).not.toMatch(A_KEY);
      for (const [path, mode] of modesBelow(place.dataDir)) expect([path, mode]).toEqual([path, "private"]);
    });

    test("a second process is refused by the holder's name, until the holder is killed", async () => {
      const server = await startReady(runtime, place);
      const file = join(place.directory, "one.csv");
      writeFileSync(file, `device_id,timestamp,latitude,longitude\na,${Date.now()},1,2\n`);
      for (const other of RUNTIMES) {
        for (const args of [
          ["serve", "--port", "0"],
          ["import", file, "--app", "default"],
        ]) {
          const refused = await runCommand(other, place, args);
          expect([refused.code, refused.out]).toEqual([1, ""]);
          expect(refused.error).toContain(
            `is in use by process ${server.pid} (serve), which listens at ${server.url}.`,
          );
          expect(refused.error).toContain(place.dataDir);
        }
      }
      expect((await fetch(`${server.url}/ready`)).status).toBe(200);
      server.kill("SIGKILL");
      await server.ended;
      for (const other of RUNTIMES) expect((await (await startReady(other, place)).stop()).code).toBe(0);
    });

    test("keys made and revoked beside the server act on it", async () => {
      const server = await startReady(runtime, place);
      const args = ["keys", "create", "--app", "default", "--permission", "read"];
      const key = (await runCommand(runtime, place, args)).out.trim();
      await untilAnswered({ url: server.url, key }, 200, null);
      const listed = await runCommand(runtime, place, ["keys", "list", "--json"]);
      const id = JSON.parse(listed.out).at(-1).id;
      await runCommand(runtime, place, ["keys", "revoke", id]);
      await untilAnswered({ url: server.url, key }, 401, "REVOKED_API_KEY");
    });

    // The lock and the modes of files are each runtime's own; what is made of keys and of words is not.
    const testOnBun = testOnBunAlone(runtime);

    testOnBun("a damaged key file makes every key unknown and is said, until it is whole again", async () => {
      const server = await startReady(runtime, place);
      const client = { url: server.url, key: readFirstKey(place) };
      const path = join(place.dataDir, "keys.json");
      const whole = readFileSync(path);
      writeFileSync(path, whole.subarray(0, whole.length / 2));
      await untilAnswered(client, 401, "INVALID_API_KEY");
      await server.says(KEY_FILE_TROUBLE);
      writeFileSync(path, whole);
      await untilAnswered(client, 200, null);
    });

    testOnBun("data whose key file is gone gets no new key, and the server says why", async () => {
      const first = await startReady(runtime, place);
      const key = readFirstKey(place);
      await store({ url: first.url, key }, [report(1)]);
      await first.stop();
      for (const name of ["keys.json", "first-key"]) rmSync(join(place.dataDir, name));

      const server = await startReady(runtime, place);
      expect(server.error).toMatch(KEY_FILE_TROUBLE);
      await untilAnswered({ url: server.url, key }, 401, "INVALID_API_KEY");
      await server.stop();
      expect(readdirSync(place.dataDir)).not.toContain("keys.json");
      expect(readdirSync(place.dataDir)).not.toContain("first-key");
      expect(server.out).not.toContain("first key");
    });

    test("a wrong command line ends with 2, a port in use with 1 and the first key kept, each said in a line or two", async () => {
      for (const args of [["serve", "--port", "many"], ["serve", "--prot", "1"], ["sevre"]]) {
        const wrong = await runCommand(runtime, place, args);
        expect([wrong.code, wrong.out]).toEqual([2, ""]);
        expect(wrong.error).toMatch(/^[A-Z-].*\.\nTry: .* --help\n$/);
      }
      const holder = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
      const { port } = holder;
      const refused = await runCommand(runtime, place, ["serve", "--port", String(port)]);
      await holder.stop();
      expect([refused.code, refused.out]).toEqual([1, ""]);
      expect(JSON.parse(refused.error.split("\n")[0]!)).toMatchObject({
        level: "error",
        event: "failed",
        msg:
          `Cannot listen on 127.0.0.1:${port}: the port is in use. ` +
          "Stop the program that uses it, or choose another with --port.",
      });
      const server = await startReady(runtime, place);
      expect((await get({ url: server.url, key: readFirstKey(place) }, PATH)).status).toBe(200);
    });
  });
}

function report(number: number) {
  return { device_id: "a", timestamp: Date.now() - number, latitude: 1, longitude: 2 };
}

/** Asks with the key until the answer is this. */
function untilAnswered(
  client: { url: string; key: string },
  status: number,
  error: string | null,
): Promise<void> {
  return until(async () => {
    const response = await get(client, PATH);
    const body = (await response.json()) as { error?: string };
    return response.status === status && (body.error ?? null) === error;
  });
}

/** Everything of a directory and itself; `private` is 0700 for directories and 0600 for files. */
function modesBelow(directory: string): [path: string, mode: string][] {
  const names = ["", ...readdirSync(directory, { recursive: true, encoding: "utf8" })];
  return names.map((name) => {
    const found = statSync(join(directory, name));
    const mode = found.mode & 0o777;
    return [name, mode === (found.isDirectory() ? 0o700 : 0o600) ? "private" : mode.toString(8)];
  });
}

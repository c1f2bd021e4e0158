import { afterAll, describe, expect } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EventReader } from "../../support/event-reader.ts";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  runCommand,
  startReady,
} from "../../support/server-process.ts";
import { OPERATIONS, plainPath } from "../../unit/security/support/operations.ts";
import { untilKnown } from "../support/client.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: what opens the door is shown once and kept nowhere, and what lies on the disk is its owner's alone. Method:
 * the real program under a umask that forbids nothing goes through its whole life; then every file's mode, and every
 * word that it said, are looked at.
 */

const MS_PER_DAY = 86_400_000;
const umaskBefore = process.umask(0);
afterAll(() => process.umask(umaskBefore));

describe.each([...RUNTIMES])("on $name", (runtime) => {
  const place: Place = openPlace();
  afterAll(() => closePlace(place));
  /** All that was said by anybody, but the keys that `keys create` hands over. */
  const said: string[] = [];
  const keys: string[] = [];

  async function run(args: readonly string[], files: readonly string[] = []) {
    const ended = await runCommand(runtime, place, args, files);
    // What to type into an app may have the key in it, as a URL does.
    said.push(args.includes("--for") ? "" : ended.error, args[1] === "create" ? "" : ended.out);
    return ended;
  }

  async function createKey(...permissions: string[]): Promise<string> {
    return createKeyWith(permissions.flatMap((permission) => ["--permission", permission]));
  }

  async function createKeyWith(flags: readonly string[]): Promise<string> {
    const { out } = await run(["keys", "create", "--app", "default", ...flags]);
    keys.push(out.trim());
    return out.trim();
  }

  test("a whole life leaves the keys unsaid: requests of every kind, commands, a damaged file, a second start", async () => {
    let server = await startReady(runtime, place, ["--log-level", "debug"]);
    keys.push(readFirstKey(place));
    const writer = await createKey("write");
    const operator = await createKey("operate");
    const ofPhone = await createKeyWith([
      "--for",
      "traccar",
      "--device",
      "pixel7",
      "--url",
      "https://h.example",
    ]);
    for (const key of [writer, operator, ofPhone]) await untilKnown({ url: server.url, key });

    expect(readFileSync(`/proc/${server.pid}/cmdline`, "utf8")).not.toContain("wh_");
    expect(readFileSync(`/proc/${server.pid}/environ`, "utf8")).not.toContain("wh_");
    const locations = [0, 10, 12].flatMap((days) =>
      ["bus", "tram"].map((device_id) => ({
        device_id,
        user_id: "ada",
        timestamp: Date.now() - days * MS_PER_DAY,
        latitude: 1,
        longitude: 2,
      })),
    );
    const answers: string[] = [];
    const ask = async (path: string, key: string, init: RequestInit = {}) => {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const response = await fetch(`${server.url}${path}`, { ...init, headers });
      answers.push(JSON.stringify([...response.headers]) + (await beginningOf(response)));
      return response;
    };
    const posted = await ask("/ingest/v1/locations", writer, {
      method: "POST",
      body: JSON.stringify({ locations }),
    });
    expect(posted.status).toBe(200);
    for (const named of OPERATIONS.filter(({ method }) => method === "GET")) {
      for (const key of [...keys, "wh_wrong", "x y"]) await ask(plainPath(named, "bus", "ada"), key);
      await ask(`${named.path}?key=${operator}&access_token=${writer}`, "wrong");
    }
    await ask("/ingest/v1/locations", keys[0]!, { method: "POST", body: "{" });
    said.push(server.out, (await server.stop()).error);

    const csv = join(place.directory, "more.csv");
    writeFileSync(
      csv,
      `device_id,timestamp_ms,latitude,longitude\nferry,${Date.now() - 9 * MS_PER_DAY},1,2\n`,
    );
    expect(await run(["import", csv, "--app", "default"], [csv])).toMatchObject({ code: 0 });
    expect(await run(["seal"])).toMatchObject({ code: 0 });
    const [id = ""] = /k_\w{8}/.exec((await run(["keys", "list"])).out) ?? [];
    expect((await run(["keys", "list", "--json"])).out).not.toContain("sha256");
    expect((await run(["keys", "revoke", id])).code).toBe(0);
    expect((await run(["verify"])).code).toBe(0);
    mkdirSync(join(place.directory, "copies"), { mode: 0o700 });
    expect((await run(["backup", join(place.directory, "copies", "backup")])).code).toBe(0);

    const part = readdirSync(join(place.dataDir, "archive"), { recursive: true, encoding: "utf8" }).find(
      (name) => /^day=.*\.parquet$/.test(name),
    )!;
    writeFileSync(join(place.dataDir, "archive", part), "damaged");
    server = await startReady(runtime, place, ["--log-level", "debug"]);
    const start = new Date(Date.now() - 20 * MS_PER_DAY).toISOString().slice(0, 10);
    const reader = await createKey("read");
    await untilKnown({ url: server.url, key: reader });
    const failed = await ask(`/api/v1/locations/history?start_date=${start}`, reader);
    expect(failed.status).toBe(500);
    expect(answers.at(-1)).not.toMatch(/parquet|\.ts\b|\/tmp|\bat \w+|duckdb/i);
    said.push(server.out, (await server.stop()).error);
    expect((await run(["verify", "--json"])).code).toBe(1);

    const words = [...said, ...answers].join("\n");
    expect(words.length).toBeGreaterThan(20_000);
    const hashes = [
      ...readFileSync(join(place.dataDir, "keys.json"), "utf8").matchAll(/"sha256": "(\w{64})"/g),
    ];
    expect([keys.length, hashes.length]).toEqual([5, 5]);
    for (const key of keys) expect(words).not.toContain(key.slice(3, 20));
    for (const [, hash] of hashes) expect(words).not.toContain(hash!.slice(0, 20));
    for (const answer of answers) expect(answer).not.toContain(place.directory);
  });

  test("every file and folder is its owner's alone, whatever the umask", () => {
    const folders = [place.dataDir, join(place.directory, "copies", "backup")];
    const open: string[] = [];
    let seen = 0;
    for (const folder of folders) {
      for (const name of ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })]) {
        const { mode } = statSync(join(folder, name));
        if ((mode & 0o077) !== 0) open.push(`${join(folder, name)} ${(mode & 0o777).toString(8)}`);
        seen++;
      }
    }
    expect(open).toEqual([]);
    expect(seen).toBeGreaterThan(20);
  });

  test("no file but first-key holds a key's text", () => {
    for (const name of readdirSync(place.directory, { recursive: true, encoding: "utf8" })) {
      const path = join(place.directory, name);
      if (!statSync(path).isFile()) continue;
      const content = readFileSync(path, "latin1");
      const held = keys.filter((key) => content.includes(key));
      expect(held.length, name).toBe(name === "data/first-key" ? 1 : 0);
    }
  });
});

/** The whole of an answer, or the first event of one that has no end. */
async function beginningOf(response: Response): Promise<string> {
  if (response.headers.get("content-type") !== "text/event-stream") return response.text();
  const reader = new EventReader(response);
  await reader.next();
  await reader.cancel();
  return reader.text;
}

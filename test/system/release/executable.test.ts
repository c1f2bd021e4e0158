import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assetPaths } from "../../../deploy/release/assets.ts";
import { type Architecture, buildExecutable } from "../../../deploy/release/executable.ts";
import { partsFor } from "../../../deploy/release/packages.ts";
import {
  closePlace,
  openPlace,
  type Place,
  type Runtime,
  readFirstKey,
  runCommand,
  startReady,
} from "../../support/server-process.ts";
import { get, store } from "../support/client.ts";

/*
 * Goal: one file runs without the project: it serves, archives, exports and backs up with what is inside of it.
 * Method: the real executable, built here, in empty folders. `WHEREHOUSE_TEST_EXECUTABLE` runs the tests of processes
 * and phones with one, too (CONTRIBUTING.md).
 */

const isHere = process.platform === "linux";
if (!isHere) console.warn("Left out: the executable, which runs on Linux alone.");

const MS_PER_DAY = 86_400_000;
const BUS = join(import.meta.dir, "../../../data/samples/bus_liverpool_route14_20260126.csv.gz");

interface Facts {
  readonly world: { readonly tiles: string };
}

let folder: string;
let executable: Runtime;
let place: Place;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "wherehouse-executable-"));
  const path = join(folder, "wherehouse");
  const architecture = process.arch as Architecture;
  if (isHere) await buildExecutable({ architecture, outfile: path, ...partsFor(architecture) });
  executable = { name: "Bun", command: () => [path] };
  place = openPlace();
});
afterAll(async () => {
  await closePlace(place);
  rmSync(folder, { recursive: true });
});

test.if(isHere)(
  "it has all files that the page and the documents need, and prints its own name",
  async () => {
    const server = await startReady(executable, place);
    const paths = ["/map", "/docs/ui", "/docs"];
    const known = new Set(paths);
    for (const path of paths) {
      const answer = await fetch(server.url + path);
      expect([path, answer.status]).toEqual([path, 200]);
      const text = await answer.text();
      for (const [, next] of text.matchAll(
        /"(\/(?:map\/(?:app|packages)|docs\/ui)\/[^"]+\.(?:js|mjs|ts|css|svg|png))"/g,
      ))
        if (!known.has(next!)) {
          known.add(next!);
          paths.push(next!);
        }
    }
    expect(paths.length).toBeGreaterThan(12);
    const { world } = (await (await fetch(`${server.url}/map/base.json`)).json()) as Facts;
    const tile = world.tiles.replace("{z}/{x}/{y}", "0/0/0");
    expect((await fetch(server.url + tile)).status).toBe(200);
    await server.stop();
    expect(librariesIn(join(place.dataDir, "lib"))).toEqual([]); // Nothing is archived.
    const help = await runCommand(executable, place, ["--help"]);
    expect(help.out).toContain("Usage: wherehouse COMMAND [options]\n\n");
    expect(assetPaths().every((path) => existsSync(join(import.meta.dir, "../../..", path)))).toBe(true);
  },
);

test.if(isHere)("it takes reports, archives a day, and answers, exports and backs it up", async () => {
  const server = await startReady(executable, place, ["--seal-every", "1s"]);
  const client = { url: server.url, key: readFirstKey(place) };
  const timestamp = Date.now() - 9 * MS_PER_DAY;
  const report = { device_id: "tram", timestamp, latitude: 53, longitude: -2 };
  await store(client, [report]);
  const phone = { _type: "location", tid: "ab", lat: 53.1, lon: -2.1, tst: Math.floor(Date.now() / 1000) };
  const headers = { authorization: `Bearer ${client.key}`, "content-type": "application/json" };
  const sent = { method: "POST", headers, body: JSON.stringify(phone) };
  expect((await fetch(`${server.url}/ingest/owntracks?u=ann&d=phone`, sent)).status).toBe(200);
  const day = new Date(timestamp).toISOString().slice(0, 10);
  const history = `/api/v1/devices/tram/locations/history?start_date=${day}&end_date=${day}`;
  expect(await (await get(client, history)).json()).toMatchObject({ locations: [report] });
  const csv = await fetch(`${server.url}/api/v1/export?format=csv&start_date=${day}`, { headers });
  expect((await csv.text()).trim().split("\n")).toHaveLength(3);
  await server.stop();
  for (const [args, says] of [
    [["import", BUS, "--app", "default"], "1,533 new"],
    [["seal"], "Archived 1,534 records of 2 days"],
    [["backup", join(place.directory, "backup")], "Backed up"],
    [["verify"], "Nothing is damaged."],
  ] as const) {
    const { code, out, error } = await runCommand(executable, place, args);
    expect([args[0], code, out + error]).toEqual([args[0], 0, expect.stringContaining(says)]);
  }
  expect(existsSync(join(place.directory, "backup/lib"))).toBe(false);
});

/** The folder for them is named by their hash. */
function librariesIn(lib: string): string[] {
  return readdirSync(lib).flatMap((hash) => readdirSync(join(lib, hash)));
}

test.if(isHere)("libraries that were changed on the disk are written anew", async () => {
  const lib = join(place.dataDir, "lib");
  const [hash] = readdirSync(lib);
  const path = join(lib, hash!, "duckdb.node");
  const before = readFileSync(path);
  chmodSync(path, 0o600);
  writeFileSync(path, "something else");
  expect((await runCommand(executable, place, ["verify"])).code).toBe(0);
  expect(readFileSync(path).equals(before)).toBe(true);
});

test.if(isHere)("a folder that can't have libraries is named, with the way out", async () => {
  const file = join(place.directory, "file");
  writeFileSync(file, "");
  process.env.WHEREHOUSE_LIB_DIR = file;
  try {
    const { code, error } = await runCommand(executable, place, ["seal"]);
    expect(code).toBe(1);
    expect(error).toMatch(/^Cannot /);
    expect(error).toContain(file);
  } finally {
    delete process.env.WHEREHOUSE_LIB_DIR;
  }
});

const noExec = mkdtempSync(join(tmpdir(), "wherehouse no exec "));
const canMount = spawnSync("mount", ["-t", "tmpfs", "-o", "noexec", "tmpfs", noExec]).status === 0;
if (!canMount) console.warn("Left out: a disk that runs no programs, which needs root.");
afterAll(() => {
  if (canMount) spawnSync("umount", [noExec]);
  rmSync(noExec, { recursive: true });
});

test.if(isHere && canMount)("a server does not start over a disk that runs no programs", async () => {
  const directory = join(noExec, "place");
  const { code, error } = await runCommand(executable, { directory, dataDir: join(directory, "data") }, [
    "serve",
    ...["--port", "0"],
  ]);
  expect([code, error]).toEqual([1, expect.stringContaining("set WHEREHOUSE_LIB_DIR to one elsewhere")]);
});

test("it knows the script of each helper process", () => {
  const root = join(import.meta.dir, "../../..");
  const entry = readFileSync(join(root, "deploy/release/entry.ts"), "utf8");
  const scripts = readdirSync(join(root, "src/app")).filter((name) =>
    readFileSync(join(root, "src/app", name), "utf8").includes("openHelperPort("),
  );
  expect(scripts.length).toBeGreaterThan(2);
  expect(
    scripts.filter((name) => !entry.includes(`"/src/app/${name}": () => import("../../src/app/${name}")`)),
  ).toEqual([]);
});

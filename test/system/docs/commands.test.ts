import { afterAll, beforeAll, expect } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import {
  closePlace,
  openPlace,
  RUNTIMES,
  readFirstKey,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { test } from "../support/process-test.ts";

/* What the pages say to type, typed: their commands have to work on any day. */

const ROOT = join(import.meta.dir, "../../..");
/** Folders that pages begin, by the name that they have in the test. */
const FOLDERS = {
  "data/local-sample": "sample",
  "data/local-export": "export",
  "/mnt/backup/wherehouse": "backup",
  "/var/lib/wherehouse-new": "restored",
};

const place = openPlace();
const directory = mkdtempSync(join(tmpdir(), "wherehouse-docs-"));
let server: ServerProcess;
let environment: Record<string, string | undefined> = {};

beforeAll(async () => {
  server = await startReady(RUNTIMES[0]!, place);
  environment = {
    ...process.env,
    WHEREHOUSE_DATA_DIR: join(directory, "client"),
    WHEREHOUSE_KEY: readFirstKey(place),
  };
});

afterAll(async () => {
  await closePlace(place);
  rmSync(directory, { recursive: true });
});

function blocksOf(page: string, language: string): string[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))].map(
    ([, block]) => block!,
  );
}

/** What is typed after each prompt, with the lines that it goes on in. */
function typedIn(block: string): string {
  return [...block.matchAll(/^\$ ((?:.*\\\n)*.*)/gm)].map(([, command]) => command).join("\n");
}

/** The page's folders and address become those of this test, and npm's way to the program Bun's. */
function here(text: string): string {
  const typed = text
    .replaceAll("http://127.0.0.1:3000", server.url)
    .replaceAll("npm run --silent cli --", `"${process.execPath}" src/main.ts`);
  return Object.entries(FOLDERS).reduce(
    (moved, [path, name]) => moved.replaceAll(path, join(directory, name)),
    typed,
  );
}

/** Runs commands in one shell and returns what they print, line by line. */
async function type(commands: string): Promise<string[]> {
  const shell = Bun.spawn(["sh", "-euc", here(commands)], {
    cwd: ROOT,
    env: environment,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, error] = await Promise.all([
    new Response(shell.stdout).text(),
    new Response(shell.stderr).text(),
  ]);
  expect([await shell.exited, error]).toEqual([0, expect.any(String)]);
  return out.trimEnd().split("\n");
}

test("README.md: a phone reports, and is where it said", async () => {
  const commands = blocksOf("README.md", "console").map(typedIn);
  expect(commands[0]).toBe("npm start");
  const [exported = "", ...rest] = commands.slice(1).join("\n").split("\n");
  expect(exported).toBe("export WHEREHOUSE_KEY=wh_...");
  const out = await type(rest.join("\n"));
  const [stored, current] = out.join("").replace("}{", "}\n{").split("\n"); // curl ends no line.
  expect(JSON.parse(stored!)).toMatchObject({ accepted: 1, rejected: [] });
  expect(JSON.parse(current!)).toMatchObject({ location: { device_id: "phone-1", latitude: 53.4 } });
});

test("docs/start.md: the sample is imported, a bus is nearby, and a phone reports", async () => {
  const commands = blocksOf("docs/start.md", "console").map(typedIn);
  expect(commands[0]).toBe("npm start");
  const [exported = "", ...rest] = commands.slice(1).join("\n").split("\n");
  expect(exported).toBe("export WHEREHOUSE_KEY=wh_...");
  const out = await type(rest.join("\n"));
  expect(out.slice(0, 3).join("\n")).toContain("1,533 read   1,533 new   0 already there   0 skipped");
  const [nearby, stored] = out.at(-1)!.replace("}{", "}\n{").split("\n");
  expect(JSON.parse(nearby!)).toMatchObject({ results: [{ device_id: "4841" }] });
  // README.md has the same phone report, perhaps in the same second.
  const { accepted, duplicates, rejected } = JSON.parse(stored!);
  expect([accepted + duplicates, rejected]).toEqual([1, []]);
});

test("docs/asking.md: every question about the sample has an answer that is not empty", async () => {
  const out = await type(blocksOf("docs/asking.md", "sh").join("\n"));
  const [current, history, nearby, places, all, known] = out.map((line) => JSON.parse(line));
  expect(current.location.local_time).toMatch(/^\d{4}-\d\d-\d\dT/);
  expect(history.locations).toHaveLength(2);
  expect(history.distance_travelled.miles).toBeGreaterThan(10);
  expect(nearby.results.length).toBeGreaterThan(2);
  for (const { location } of places.results)
    expect(Object.keys(location)).toEqual(["device_id", "timestamp", "latitude", "longitude"]);
  expect(places.results.length).toBe(nearby.results.length);
  expect(all.locations.length).toBeGreaterThan(2);
  expect(known.location.device_id).toBe("4836");
});

test("docs/maps.md: what is asked about the sample has answers", async () => {
  const out = await type(blocksOf("docs/maps.md", "sh").join("\n"));
  const answers = out.map((line) => JSON.parse(line));
  const [columns] = answers;
  expect(columns.device_id.length).toBeGreaterThan(2);
  expect(columns.bearing).toHaveLength(columns.device_id.length);
  const series = answers.find(({ bearing_max }) => bearing_max !== undefined);
  expect(series.bearing_max.length).toBeGreaterThan(20);
  const { stops, distance_meters } = answers.find((answer) => answer.stops !== undefined);
  expect(stops).toMatchObject([{ latitude: 53.4413505, longitude: -2.9326377, positions: 16 }]);
  expect(distance_meters).toBeCloseTo(20_631.155, 2);
  const { days } = answers.find((answer) => answer.days !== undefined);
  expect(days.at(-1).reports).toBeGreaterThan(0);
  expect(days.at(-1).distance_meters).toBeGreaterThan(0);
  const { count } = answers.find((answer) => answer.count !== undefined);
  expect(count.reduce((sum: number, each: number) => sum + each)).toBeGreaterThan(100);
  expect(answers.at(-1)).toBeGreaterThan(100); // The bytes of a tile.
});

test("docs/live.md: a stream is heard, and one goes on behind a snapshot", async () => {
  const streams = blocksOf("docs/live.md", "sh").map((block) =>
    block.replace(/curl /, "curl --max-time 3 ").replace(/(\n|; )?$/, " || [ $? = 28 ]\n"),
  );
  expect(streams).toHaveLength(3);
  for (const [index, member] of ["locations", "locations", "events"].entries())
    expect((await type(streams[index]!)).join("\n")).toMatch(
      new RegExp(`^retry: \\d+\\nid: \\d+\\ndata: \\{"${member}":\\[\\]\\}`),
    );
});

test("docs/sending.md: a report, a packed batch, a look at what was rejected, and a file are taken in", async () => {
  const [single = "", batch = "", look = "", file = ""] = blocksOf("docs/sending.md", "sh");
  expect(JSON.parse((await type(single))[0]!)).toMatchObject({ accepted: 1, rejected: [] });
  expect(JSON.parse((await type(batch))[0]!)).toMatchObject({ accepted: 3, rejected: [] });
  expect(await type(look)).toEqual(["stored"]);
  expect((await type(look.replace('"latitude":53.4', '"latitude":534')))[0]).toStartWith(
    "not all was stored: {",
  );
  expect((await type(file)).join("\n")).toMatch(/liverpool.* 1,533 /s);
});

test("docs/exporting.md: a second directory made from an export has the same records", async () => {
  const [first, second] = (await type(blocksOf("docs/exporting.md", "sh")[0]!)).slice(-2);
  expect(first).toMatch(/^SHA-256 of all records +[0-9a-f]{64}$/);
  expect(second).toBe(first!);
  const [end] = await type(blocksOf("docs/exporting.md", "sh")[1]!);
  expect(end).toBe("]}");
});

test("docs/importing.md: a file is looked at, then imported into a directory of its own", async () => {
  const [look = "", imported = ""] = blocksOf("docs/importing.md", "sh");
  expect((await type(look))[0]).toMatch(/ 1,533 read +1,533 usable +0 skipped$/);
  const trial = imported.replace("data/trial", join(directory, "trial"));
  expect((await type(trial))[0]).toMatch(/ 1,533 read +1,533 new +0 already there +0 skipped$/);
});

test("docs/clients.md: a key is made for a phone, each app is taken in, and the ways to look find them", async () => {
  const blocks = blocksOf("docs/clients.md", "sh");
  const [key = ""] = await type(blocks[0]!);
  expect(key).toMatch(/^wh_[0-9A-Za-z]{49}$/);
  const answers: string[] = [];
  const sent = blocks.slice(1).filter((block) => block.includes("/ingest/"));
  for (const block of sent) answers.push((await type(block))[0]!);
  expect(answers).toEqual(["[]", '{"result":"ok"}', "", "", "", "", "{}", '{"done":1,"friends":[]}']);
  const [look = "", doctor = "", quarantine = ""] = blocks.slice(1).filter((block) => !sent.includes(block));
  const { requests } = JSON.parse((await type(look))[0]!);
  expect(requests[0].newest).toMatchObject({ device_id: "anna:pixel", speed: 13.056, battery_level: 81 });
  await type(`${doctor.trim()} || [ $? = 1 ]`); // The sample came twice by now, and it says so.
  await type(quarantine);
});

test("docs/archive.md: the sample is archived at once, and DuckDB finds its days, a bus and cells", async () => {
  await type(blocksOf("docs/archive.md", "sh")[0]!);
  const connection = await (await DuckDBInstance.create()).connect();
  const statements = here(blocksOf("docs/archive.md", "sql")[0]!).split(";\n");
  const tables: unknown[][][] = [];
  for (const statement of statements.filter((text) => text.trim() !== "")) {
    tables.push((await connection.runAndReadAll(statement)).getRows());
  }
  const [, overall, bus, cells] = tables;
  expect(overall![0]!.slice(0, 3)).toEqual(["default", 1533n, 8n]);
  expect(bus).toHaveLength(187);
  expect(cells).toHaveLength(7);
});

/** The commands beside the server of these tests, by the name that pages for operators give the program. */
function besideServer(commands: string): string {
  return `export WHEREHOUSE_DATA_DIR="${place.dataDir}"
wherehouse() { npm run --silent cli -- "$@"; }
${commands}`;
}

test("docs/backup.md: a backup is made, looked through and restored, all with the same records", async () => {
  const [backup = "", verify = "", restore = ""] = blocksOf("docs/backup.md", "sh");
  expect((await type(besideServer(backup)))[0]).toMatch(/^Backed up \d+ files?, .*, up to sequence \d+: /);
  const [saved] = sumsIn(await type(besideServer(verify)));
  expect(sumsIn(await type(besideServer(restore)))).toEqual([saved!]);
  expect(saved).toMatch(/ [0-9a-f]{64}$/);
});

function sumsIn(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => line.startsWith("SHA-256 of all records"));
}

test("docs/keys.md: keys are made and listed, and links sign in and share", async () => {
  const [keys = "", link = "", share = ""] = blocksOf("docs/keys.md", "sh");
  const [first, second, ...list] = await type(besideServer(keys));
  expect([first, second]).toEqual([expect.stringMatching(/^wh_/), expect.stringMatching(/^wh_/)]);
  expect(list.join("\n")).toContain("anna");
  expect((await type(besideServer(link)))[0]).toMatch(/^https:\/\/example\.org\/map#code=/);
  expect((await type(besideServer(share)))[0]).toMatch(/^wh_/);
});

test("docs/retention.md: the retention is set beside the server", async () => {
  const [set = ""] = blocksOf("docs/retention.md", "sh");
  expect((await type(besideServer(set))).join("\n")).toMatch(/^retention +10y +365d /m);
});

const PYTHON = Bun.which("python3");

test.each(["pandas", "polars"])("docs/archive.md: %s reads the archived sample", async (library) => {
  const imports = `import ${library}${library === "pandas" ? ", pyarrow" : ""}`;
  if (PYTHON === null || Bun.spawnSync([PYTHON, "-c", imports]).exitCode !== 0) {
    console.warn(`Left out: the archive in ${library}, since python3 has no such package.`);
    return;
  }
  const block = blocksOf("docs/archive.md", "python").find((text) => text.includes(`import ${library}`))!;
  const run = Bun.spawnSync([PYTHON, "-c", here(block)], { cwd: ROOT, stdout: "pipe", stderr: "pipe" });
  expect(run.stderr.toString()).toBe("");
  expect(run.stdout.toString()).toMatch(/4836\D+187\b/);
});

import { expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "../support/fast-check.ts";
import { SAMPLES } from "../support/formats/read-file.ts";
import { zipOf } from "../support/formats/zip.ts";
import { RUNTIMES, type Runtime } from "../support/server-process.ts";
import { untilKnown } from "../system/support/client.ts";
import { finished, runCli, withDirectory } from "./support/run-cli.ts";
import { startServer } from "./support/start-server.ts";

/* Files of others from the command line: what comes in, what it says, and that nothing of it depends on the way. */

setDefaultTimeout(240_000); // Many processes, on a machine that may be busy.

interface Group {
  readonly file: string;
  readonly format: string;
  readonly read: number;
  readonly new: number;
  readonly already_there: number;
  readonly same_time: number;
  readonly skipped: number;
  readonly skips: readonly { readonly reason: string; readonly count: number }[];
}

/** Runs a command under a runtime, with all that a directory holds within its reach. */
async function run({ command }: Runtime, directory: string, ...args: string[]) {
  const child = Bun.spawn([...command({ directory, files: [SAMPLES] }), ...args], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, WHEREHOUSE_DATA_DIR: undefined, WHEREHOUSE_KEY: undefined },
  });
  return finished(child);
}

/** A directory that keeps everything, as whoever brings ten years needs it. */
async function keepForever(dataDir: string): Promise<void> {
  const set = await runCli("settings", "set", "retention", "forever", "--data-dir", dataDir);
  expect(set).toMatchObject({ code: 0 });
}

/** The SHA-256 of the records of each day, which tells all of them. */
async function daysOf(dataDir: string): Promise<unknown> {
  const { out, code } = await runCli("verify", "--json", "--data-dir", dataDir);
  expect(code).toBe(0);
  return JSON.parse(out).appDays;
}

/** Every sample, as folders and one archive have them; those that need columns named are left out. */
function layOut(directory: string): string {
  const folder = join(directory, "files");
  mkdirSync(folder);
  for (const name of readdirSync(SAMPLES)) {
    if (!["csv", "README.md"].includes(name))
      cpSync(join(SAMPLES, name), join(folder, name), { recursive: true });
  }
  const member = (path: string) => ({ path, content: readFileSync(join(SAMPLES, path)) });
  const zip = zipOf([member("csv/e7.csv"), member("csv/wherehouse.csv"), member("gpx/osmand-1.1.gpx")]);
  writeFileSync(join(folder, "archive.zip"), zip);
  return folder;
}

const OPTIONS = ["--app", "shop", "--timezone", "Europe/Berlin", "--json"];

test("every sample gives the same records on either runtime, directly, through a server, and again", () =>
  withDirectory(async (directory) => {
    const folder = layOut(directory);
    const days: unknown[] = [];
    const counts: unknown[] = [];
    for (const runtime of RUNTIMES) {
      const dataDir = join(directory, runtime.name);
      await keepForever(dataDir);
      const first = await run(runtime, directory, "import", folder, ...OPTIONS, "--data-dir", dataDir);
      expect(first).toMatchObject({ code: 1 }); // Of the file that is cut off in the middle.
      const groups: Group[] = JSON.parse(first.out).groups;
      counts.push(groups.map(({ file, format, read, skips }) => [file, format, read, skips]));
      for (const { read, skipped, ...group } of groups)
        expect(group.new + group.already_there + group.same_time + skipped).toBe(read);
      days.push(await daysOf(dataDir));
      await run(runtime, directory, "import", folder, ...OPTIONS, "--data-dir", dataDir);
      days.push(await daysOf(dataDir));
    }
    const dataDir = join(directory, "served");
    await keepForever(dataDir);
    const key = await runCli(
      "keys",
      "create",
      "--app",
      "shop",
      "--permission",
      "write",
      "--permission",
      "read",
      "--data-dir",
      dataDir,
    );
    const { child, url } = await startServer(dataDir);
    try {
      const server = ["--url", url, "--key", key.out.trim()];
      await untilKnown({ url, key: key.out.trim() });
      const client = join(directory, "client");
      const sent = await run(
        RUNTIMES[0]!,
        directory,
        "import",
        folder,
        ...OPTIONS,
        ...server,
        "--data-dir",
        client,
      );
      counts.push(
        JSON.parse(sent.out).groups.map(({ file, format, read, skips }: Group) => [
          file,
          format,
          read,
          skips,
        ]),
      );
    } finally {
      child.kill();
      await child.exited;
    }
    days.push(await daysOf(dataDir));
    for (const each of days) expect(each).toEqual(days[0]);
    for (const each of counts) expect(each).toEqual(counts[0]);
    expect((days[0] as unknown[]).length).toBeGreaterThan(10);
  }));

test("--dry-run says what is there and writes nothing", () =>
  withDirectory(async (directory) => {
    const dataDir = join(directory, "data");
    const records = join(SAMPLES, "google/Records.json");
    const seen = await runCli("import", records, "--dry-run", "--data-dir", dataDir);
    expect(seen.code).toBe(0);
    expect(seen.out).toMatch(/Records\.json +Google records +5 read +4 usable +1 skipped\n/);
    expect(seen.out).toContain("skipped: 1 without position\n");
    expect(seen.out).toMatch(/1 without position: \S+Records\.json @ byte [\d,]+\n/);
    expect(seen.out).toMatch(/T\S+Z … \S+Z, latitude -?[\d.]+ … -?[\d.]+, longitude -?[\d.]+ … -?[\d.]+\n/);
    expect(seen.error).toMatch(
      /\d of 4 points lie before 20\d\d-\d\d-\d\d, the edge of the 365 days kept here\./,
    );
    expect(readdirSync(directory)).toEqual([]);
  }));

test("--report has a line for each thing that was skipped", () =>
  withDirectory(async (directory) => {
    const report = join(directory, "skipped.ndjson");
    const gpx = join(SAMPLES, "gpx");
    const args = ["--app", "shop", "--skip-old", "--json", "--report", report];
    const { out } = await runCli("import", gpx, ...args, "--data-dir", join(directory, "data"));
    const lines = readFileSync(report, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const [group]: Group[] = JSON.parse(out).groups;
    expect(lines.length).toBe(group!.skipped);
    expect(lines[0]).toEqual({
      file: expect.stringContaining("apple-health-workout-route.gpx"),
      place: expect.any(Number),
      unit: "line",
      reason: "too_old",
    });
  }));

test("--report writes over no file that is to be imported", () =>
  withDirectory(async (directory) => {
    const file = join(directory, "old.csv");
    const text = "device_id,timestamp,latitude,longitude\na,1577836800000,1,2\n";
    writeFileSync(file, text);
    const dataDir = join(directory, "data");
    const args = ["import", file, "--app", "shop", "--skip-old", "--report", file, "--data-dir", dataDir];
    expect(await runCli(...args)).toMatchObject({ code: 2, error: expect.stringContaining("no report") });
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(existsSync(dataDir)).toBe(false);
  }));

test("what is no history is answered, what needs an option names it, and an empty folder has nothing", () =>
  withDirectory(async (directory) => {
    const sample = (path: string) => join(SAMPLES, path);
    const at = ["--app", "shop", "--data-dir", join(directory, "data")];
    const wrong = await runCli("import", sample("google/not-history-archive_browser.html"), ...at);
    expect(wrong).toMatchObject({ code: 1, out: "" });
    expect(wrong.error).toContain("is the index page of a Takeout; give the folder or Records.json.\n");
    const unzoned = await runCli("import", sample("traccar/positions.csv"), ...at);
    expect(unzoned).toMatchObject({ code: 2, out: "" });
    expect(unzoned.error).toContain(
      "has no time zone: say which one it is in, as with --timezone Europe/Berlin.\n",
    );
    const foreign = await runCli("import", sample("csv/semicolon-comma-decimals.csv"), ...at);
    expect(foreign).toMatchObject({ code: 2, out: "" });
    expect(foreign.error).toContain("--map latitude=COLUMN");
    const empty = join(directory, "empty");
    mkdirSync(empty);
    expect(await runCli("import", empty, ...at)).toEqual({
      code: 1,
      out: "",
      error: "There is nothing to import.\n",
    });
    expect(existsSync(join(directory, "data"))).toBe(false);
  }));

/** GeoJSON lines of a device that moves, some of which can't be used. */
function trackLines(name: string, points: number, startMs: number): string {
  return Array.from({ length: points }, (_, i) => {
    const coordinates = i % 7 === 3 ? [0, 0] : [13 + i / 1e5, 52 + i / 1e6];
    const properties = {
      timestamp: new Date(startMs + i * 1000).toISOString(),
      device_id: `${name}-${i % 3}`,
    };
    return `${JSON.stringify({ type: "Feature", geometry: { type: "Point", coordinates }, properties })}\n`;
  }).join("");
}

test("killed anywhere and begun again until it is through, it gives what it gives at once", () =>
  withDirectory(async (directory) => {
    const folder = join(directory, "files");
    mkdirSync(folder);
    const startMs = Date.now() - 5 * 86_400_000;
    for (const [index, name] of ["a", "b", "c"].entries())
      writeFileSync(join(folder, `${name}.geojsonl`), trackLines(name, 25_000, startMs + index * 1000));
    const args = ["import", folder, "--app", "shop", "--json", "--data-dir"];
    const once = join(directory, "once");
    const whole = await runCli(...args, once);
    expect(whole.code).toBe(0);
    const days = await daysOf(once);
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 300, max: 1800 }), { maxLength: 4 }), async (killsMs) => {
        const dataDir = join(directory, `run-${runs++}`);
        for (const killMs of killsMs) {
          const child = Bun.spawn([process.execPath, "src/main.ts", ...args, dataDir], {
            stdout: "ignore",
            stderr: "ignore",
          });
          const timer = setTimeout(() => child.kill("SIGKILL"), killMs);
          await child.exited;
          clearTimeout(timer);
        }
        const last = await runCli(...args, dataDir);
        expect(last.code).toBe(0);
        const counts = ({ out }: { out: string }) =>
          JSON.parse(out).groups.map(({ read, new: taken, already_there, same_time, skips }: Group) => [
            read,
            taken + already_there + same_time,
            skips,
          ]);
        expect(counts(last)).toEqual(counts(whole));
        expect(await daysOf(dataDir)).toEqual(days);
      }),
      { numRuns: 4 },
    );
  }));

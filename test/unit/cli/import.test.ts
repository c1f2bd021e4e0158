import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SAMPLES } from "../../support/formats/read-file.ts";
import { countsOf, daysOf, groupsOf, keepForever, layOutSamples, OPTIONS } from "./support/imports.ts";
import { runCli, startServer, withDirectory } from "./support/run-cli.ts";

/* Files of others from the command line: what comes in, what it says, and that nothing of it depends on the way. */

test("every sample gives the same records directly, again, and through a server", () =>
  withDirectory(async (directory) => {
    const folder = layOutSamples(directory);
    const dataDir = join(directory, "data");
    await keepForever(dataDir);
    const first = await runCli("import", folder, ...OPTIONS, "--data-dir", dataDir);
    expect(first).toMatchObject({ code: 1 }); // Of the file that is cut off in the middle.
    const groups = groupsOf(first);
    for (const { read, skipped, ...group } of groups)
      expect(group.new + group.already_there + group.same_time + skipped).toBe(read);
    const days = await daysOf(dataDir);
    expect(days.length).toBeGreaterThan(10);
    await runCli("import", folder, ...OPTIONS, "--data-dir", dataDir);
    expect(await daysOf(dataDir)).toEqual(days);

    const served = join(directory, "served");
    await keepForever(served);
    const permissions = ["--permission", "write", "--permission", "read"];
    const key = await runCli("keys", "create", "--app", "shop", ...permissions, "--data-dir", served);
    const server = await startServer(served);
    try {
      const target = ["--url", server.url, "--key", key.out.trim(), "--data-dir", join(directory, "client")];
      const sent = await runCli("import", folder, ...OPTIONS, ...target);
      expect(groupsOf(sent).map(countsOf)).toEqual(groups.map(countsOf));
    } finally {
      await server.stop();
    }
    expect(await daysOf(served)).toEqual(days);
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
      /\d of 4 points are from before 20\d\d-\d\d-\d\d, older than the retention of 365 days\./,
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
    const [group] = groupsOf({ out });
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
    expect(unzoned.error).toContain("has no time zone: set it, as with --timezone Europe/Berlin.\n");
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

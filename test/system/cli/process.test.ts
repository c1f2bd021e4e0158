import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../../package.json" with { type: "json" };
import { testDataPath } from "../../support/test-data.ts";
import { until } from "../../support/until.ts";
import { recordCount, sumsOf } from "../../unit/cli/support/imports.ts";
import { runCli, withDirectory } from "../../unit/cli/support/run-cli.ts";
import { fleetCsv } from "../../unit/import/support/inputs.ts";
import { finished, runProcess, startCli } from "./support/start-cli.ts";

/** The command line as a process: exit codes, pipes and signals. */

const BOSTON = "tracks/gtfsrt_mbta_20221122.csv.gz";
const BOSTON_ROWS = 498_840;
/** Enough for an import that can be stopped on its way. */
const EDITED_ROWS = 300_000;

function logBytes(dataDir: string): number {
  const log = join(dataDir, "wal");
  try {
    return readdirSync(log).reduce((sum, name) => sum + statSync(join(log, name)).size, 0);
  } catch {
    return 0; // Not there yet.
  }
}

/** Waits until the log has grown past this size. */
async function untilLogHas(
  dataDir: string,
  bytes: number,
  child: ReturnType<typeof startCli>,
): Promise<void> {
  await until(() => logBytes(dataDir) >= bytes || child.exitCode !== null);
  if (child.exitCode !== null) throw new Error(`It ended: ${(await finished(child)).error}`);
}

test("help and version go to standard output, mistakes to standard error", async () => {
  expect(await runProcess("--version")).toEqual({ code: 0, out: `${manifest.version}\n`, error: "" });
  expect(await runProcess("import", "--help")).toMatchObject({
    code: 0,
    error: "",
    out: expect.stringContaining("--shift-to-now"),
  });
  expect(await runProcess("import", "--nonsense")).toEqual({
    code: 2,
    out: "",
    error: "Unknown option --nonsense.\nTry: bun src/main.ts import --help\n",
  });
});

describe("pipes", () => {
  const csv = `device_id,timestamp,latitude,longitude\na,${Date.now()},1,2\n`;

  test("import and keys passphrase read what is piped into them", () =>
    withDirectory(async (directory) => {
      const at = ["--data-dir", join(directory, "data")];
      const args = ["import", "-", "--format", "csv", "--app", "shop", ...at];
      const imported = await finished(startCli(args, new Blob([csv])));
      expect([imported.code, sumsOf(imported.out)]).toEqual([0, [1, 0, 0]]);
      expect(await finished(startCli(args, new Blob(["nonsense\n"])))).toMatchObject({ code: 2 });
      const id = /k_\w{8}/.exec((await runCli("keys", "list", ...at)).out)![0];
      const set = await finished(startCli(["keys", "passphrase", id, ...at], new Blob(["hunter2\n"])));
      expect(set).toMatchObject({ code: 0, out: "" });
      expect(readFileSync(join(directory, "data/pass-phrases.json"), "utf8")).toContain('"hunter2"');
    }));

  test("a reader that has seen enough of an export is no failure", () =>
    withDirectory(async (directory) => {
      const at = ["--app", "shop", "--data-dir", join(directory, "data")];
      const file = join(directory, "fleet.csv");
      writeFileSync(file, fleetCsv(20_000, Date.now() - 86_400_000));
      expect(await runCli("import", file, ...at)).toMatchObject({ code: 0 });
      const child = startCli(["export", "--format", "ndjson", ...at]);
      await child.stdout.cancel();
      expect(await child.exited).toBe(0);
    }));
});

describe("import", () => {
  test("begins anew where the file was edited since, be it one byte in its middle", () =>
    withDirectory(async (directory) => {
      const dataDir = join(directory, "data");
      const file = join(directory, "fleet.csv");
      const text = fleetCsv(EDITED_ROWS, Date.now() - 5 * 86_400_000);
      writeFileSync(file, text);
      const args = ["import", file, "--app", "shop", "--data-dir", dataDir];
      const child = startCli(args);
      await untilLogHas(dataDir, 300_000, child);
      child.kill("SIGINT");
      expect((await finished(child)).error).toContain("Repeat the same command");
      const rowInTheMiddle = "\nd1,";
      const at = text.indexOf(rowInTheMiddle, 100_000);
      writeFileSync(file, `${text.slice(0, at)}\nx1,${text.slice(at + rowInTheMiddle.length)}`);
      const rest = await runCli(...args);
      expect([rest.code, rest.error.includes("Going on")]).toEqual([0, false]);
      const { appDays } = JSON.parse((await runCli("verify", "--json", "--data-dir", dataDir)).out);
      const records = (appDays as { records: number }[]).reduce((sum, day) => sum + day.records, 0);
      expect(records).toBe(EDITED_ROWS + 1);
    }));

  for (const signal of ["SIGKILL", "SIGINT"] as const) {
    test(`goes on after ${signal}, with nothing lost and nothing twice`, () =>
      withDirectory(async (dataDir) => {
        const file = testDataPath(BOSTON);
        if (file === null) return;
        const args = ["import", file, "--app", "shop", "--shift-to-now", "--data-dir", dataDir];
        const child = startCli(args);
        await untilLogHas(dataDir, 1_000_000, child);
        child.kill(signal);
        const cut = await finished(child);
        if (signal === "SIGINT") {
          expect(cut.code).toBe(1);
          expect(cut.error).toContain("The import was interrupted.\nRepeat the same command");
        }
        expect(readdirSync(join(dataDir, "imports"))).toContainEqual(
          expect.stringMatching(/^[0-9a-f]{16}\.json$/),
        );

        const rest = await runCli(...args);
        expect(rest.code).toBe(0);
        expect(rest.error).toContain("Continuing the import");
        const [accepted, duplicates, rejected] = sumsOf(rest.out);
        expect([accepted! + duplicates!, rejected]).toEqual([BOSTON_ROWS, 0]);
        expect(await recordCount(dataDir)).toBe(BOSTON_ROWS);
      }));
  }
});

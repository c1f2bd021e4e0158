import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { testDataPath } from "../../support/test-data.ts";
import { until } from "../../support/until.ts";
import { fleetCsv } from "../import/support/inputs.ts";
import { recordCount, sumsOf } from "./support/imports.ts";
import { beginCli, runCli, startServer, withDirectory } from "./support/run-cli.ts";

/** What `import` writes, what it says, and how it ends. */

async function statusOf(url: string, key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${url}/api/v1/locations/current`, { headers })).status;
}

describe("import", () => {
  const csv = `device_id,timestamp,latitude,longitude,note\na,${Date.now()},1,2,x\nb,5,1,2,x\n`;

  test("reads standard input, says what it rejects, and exits with 2 only where nothing was usable", () =>
    withDirectory(async (dataDir) => {
      const args = ["import", "-", "--format", "csv", "--app", "shop", "--data-dir", dataDir];
      const good = await beginCli(args, { input: csv }).ended;
      expect(good.code).toBe(0);
      expect(sumsOf(good.out)).toEqual([1, 0, 1]);
      expect(good.error).toContain("ignoring columns that are not fields of a report: note");
      expect(good.out).toContain("timestamp must be Unix time in milliseconds; this looks like seconds");
      expect(good.out).toContain("standard input @ line 3");
      const bad = await beginCli(args, { input: csv.replace(",1,2,x", ",91,2,x") }).ended;
      expect(bad.code).toBe(2);
      expect(bad.error).toContain('Nothing was imported from "standard input": ');
    }));

  test("stops before it writes anything where rows are too old to be kept, and says what helps", () =>
    withDirectory(async (directory) => {
      const file = join(directory, "old.csv");
      writeFileSync(
        file,
        "device_id,timestamp,latitude,longitude\na,1262304000000,1,2\nb,1577836800000,1,2\n",
      );
      const dataDir = join(directory, "data");
      const args = ["import", file, "--app", "shop", "--data-dir", dataDir];
      const stopped = await runCli(...args);
      expect(stopped).toMatchObject({ code: 1, out: "" });
      expect(stopped.error).toMatch(
        /\n2 of 2 points are from before 20\d\d-\d\d-\d\d, older than the retention of 365 days\. Run again with --skip-old to skip them, or raise the retention first\..*settings set retention.*--shift-to-now/,
      );
      expect(readdirSync(directory)).toEqual(["old.csv"]);
      expect(sumsOf((await runCli(...args, "--skip-old")).out)).toEqual([0, 0, 2]);
      // Ten years before its newest report, the first row is too old all the same.
      expect(sumsOf((await runCli(...args, "--shift-to-now")).out)).toEqual([1, 0, 1]);
    }));

  test("that begins a directory makes its first key, with which a server answers", () =>
    withDirectory(async (directory) => {
      const [file, dataDir] = ["one.csv", "data"].map((name) => join(directory, name)) as [string, string];
      writeFileSync(file, csv);
      const args = ["import", file, "--app", "shop", "--data-dir", dataDir];
      expect((await runCli(...args)).error).toContain(`The first key is in ${join(dataDir, "first-key")}\n`);
      const authorization = `Bearer ${readFileSync(join(dataDir, "first-key"), "utf8").trim()}`;
      expect((await runCli(...args)).error).not.toContain("first key");
      const server = await startServer(dataDir);
      const { url } = server;
      try {
        const seen = await fetch(`${url}/api/v1/devices/a/locations/current`, { headers: { authorization } });
        expect(await seen.json()).toMatchObject({ location: { latitude: 1, longitude: 2 } });
      } finally {
        await server.stop();
      }
      for (const name of ["first-key", "keys.json"]) rmSync(join(dataDir, name));
      expect((await runCli(...args)).error).not.toContain("first key"); // Lost beside data.
    }));

  test("says of a file that breaks off that its rows are in", () =>
    withDirectory(async (directory) => {
      const cut = join(directory, "cut.csv.gz");
      writeFileSync(cut, gzipSync(fleetCsv(20_000, Date.now() - 86_400_000)).subarray(0, -500));
      const args = ["--app", "shop", "--data-dir", join(directory, "data")];
      const { code, out, error } = await runCli("import", cut, ...args);
      expect(code).toBe(1);
      expect(error).toContain(`${cut} @ line `);
      expect(error).toContain("can't read the rest of the file: ");
      expect(sumsOf(out)[0]).toBeGreaterThan(1000);
    }));

  test("begins nothing where a file can't be opened", () =>
    withDirectory(async (directory) => {
      const file = join(directory, "a.csv.zst");
      writeFileSync(file, zstdCompressSync(csv));
      const dataDir = join(directory, "data");
      const args = ["--app", "shop", "--data-dir", dataDir];
      const missing = await runCli("import", file, join(directory, "b.csv"), ...args);
      expect(missing).toEqual({
        code: 1,
        out: "",
        error: expect.stringContaining('b.csv": no such file or directory (ENOENT)'),
      });
      expect(readdirSync(directory)).toEqual(["a.csv.zst"]);
      expect(sumsOf((await runCli("import", file, ...args)).out)).toEqual([1, 0, 1]);
    }));

  test("beside a server: refused by name, and welcome through it", () =>
    withDirectory(async (dataDir) => {
      const server = await startServer(dataDir);
      const { url } = server;
      try {
        const file = join(dataDir, "a.csv");
        writeFileSync(file, csv);
        const refused = await runCli("import", file, "--app", "shop", "--data-dir", dataDir);
        expect(refused).toMatchObject({ code: 1, out: "" });
        expect(refused.error).toContain(
          `is in use by process ${process.pid} (serve), which listens at ${url}. ` +
            `To import through a running server, use --url ${url} and --key.`,
        );

        const made = await runCli(
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
        const through = [
          "import",
          file,
          "--url",
          url,
          "--key",
          made.out.trim(),
          "--data-dir",
          join(dataDir, "client"),
        ];
        await until(async () => (await statusOf(url, made.out.trim())) === 200);
        expect(sumsOf((await runCli(...through)).out)).toEqual([1, 0, 1]);
        expect(sumsOf((await runCli(...through)).out)).toEqual([0, 1, 1]);
        const seen = await fetch(`${url}/api/v1/devices/a/locations/current`, {
          headers: { authorization: `Bearer ${made.out.trim()}` },
        });
        expect(await seen.json()).toMatchObject({ location: { latitude: 1, longitude: 2 } });

        const report = JSON.parse((await runCli("verify", "--json", "--data-dir", dataDir)).out);
        expect(report).toMatchObject({ owner: { pid: process.pid, command: "serve" }, problems: [] });
      } finally {
        await server.stop();
      }
    }));

  test("takes in the real tracks, and knows them again", () =>
    withDirectory(async (dataDir) => {
      const names = [
        "ais_denmark_20100611",
        "bus_liverpool_route14_20260126",
        "gpx_limerick_bus304_20190218",
      ];
      const files = names
        .map((name) => testDataPath(`tracks/${name}.csv.gz`))
        .filter((file) => file !== null);
      if (files.length < names.length) return;
      const args = ["import", ...files, "--app", "shop", "--shift-to-now", "--data-dir", dataDir];
      const first = await runCli(...args);
      expect(first.code).toBe(0);
      expect(sumsOf(first.out)).toEqual([2965 + 1533 + 2144, 0, 0]);
      expect(await recordCount(dataDir)).toBe(2965 + 1533 + 2144);
      expect(readdirSync(join(dataDir, "imports"))).toEqual(["log.ndjson"]);
    }));
});

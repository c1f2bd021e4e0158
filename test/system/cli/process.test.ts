import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import manifest from "../../../package.json" with { type: "json" };
import { finished, runCli, startCli, withDirectory } from "../../cli/support/run-cli.ts";
import { startServer } from "../../cli/support/start-server.ts";
import { fleetCsv } from "../../service/import/support/inputs.ts";
import { testDataPath } from "../../support/test-data.ts";
import { untilKnown } from "../support/client.ts";

/** The command line as a process: what goes where, and with which code it ends. */

setDefaultTimeout(60_000); // Dozens of processes, on a machine that may be busy.

const BOSTON = "tracks/gtfsrt_mbta_20221122.csv.gz";
const BOSTON_ROWS = 498_840;
/** Enough for an import that can be stopped on its way. */
const EDITED_ROWS = 300_000;

/** New, already there and skipped, of all files of a summary. */
function countsOf(out: string): number[] {
  return ["new", "already there", "skipped"].map((what) =>
    [...out.matchAll(new RegExp(`([\\d,]+) ${what}`, "g"))]
      .map(([, count]) => Number(count!.replaceAll(",", "")))
      .reduce((sum, count) => sum + count, 0),
  );
}

async function recordCount(dataDir: string): Promise<number> {
  const { out, code } = await runCli("verify", "--json", "--data-dir", dataDir);
  expect(code).toBe(0);
  return JSON.parse(out).totals.records;
}

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
  while (logBytes(dataDir) < bytes) {
    if (child.exitCode !== null) throw new Error(`It ended: ${(await finished(child)).error}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("help and version go to standard output, mistakes to standard error", async () => {
  expect(await runCli("--version")).toEqual({ code: 0, out: `${manifest.version}\n`, error: "" });
  expect(await runCli("import", "--help")).toMatchObject({
    code: 0,
    error: "",
    out: expect.stringContaining("--shift-to-now"),
  });
  expect(await runCli("import", "--nonsense")).toEqual({
    code: 2,
    out: "",
    error: "Unknown option --nonsense.\nTry: bun src/main.ts import --help\n",
  });
});

test("keys: a bound key is listed with whom it reports as", () =>
  withDirectory(async (dataDir) => {
    const create = ["keys", "create", "--app", "shop", "--data-dir", dataDir, "--device", "pixel7"];
    const made = await runCli(...create, "--user", "anna", "--permission", "write");
    expect(made.error).toContain('reports as device "pixel7" of user "anna" and nobody else.');
    expect((await runCli("keys", "list", "--data-dir", dataDir)).out).toContain("write        pixel7  anna");
    const json = (await runCli("keys", "list", "--json", "--data-dir", dataDir)).out;
    expect(JSON.parse(json)).toMatchObject([{ deviceId: "pixel7", userId: "anna" }]);
    expect(await runCli(...create, "--permission", "read")).toMatchObject({
      code: 2,
      error: expect.stringContaining(
        "--device and --user say whom a key reports as: add --permission write.",
      ),
    });
    expect(await runCli(...create, "--permission", "write", "--user", "ANONYMOUS")).toMatchObject({
      code: 2,
    });
  }));

test("keys: one for an app is write-only, printed alone, and standard error says what to type", () =>
  withDirectory(async (dataDir) => {
    const create = ["keys", "create", "--app", "shop", "--data-dir", dataDir, "--for", "traccar"];
    const made = await runCli(...create, "--device", "pixel7", "--url", "https://h.example");
    expect(made.code).toBe(0);
    expect(made.out).toMatch(/^wh_[0-9A-Za-z]{49}\n$/);
    expect(made.error).toContain(`\n  Server URL         https://h.example/ingest/traccar/k/${made.out}`);
    const json = (await runCli("keys", "list", "--json", "--data-dir", dataDir)).out;
    expect(JSON.parse(json)).toMatchObject([
      { permissions: ["write"], deviceId: "pixel7", userId: null, label: "traccar" },
    ]);
    expect(json).not.toContain(made.out.trim());
  }));

test("keys: a share link shows what it is told to, has an end, and begins now unless it is said", () =>
  withDirectory(async (dataDir) => {
    const create = ["keys", "create", "--app", "shop", "--data-dir", dataDir, "--permission", "view"];
    const share = [...create, "--show-device", "bus", "--show-device", "tram"];
    const made = await runCli(...share, "--expires", "2099-04-01T18:00+02:00", "--precision", "500");
    expect(made.code).toBe(0);
    expect(made.out).toMatch(/^wh_[0-9A-Za-z]{49}\n$/);
    expect(made.error).toMatch(
      / may view until 2099-04-01T16:00:00Z\. It shows "bus", "tram" from 20\S+Z on, in cells /,
    );
    const exact = await runCli(...share, "--expires", "1d", "--not-before", "2026-03-20T12:00Z");
    expect(exact.error).toContain('It shows "bus", "tram" from 2026-03-20T12:00:00Z on.\n');
    const [first, second] = JSON.parse((await runCli("keys", "list", "--json", "--data-dir", dataDir)).out);
    const deviceIds = ["bus", "tram"];
    expect(first.expiresMs).toBe(Date.UTC(2099, 3, 1, 16));
    const { notBeforeMs } = first.view;
    expect(first.view).toEqual({ deviceIds, notBeforeMs, precisionMeters: 500 });
    expect(notBeforeMs).toBeGreaterThan(first.createdMs - 10_000);
    expect(notBeforeMs).toBeLessThanOrEqual(first.createdMs);
    expect(second.view).toEqual({ deviceIds, notBeforeMs: Date.UTC(2026, 2, 20, 12), precisionMeters: null });
    const refused = async (...args: string[]) => {
      const { code, out, error } = await runCli(...share, ...args);
      expect([code, out]).toEqual([1, ""]);
      return error;
    };
    expect(await refused("--expires", "2020-04-01T18:00Z")).toBe(
      "--expires must be in the future, and 2020-04-01T18:00:00Z is not.\n",
    );
    expect(await refused("--expires", "2099-04-01T18:00Z", "--not-before", "2099-04-01T18:00Z")).toBe(
      "--not-before must be before --expires, which is 2099-04-01T18:00:00Z.\n",
    );
  }));

test("keys: a key is printed alone, listed without its text, and revoked", () =>
  withDirectory(async (dataDir) => {
    const at = ["--data-dir", dataDir];
    const made = await runCli(
      "keys",
      "create",
      "--app",
      "shop",
      "--permission",
      "read",
      "--label",
      "van 7",
      "--expires",
      "1d",
      ...at,
    );
    expect(made.code).toBe(0);
    expect(made.out).toMatch(/^wh_[0-9A-Za-z]{49}\n$/);
    const text = made.out.trim();
    const list = await runCli("keys", "list", ...at);
    expect(list).toMatchObject({ code: 0, error: "" });
    const id = /^k_\S+/m.exec(list.out)![0];
    expect(list.out).toContain(`${id}  shop  read         -       -     standard  van 7`);
    const json = (await runCli("keys", "list", "--json", ...at)).out;
    expect(JSON.parse(json)).toMatchObject([
      { id, appId: "shop", lastFour: text.slice(-4), revokedMs: null },
    ]);
    for (const shown of [list.out, json]) {
      expect(shown).not.toContain(text);
      expect(shown).not.toContain("sha256");
    }
    expect(await runCli("keys", "revoke", id, ...at)).toMatchObject({ code: 0, out: "" });
    expect(JSON.parse((await runCli("keys", "list", "--json", ...at)).out)[0].revokedMs).toBeGreaterThan(0);
    const unknown = await runCli("keys", "revoke", "k_00000000", ...at);
    expect(unknown).toEqual({
      code: 1,
      out: "",
      error: 'There is no key "k_00000000". keys list shows them.\n',
    });
  }));

test("a directory that nobody had is named by those who begin it, and by those who look for one", () =>
  withDirectory(async (directory) => {
    const none = ["--data-dir", join(directory, "none")];
    for (const args of [["list"], ["revoke", "k_00000000"]]) {
      expect(await runCli("keys", ...args, ...none)).toEqual({
        code: 1,
        out: "",
        error: `There is no data directory "${join(directory, "none")}".\n`,
      });
    }
    const file = join(directory, "one.csv");
    writeFileSync(file, `device_id,timestamp,latitude,longitude\na,${Date.now()},1,2\n`);
    const begins = [
      ["import", file, "--app", "shop"],
      ["keys", "create", "--app", "shop", "--permission", "read"],
      ["settings", "set", "retention", "30d"],
    ];
    for (const [index, args] of begins.entries()) {
      const at = ["--data-dir", join(directory, String(index))];
      const words = `There was no data directory "${at[1]}", and now there is.`;
      expect(await runCli(...args, ...at)).toMatchObject({ code: 0, error: expect.stringContaining(words) });
      expect((await runCli(...args, ...at)).error).not.toContain("There was no");
    }
  }));

test("verify: a directory that is not there is said to be missing, and not made", () =>
  withDirectory(async (directory) => {
    const dataDir = join(directory, "none");
    expect(await runCli("verify", "--data-dir", dataDir)).toMatchObject({ code: 1, out: "" });
    expect(readdirSync(directory)).toEqual([]);
  }));

test("restore prints commands that a shell takes as they are", () =>
  withDirectory(async (directory) => {
    const [from, backup, to] = ["data", "backup", "it's here"].map((name) => join(directory, name));
    await runCli("keys", "create", "--app", "shop", "--permission", "read", "--data-dir", from!);
    expect(await runCli("backup", backup!, "--data-dir", from!)).toMatchObject({ code: 0 });
    const { out } = await runCli("restore", backup!, "--data-dir", to!);
    const [, verify, serve] = out.trimEnd().split("\n").slice(-3);
    for (const [name, line] of Object.entries({ verify, serve })) {
      const { stdout } = Bun.spawnSync(["sh", "-c", `printf '%s\n' ${line}`]);
      expect(stdout.toString()).toBe(`bun\nsrc/main.ts\n${name}\n--data-dir\n${to}\n`);
    }
  }));

describe("import", () => {
  const csv = `device_id,timestamp,latitude,longitude,note\na,${Date.now()},1,2,x\nb,5,1,2,x\n`;

  test("reads standard input, says what it rejects, and exits with 2 only where nothing was usable", () =>
    withDirectory(async (dataDir) => {
      const args = ["import", "-", "--format", "csv", "--app", "shop", "--data-dir", dataDir];
      const good = await finished(startCli(args, new Blob([csv])));
      expect(good.code).toBe(0);
      expect(countsOf(good.out)).toEqual([1, 0, 1]);
      expect(good.error).toContain("ignoring columns that are not fields of a report: note");
      expect(good.out).toContain("timestamp must be Unix time in milliseconds; this looks like seconds");
      expect(good.out).toContain("standard input @ line 3");
      const bad = await finished(startCli(args, new Blob([csv.replace(",1,2,x", ",91,2,x")])));
      expect(bad.code).toBe(2);
      expect(bad.error).toContain('Nothing came in from "standard input": ');
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
        /\n2 of 2 points lie before 20\d\d-\d\d-\d\d, the edge of the 365 days kept here\. Run again with --skip-old to leave them out, or raise the retention first\..*settings set retention.*--shift-to-now/,
      );
      expect(readdirSync(directory)).toEqual(["old.csv"]);
      expect(countsOf((await runCli(...args, "--skip-old")).out)).toEqual([0, 0, 2]);
      // Ten years before its newest report, the first row is too old all the same.
      expect(countsOf((await runCli(...args, "--shift-to-now")).out)).toEqual([1, 0, 1]);
    }));

  test("that begins a directory makes its first key, with which a server answers", () =>
    withDirectory(async (directory) => {
      const [file, dataDir] = ["one.csv", "data"].map((name) => join(directory, name)) as [string, string];
      writeFileSync(file, csv);
      const args = ["import", file, "--app", "shop", "--data-dir", dataDir];
      expect((await runCli(...args)).error).toContain(`The first key is in ${join(dataDir, "first-key")}\n`);
      const authorization = `Bearer ${readFileSync(join(dataDir, "first-key"), "utf8").trim()}`;
      expect((await runCli(...args)).error).not.toContain("first key");
      const { child, url } = await startServer(dataDir);
      try {
        while ((await fetch(`${url}/ready`)).status !== 200) await Bun.sleep(20);
        const seen = await fetch(`${url}/api/v1/devices/a/locations/current`, { headers: { authorization } });
        expect(await seen.json()).toMatchObject({ location: { latitude: 1, longitude: 2 } });
      } finally {
        child.kill();
        await child.exited;
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
      expect(error).toContain("it can't be read to its end: ");
      expect(countsOf(out)[0]).toBeGreaterThan(1000);
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
      expect(countsOf((await runCli("import", file, ...args)).out)).toEqual([1, 0, 1]);
    }));

  test("beside a server: refused by name, and welcome through it", () =>
    withDirectory(async (dataDir) => {
      const { child, url } = await startServer(dataDir);
      try {
        const file = join(dataDir, "a.csv");
        writeFileSync(file, csv);
        const refused = await runCli("import", file, "--app", "shop", "--data-dir", dataDir);
        expect(refused).toMatchObject({ code: 1, out: "" });
        expect(refused.error).toContain(
          `is in use by process ${child.pid} (serve), which listens at ${url}. ` +
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
        await untilKnown({ url, key: made.out.trim() });
        expect(countsOf((await runCli(...through)).out)).toEqual([1, 0, 1]);
        expect(countsOf((await runCli(...through)).out)).toEqual([0, 1, 1]);
        const seen = await fetch(`${url}/api/v1/devices/a/locations/current`, {
          headers: { authorization: `Bearer ${made.out.trim()}` },
        });
        expect(await seen.json()).toMatchObject({ location: { latitude: 1, longitude: 2 } });

        const report = JSON.parse((await runCli("verify", "--json", "--data-dir", dataDir)).out);
        expect(report).toMatchObject({ owner: { pid: child.pid, command: "serve" }, problems: [] });
      } finally {
        child.kill();
        await child.exited;
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
      expect(countsOf(first.out)).toEqual([2965 + 1533 + 2144, 0, 0]);
      expect(await recordCount(dataDir)).toBe(2965 + 1533 + 2144);
      expect(readdirSync(join(dataDir, "imports"))).toEqual(["log.ndjson"]);
    }));

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
      expect((await finished(child)).error).toContain("Give the same command again");
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
          expect(cut.error).toContain("The import was interrupted.\nGive the same command again");
        }
        expect(readdirSync(join(dataDir, "imports"))).toContainEqual(
          expect.stringMatching(/^[0-9a-f]{16}\.json$/),
        );

        const rest = await runCli(...args);
        expect(rest.code).toBe(0);
        expect(rest.error).toContain("Going on with the import");
        const [accepted, duplicates, rejected] = countsOf(rest.out);
        expect([accepted! + duplicates!, rejected]).toEqual([BOSTON_ROWS, 0]);
        expect(await recordCount(dataDir)).toBe(BOSTON_ROWS);
      }));
  }
});

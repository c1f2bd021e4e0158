import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../support/until.ts";
import { type Finished, runCli, startServer, withDirectory } from "./support/run-cli.ts";

/** The commands `settings list` and `settings set`, and what a server makes of them. */

const DAY_MS = 86_400_000;
const dayName = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);

async function withData(
  work: (dataDir: string, settings: (...args: string[]) => Promise<Finished>) => Promise<void>,
): Promise<void> {
  await withDirectory((directory) => {
    const dataDir = join(directory, "data");
    mkdirSync(dataDir);
    return work(dataDir, (...args) => runCli("settings", ...args, "--data-dir", dataDir));
  });
}

test("settings set retention is shown by settings list, and refuses what is no retention", () =>
  withData(async (dataDir, settings) => {
    const list = async () => JSON.parse((await settings("list", "--json")).out) as unknown;
    expect(await list()).toEqual({ retention: "365d", retention_first_day: dayName(365) });
    expect(await settings("set", "retention", "10y")).toEqual({
      code: 0,
      out: "",
      error: `The retention is 10y: records are kept from ${dayName(3653)} on (UTC).\n`,
    });
    expect(await list()).toEqual({ retention: "10y", retention_first_day: dayName(3653) });
    expect((await settings("list")).out).toContain("10y    365d     records are kept from");
    await settings("set", "retention", "forever");
    expect(await list()).toEqual({ retention: "forever", retention_first_day: null });

    const file = join(dataDir, "settings.json");
    const before = readFileSync(file, "utf8");
    for (const [args, message] of [
      [
        ["retention", "3w"],
        'retention must be days, years or forever, such as 365d, 10y, forever; "3w" is not',
      ],
      [["retention", "6d"], 'retention must be at least 7d: a week is always in memory; "6d" is not'],
      [["retention"], "settings set needs a name and a value, such as retention 10y"],
      [["retention", "10y", "1y"], 'settings set takes one name and one value, and "1y" is one more'],
      [["colour", "red"], 'There is no setting "colour"; there is retention'],
    ] as const) {
      const { code, error } = await settings("set", ...args);
      expect([code, error]).toEqual([2, expect.stringContaining(message)]);
    }
    expect(readFileSync(file, "utf8")).toBe(before);

    const [backup, restored] = [join(dataDir, "../backup"), join(dataDir, "../restored")];
    expect(await runCli("backup", backup, "--data-dir", dataDir)).toMatchObject({ code: 0 });
    expect(await runCli("restore", backup, "--data-dir", restored)).toMatchObject({ code: 0 });
    expect(readFileSync(join(restored, "settings.json"), "utf8")).toBe(before);

    const newer = '{"version": 2, "retention": {"days": 365}}';
    writeFileSync(file, newer);
    for (const args of [["list"], ["set", "retention", "10y"]])
      expect(await settings(...args)).toMatchObject({
        code: 1,
        error: expect.stringContaining("format version 2"),
      });
    expect(readFileSync(file, "utf8")).toBe(newer);
    const backedUp = await runCli("backup", backup, "--data-dir", dataDir);
    expect(backedUp).toMatchObject({
      code: 1,
      error: expect.stringContaining("settings.json can't be used"),
    });
    const verified = await runCli("verify", "--data-dir", dataDir);
    expect(verified).toMatchObject({ code: 1, out: expect.stringContaining("settings.json can't be used") });
  }));

test("a running server follows the retention; a shorter one says what goes and waits for --yes", () =>
  withData(async (dataDir, settings) => {
    const create = ["keys", "create", "--app", "a", "--permission", "read", "--permission", "write"];
    const key = (await runCli(...create, "--data-dir", dataDir)).out.trim();
    const server = await startServer(dataDir);
    const { url } = server;
    const authorization = `Bearer ${key}`;
    try {
      const years = [0, 2, 5];
      const locations = years.map((year) => {
        return {
          device_id: `y${year}`,
          timestamp: Date.now() - year * 366 * DAY_MS,
          latitude: 1,
          longitude: 2,
        };
      });
      const send = async () => {
        const headers = { authorization, "content-type": "application/json" };
        const init = { method: "POST", headers, body: JSON.stringify({ locations }) };
        return ((await (await fetch(`${url}/ingest/v1/locations`, init)).json()) as { accepted: number })
          .accepted;
      };
      const current = async () => {
        const response = await fetch(`${url}/api/v1/locations/current`, { headers: { authorization } });
        return ((await response.json()) as { locations: { device_id: string }[] }).locations.map(
          (at) => at.device_id,
        );
      };
      const kept = async () =>
        ((await (await fetch(`${url}/ready`)).json()) as { retention: string }).retention;

      expect(await send()).toBe(1);
      expect(await settings("set", "retention", "10y")).toMatchObject({ code: 0 });
      await until(async () => (await kept()) === "10y");
      expect(await send()).toBe(2);
      expect(await current()).toEqual(["y0", "y2", "y5"]);

      const refused = await settings("set", "retention", "1000d");
      expect([refused.code, refused.error]).toEqual([
        1,
        `Changing the retention from 10y to 1000d expires 1 record of 1 day, from ${dayName(5 * 366)} on, ` +
          "with all records of 1 device.\n" +
          "They disappear from answers immediately; a seal deletes their files a day later.\n" +
          "Nothing was changed. To proceed, repeat the command with --yes.\n",
      ]);
      expect(await settings("set", "retention", "9y")).toMatchObject({ code: 0 }); // Nothing goes with it.
      await until(async () => (await kept()) === "9y");
      expect(await settings("set", "retention", "1000d", "--yes")).toMatchObject({ code: 0 });
      await until(async () => (await kept()) === "1000d");
      expect(await current()).toEqual(["y0", "y2"]);
      expect(await settings("set", "retention", "forever")).toMatchObject({ code: 0 });
      await until(async () => (await kept()) === "forever");
      expect(await current()).toEqual(["y0", "y2", "y5"]);
    } finally {
      await server.stop();
    }
    const told = [...server.error.matchAll(/"retention":"(\w+)"/g)].map(([, text]) => text);
    expect(told).toEqual(["10y", "9y", "1000d", "forever"]);
  }));

test("where settings.json is lost, commands and a start go by what the last seal went by, and say so", () =>
  withData(async (dataDir, settings) => {
    await settings("set", "retention", "10y");
    const report = { device_id: "a", timestamp: Date.now() - 5 * 366 * DAY_MS, latitude: 1, longitude: 2 };
    const file = join(dataDir, "../old.ndjson");
    writeFileSync(file, `${JSON.stringify(report)}\n`);
    const imported = await runCli("import", file, "--app", "a", "--data-dir", dataDir);
    expect(imported).toMatchObject({ code: 0 });
    expect(await runCli("seal", "--data-dir", dataDir)).toMatchObject({ code: 0 });
    rmSync(join(dataDir, "settings.json"));

    expect(JSON.parse((await settings("list", "--json")).out)).toMatchObject({ retention: "10y" });
    expect(await settings("set", "retention", "365d")).toMatchObject({
      code: 1,
      error: expect.stringContaining("from 10y to 365d expires 1 record of 1 day"),
    });
    const server = await startServer(dataDir);
    try {
      expect(await (await fetch(`${server.url}/ready`)).json()).toMatchObject({ retention: "10y" });
    } finally {
      await server.stop();
    }
    expect(server.error).toContain("settings.json is gone. Until it is put back, the retention is 10y");
  }));

import { expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCli, withDirectory } from "./support/run-cli.ts";

/** Commands and data directories that are not there yet. */

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
      const words = `Created data directory "${at[1]}".`;
      expect(await runCli(...args, ...at)).toMatchObject({ code: 0, error: expect.stringContaining(words) });
      expect((await runCli(...args, ...at)).error).not.toContain("Created data");
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

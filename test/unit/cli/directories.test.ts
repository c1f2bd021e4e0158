import { expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

test("verify --erased names what is there of a device, and nothing once it is erased, in a backup too", () =>
  withDirectory(async (directory) => {
    const [dataDir, backup] = ["data", "backup"].map((name) => join(directory, name));
    const at = ["--data-dir", dataDir!];
    const file = join(directory, "two.csv");
    const rows = ["van", "bus"].flatMap((id) =>
      [30, 1].map((days) => `${id},${Date.now() - days * 86_400_000},1,2`),
    );
    writeFileSync(file, `device_id,timestamp,latitude,longitude\n${rows.join("\n")}\n`);
    expect(await runCli("import", file, "--app", "shop", ...at)).toMatchObject({ code: 0 });
    expect(await runCli("seal", ...at)).toMatchObject({ code: 0 });
    expect(await runCli("backup", backup!, ...at)).toMatchObject({ code: 0 });
    const search = (id: string, where: string, ...more: string[]) =>
      runCli("verify", "--erased", "--device", id, "--data-dir", where, ...more);
    const found = await search("van", dataDir!, "--app", "shop");
    expect(found.code).toBe(1);
    expect(found.out).toMatch(
      /^Traces of the device "van" of the app shop:\n {2}archive\/day=.*: 1 record\n/,
    );
    expect(JSON.parse((await search("van", dataDir!, "--json")).out)).toMatchObject({ unsearched: [] });
    expect(await runCli("erase", "--device", "van", "--app", "shop", "--yes", ...at)).toMatchObject({
      code: 0,
    });
    expect(await search("van", dataDir!)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^There is no trace of the device "van" in \d+ files\.\n$/),
    });
    expect((await search("bus", dataDir!)).code).toBe(1);
    expect((await search("van", backup!)).code).toBe(1);
    expect(await runCli("backup", backup!, ...at)).toMatchObject({ code: 0 });
    expect((await search("van", backup!)).code).toBe(0);
    expect((await search("bus", backup!)).code).toBe(1);
  }));

test("restore --erasures erases again what a newer ledger has as erased, and takes what is blocked", () =>
  withDirectory(async (directory) => {
    const [dataDir, backup, restored] = ["data", "backup", "restored"].map((name) => join(directory, name));
    const at = ["--data-dir", dataDir!];
    const file = join(directory, "many.csv");
    const rows = ["van,anna", "bus,anna", "tram,bert", "boat,bert"].flatMap((ids) =>
      [30, 20, 1].map((days) => `${ids},${Date.now() - days * 86_400_000},1,2`),
    );
    writeFileSync(file, `device_id,user_id,timestamp,latitude,longitude\n${rows.join("\n")}\n`);
    expect(await runCli("import", file, "--app", "shop", ...at)).toMatchObject({ code: 0 });
    expect(await runCli("seal", ...at)).toMatchObject({ code: 0 });
    const erase = (...args: string[]) => runCli("erase", ...args, "--app", "shop", "--yes", ...at);
    const early = await erase("--device", "boat");
    expect(early.code).toBe(0);
    // A correction that an erasure of a part of its records does not take with it.
    const start = new Date(Date.now() - 31 * 86_400_000).toISOString();
    const hide = ["hide", "tram", "--from", start, "--to", new Date().toISOString(), "--app", "shop"];
    const hidden = (await runCli("corrections", ...hide, ...at)).out.trim();
    expect(hidden).not.toBe("");
    expect(await runCli("backup", backup!, ...at)).toMatchObject({ code: 0 });
    const middle = new Date(Date.now() - 25 * 86_400_000).toISOString();
    const undo = ["corrections", "undo", hidden, "--app", "shop"];
    expect(await runCli(...undo, ...at)).toMatchObject({ code: 0 });
    const later = [
      ["--device", "van", "--block"],
      ["--device", "tram", "--end", middle],
      ["--user", "anna"],
      ["--device", "never there", "--block"],
    ];
    for (const args of later) expect(await erase(...args)).toMatchObject({ code: 0 });
    const ledger = join(dataDir!, "erasures.json");

    const count = async (id: string) => {
      const args = ["--device", id, "--data-dir", restored!, "--json"];
      const { traces } = JSON.parse((await runCli("verify", "--erased", ...args)).out);
      return traces.filter(({ what }: { what: string }) => /record|report/.test(what)).length;
    };
    expect(await runCli("restore", backup!, "--data-dir", restored!)).toMatchObject({ code: 0 });
    for (const [id, has] of [
      ["boat", false],
      ["van", true],
      ["bus", true],
      ["tram", true],
    ] as const)
      expect([id, (await count(id)) > 0]).toEqual([id, has]);
    rmSync(restored!, { recursive: true });

    const result = await runCli("restore", backup!, "--data-dir", restored!, "--erasures", ledger);
    expect(result).toMatchObject({
      code: 0,
      error: "Erased again: what the backup had of erased devices (2) and users (1).\n",
    });
    for (const id of ["van", "bus", "boat"])
      expect(await runCli("verify", "--erased", "--device", id, "--data-dir", restored!)).toMatchObject({
        code: 0,
      });
    expect(await runCli("verify", "--erased", "--user", "anna", "--data-dir", restored!)).toMatchObject({
      code: 0,
    });
    const left = await runCli("verify", "--erased", "--device", "tram", "--data-dir", restored!);
    expect(left.out.match(/day=/g)).toHaveLength(1);
    expect(await runCli("verify", "--data-dir", restored!)).toMatchObject({ code: 0 });
    expect(readdirSync(directory)).not.toContain("restored.restoring");

    const content = JSON.parse(readFileSync(join(restored!, "erasures.json"), "utf8"));
    const newer = JSON.parse(readFileSync(ledger, "utf8"));
    expect(content.salt).toBe(newer.salt);
    expect(content.erasures).toEqual(newer.erasures);
    const kept = ["van", "tram"].map((id) => `${id},cora,${Date.now()},1,2`).join("\n");
    writeFileSync(file, `device_id,user_id,timestamp,latitude,longitude\n${kept}\n`);
    await runCli("import", file, "--app", "shop", "--data-dir", restored!);
    expect([await count("van"), (await count("tram")) > 1]).toEqual([0, true]);
  }));

test("restore --erasures changes nothing with a file that is no ledger of the same directory", () =>
  withDirectory(async (directory) => {
    const [dataDir, backup, restored] = ["data", "backup", "restored"].map((name) => join(directory, name));
    const file = join(directory, "one.csv");
    writeFileSync(file, `device_id,timestamp,latitude,longitude\nvan,${Date.now()},1,2\n`);
    expect(await runCli("import", file, "--app", "shop", "--data-dir", dataDir!)).toMatchObject({ code: 0 });
    const erase = ["--device", "other", "--app", "shop", "--yes", "--data-dir", dataDir!];
    expect(await runCli("erase", ...erase)).toMatchObject({ code: 0 });
    expect(await runCli("backup", backup!, "--data-dir", dataDir!)).toMatchObject({ code: 0 });
    const ledger = join(directory, "erasures.json");
    const line = JSON.parse(readFileSync(join(dataDir!, "erasures.json"), "utf8")).erasures[0];
    const otherSalt = { version: 1, salt: "0".repeat(64), erasures: [{ ...line, id: "other" }] };
    for (const [text, error] of [
      [null, "There is no file"],
      ["{", "can't be used"],
      [JSON.stringify(otherSalt), "of another data directory"],
    ] as const) {
      if (text !== null) writeFileSync(ledger, text);
      const args = ["restore", backup!, "--data-dir", restored!, "--erasures", ledger];
      expect(await runCli(...args)).toMatchObject({ code: 1, error: expect.stringContaining(error) });
      expect(readdirSync(directory).filter((name) => name.startsWith("restored"))).toEqual([]);
    }
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

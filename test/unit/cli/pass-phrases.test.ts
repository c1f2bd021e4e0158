import { expect, test } from "bun:test";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beginCli, runCli, withDirectory } from "./support/run-cli.ts";

const SECRET = "hunter2 ü";

/** A data directory with a key, and a way to run `keys passphrase` on it. */
async function withKey(
  work: (place: {
    dataDir: string;
    file: string;
    id: string;
    give: (input: string, ...args: string[]) => ReturnType<typeof runCli>;
  }) => Promise<void>,
): Promise<void> {
  await withDirectory(async (directory) => {
    const dataDir = join(directory, "data");
    const create = ["keys", "create", "--app", "shop", "--permission", "write", "--data-dir", dataDir];
    const id = /k_\w{8}/.exec((await runCli(...create)).error)![0];
    const command = ["keys", "passphrase", "--data-dir", dataDir];
    const give = (input: string, ...args: string[]) => beginCli([...command, ...args], { input }).ended;
    await work({ dataDir, file: join(dataDir, "pass-phrases.json"), id, give });
  });
}

test("keys passphrase reads standard input, keeps the phrase in a file of its owner, and never says it", () =>
  withKey(async ({ dataDir, file, id, give }) => {
    expect(await give(`${SECRET}\n`, id, "--device", "pixel7")).toEqual({
      code: 0,
      out: "",
      error: `Messages of device "pixel7" of key ${id} are now decrypted with this passphrase.\n`,
    });
    expect(JSON.parse(readFileSync(file, "utf8")).passPhrases).toEqual([
      { keyId: id, appId: "shop", deviceId: "pixel7", text: SECRET },
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const args of [["keys", "list"], ["keys", "list", "--json"], ["verify"], ["verify", "--json"]]) {
      const { code, out, error } = await runCli(...args, "--data-dir", dataDir);
      expect([code, `${out}${error}`.includes("hunter2")]).toEqual([0, false]);
    }
    expect(await give("", id, "--device", "pixel7", "--remove")).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(file, "utf8")).passPhrases).toEqual([]);
  }));

test("keys passphrase changes nothing where it can't be followed", () =>
  withKey(async ({ file, id, give }) => {
    expect(await give(SECRET, "k_00000000")).toEqual({
      code: 1,
      out: "",
      error: 'There is no key "k_00000000". keys list shows them.\n',
    });
    for (const phrase of ["", "\n", "x".repeat(129), "tab\t"])
      expect(await give(phrase, id)).toEqual({
        code: 1,
        out: "",
        error: "A passphrase is one line of 1 to 128 characters; none was set.\n",
      });
    expect(await give("", id, "--remove")).toEqual({
      code: 1,
      out: "",
      error: `Key "${id}" has no passphrase for all its devices; name one with --device.\n`,
    });
    const typed = await give("", id, SECRET);
    expect([typed.code, typed.error.includes(SECRET)]).toEqual([2, false]);
    expect(existsSync(file)).toBe(false);
  }));

test("pass phrases are in a backup and what is restored from it, and verify looks at them", () =>
  withKey(async ({ dataDir, file, id, give }) => {
    await give(SECRET, id);
    const [backup, restored] = [join(dataDir, "../backup"), join(dataDir, "../restored")];
    expect((await runCli("backup", backup, "--data-dir", dataDir)).code).toBe(0);
    expect((await runCli("restore", backup, "--data-dir", restored)).code).toBe(0);
    expect(readFileSync(join(restored, "pass-phrases.json"), "utf8")).toBe(readFileSync(file, "utf8"));
    expect(statSync(join(restored, "pass-phrases.json")).mode & 0o777).toBe(0o600);

    writeFileSync(file, '{"version":1,"passPhrases":[{"text":"hunter2"}]}');
    const fault = "pass-phrases.json can't be used: pass phrase number 1 has no valid keyId";
    for (const args of [["verify"], ["backup", backup]]) {
      const { code, out, error } = await runCli(...args, "--data-dir", dataDir);
      expect([code, `${out}${error}`.includes(fault)]).toEqual([1, true]);
    }
    writeFileSync(file, '{"version":1,"passPhrases":[]}');
    expect((await runCli("backup", backup, "--data-dir", dataDir)).code).toBe(0);
    expect(readFileSync(join(backup, "pass-phrases.json"), "utf8")).not.toContain("hunter2");
  }));

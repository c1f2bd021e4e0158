import { expect, test } from "bun:test";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCli, withDirectory } from "./support/run-cli.ts";

/** Restores of backups from before an erasure, with the ledger that has it. */

const DAYS = [30, 20, 1];

function rowsOf(ids: readonly string[]): string {
  const rows = ids.flatMap((id, i) =>
    DAYS.map((days) => `${id},${Date.now() - days * 86_400_000 - 1000 * i},1,2`),
  );
  return `device_id,user_id,timestamp,latitude,longitude\n${rows.join("\n")}\n`;
}

test("restore --erasures leaves no trace of an erased device, and of one that showed as it, in any older backup", () =>
  withDirectory(async (directory) => {
    const dataDir = join(directory, "data");
    const file = join(directory, "many.csv");
    const run = async (...args: string[]) => {
      const result = await runCli(...args, "--data-dir", dataDir);
      expect(result).toMatchObject({ code: 0 });
      return result;
    };
    const backups: string[] = [];
    const backUp = async (name: string) => {
      backups.push(join(directory, name));
      await run("backup", backups.at(-1)!);
    };
    writeFileSync(file, rowsOf(["old-phone,anna", "phone,anna", "tram,bert"]));
    await run("import", file, "--app", "shop");
    await backUp("in the log");
    await run("seal");
    await backUp("archived");
    await run("corrections", "assign", "old-phone", "--app", "shop", "--to-device", "phone");
    await backUp("assigned");
    await run("erase", "--device", "phone", "--app", "shop", "--yes");

    const recordsOf = async (id: string, where: string) => {
      const args = ["--app", "shop", "--device", id, "--format", "ndjson", "--data-dir", where];
      return (await runCli("export", ...args)).out.trimEnd().split("\n");
    };
    const tram = await recordsOf("tram", dataDir);
    expect(tram).toHaveLength(DAYS.length);
    const ledger = join(dataDir, "erasures.json");
    const linesOf = (path: string) => JSON.parse(readFileSync(path, "utf8")).erasures as { id: string }[];
    expect(linesOf(ledger)).toHaveLength(1);
    const erased = (id: string, where: string) =>
      runCli("verify", "--erased", "--device", id, "--data-dir", where);
    for (const backup of backups) {
      const before = `${backup} before`;
      expect(await runCli("restore", backup, "--data-dir", before)).toMatchObject({ code: 0 });
      for (const id of ["old-phone", "phone"]) expect((await erased(id, before)).code).toBe(1);

      let newer = ledger;
      for (const restored of [`${backup} restored`, `${backup} restored again`]) {
        const args = ["--data-dir", restored, "--erasures", newer];
        expect(await runCli("restore", backup, ...args)).toMatchObject({
          code: 0,
          error: "Erased again: what the backup had of erased devices (2) and users (0).\n",
        });
        for (const id of ["old-phone", "phone"])
          expect([restored, await erased(id, restored)]).toMatchObject([restored, { code: 0 }]);
        expect(await recordsOf("tram", restored)).toEqual(tram);
        expect(await runCli("verify", "--data-dir", restored)).toMatchObject({ code: 0 });
        newer = join(restored, "erasures.json");
        expect(linesOf(newer)).toEqual(linesOf(ledger));
      }
    }
  }));

test("restore --erasures erases what the backup's own ledger has as pending, though its log has no entry of it", () =>
  withDirectory(async (directory) => {
    const [dataDir, copy, backup, restored] = ["data", "copy", "backup", "restored"].map((name) =>
      join(directory, name),
    ) as [string, string, string, string];
    const file = join(directory, "two.csv");
    writeFileSync(file, rowsOf(["phone,anna", "tram,bert"]));
    await runCli("import", file, "--app", "shop", "--data-dir", dataDir);
    cpSync(dataDir, copy, { recursive: true });
    await runCli("erase", "--device", "phone", "--app", "shop", "--yes", "--data-dir", copy);
    const ledger = JSON.parse(readFileSync(join(copy, "erasures.json"), "utf8"));
    const pending = { ...ledger.erasures[0], state: "pending", finished: null };
    writeFileSync(join(dataDir, "erasures.json"), JSON.stringify({ ...ledger, erasures: [pending] }));
    expect(await runCli("backup", backup, "--data-dir", dataDir)).toMatchObject({ code: 0 });
    const args = ["--data-dir", restored, "--erasures", join(copy, "erasures.json")];
    expect(await runCli("restore", backup, ...args)).toMatchObject({ code: 0 });
    const search = ["--device", "phone", "--data-dir", restored];
    expect(await runCli("verify", "--erased", ...search)).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(join(restored, "erasures.json"), "utf8"))).toEqual(ledger);
  }));

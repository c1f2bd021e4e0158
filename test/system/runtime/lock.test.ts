import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { acquireSqliteLock } from "../../../src/runtime/sqlite-lock.ts";
import { nativeDeno } from "../../support/native-deno.ts";
import { outcome } from "../../support/rejection.ts";

/*
 * Goal: one holder at a time, named to the others, and free again however the holder ends.
 * Method: real processes of both runtimes, taken down with SIGKILL.
 */
const HOLDER = join(import.meta.dir, "lock-holder.ts");
const RUNTIMES = { Bun: [process.execPath, HOLDER], Deno: [nativeDeno(), "run", "-A", HOLDER] };

const ME = { pid: process.pid, command: "test", sinceMs: 1 };

let directory = "";
let path = "";
let started: Subprocess[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "wherehouse-lock-"));
  path = join(directory, "lock");
});

afterEach(async () => {
  for (const child of started) child.kill("SIGKILL");
  await Promise.all(started.map((child) => child.exited));
  started = [];
  rmSync(directory, { recursive: true });
});

for (const [name, holder] of Object.entries(RUNTIMES)) {
  describe(`on ${name}`, () => {
    test("a second process is refused and told who holds the lock", async () => {
      const first = await start(holder, "serve");
      expect(first.said).toMatchObject({ ok: true });
      for (const other of Object.values(RUNTIMES)) {
        const second = await start(other, "seal");
        expect(second.said).toMatchObject({ ok: false, owner: { pid: first.child.pid, command: "serve" } });
      }
      expect(readdirSync(directory)).toEqual(["lock"]);
      expect(statSync(path).mode & 0o777).toBe(0o600);
    });

    test("the lock is free again after its holder was killed", async () => {
      const first = await start(holder, "serve");
      first.child.kill("SIGKILL");
      await first.child.exited;
      const second = await start(holder, "seal");
      expect(second.said).toMatchObject({ ok: true });
      expect(await acquireSqliteLock(path, ME)).toMatchObject({ ok: false, owner: { command: "seal" } });
    });

    test("of processes that start together exactly one holds the lock and is named, over garbage too", async () => {
      // One that is late in emptying the file must not erase the name of who holds it: one round in twenty tries it.
      for (let round = 0; round < 5; round++) {
        const garbled = join(directory, `lock-${round}`);
        writeFileSync(garbled, "not a database at all ".repeat(100));
        const all = await Promise.all(
          [0, 1, 2, 3, 4, 5].map((index) => start(holder, `serve ${index}`, garbled)),
        );
        const holders = all.filter(({ said }) => said.ok);
        expect(holders).toHaveLength(1);
        for (const { said } of all) if (!said.ok) expect(said.owner?.pid).toBe(holders[0]!.child.pid);
      }
      expect(readdirSync(directory).sort()).toEqual([0, 1, 2, 3, 4].map((round) => `lock-${round}`));
    });
  });
}

test("acquireSqliteLock() takes over a file that holds no lock, whatever else it holds", async () => {
  const databaseHeader = "SQLite format 3\0\x10\x00\x01\x01\x00\x40\x20\x20";
  for (const content of ["", "x", "garbage ".repeat(1000), databaseHeader + "\0".repeat(5000)]) {
    writeFileSync(path, content, "latin1");
    const attempt = await acquireSqliteLock(path, ME);
    expect(attempt.ok).toBe(true);
    if (attempt.ok) attempt.release();
  }
});

test("acquireSqliteLock() empties a damaged file whoever was killed while doing so, and names it where it can't", async () => {
  writeFileSync(path, "garbage");
  writeFileSync(`${path}.repair`, "");
  const attempt = await acquireSqliteLock(path, ME);
  if (attempt.ok) attempt.release();
  expect([attempt.ok, readdirSync(directory)]).toEqual([true, ["lock"]]);
  writeFileSync(path, "garbage");
  writeFileSync(`${path}.repair`, "garbage");
  expect(await outcome(acquireSqliteLock(path, ME))).toThrow(`Cannot empty damaged lock "${path}": `);
});

test("acquireSqliteLock() refuses within one process too, until release()", async () => {
  const first = await acquireSqliteLock(path, ME);
  expect(await acquireSqliteLock(path, { ...ME, command: "other" })).toEqual({ ok: false, owner: ME });
  const stillRefused = await start(RUNTIMES.Bun, "seal"); // The refusal above must not have ended our lock.
  expect(stillRefused.said).toEqual({ ok: false, owner: ME });
  if (first.ok) first.release();
  expect((await start(RUNTIMES.Bun, "seal")).said.ok).toBe(true);
});

test("acquireSqliteLock() throws with the path where the file can't be made", async () => {
  const missing = join(directory, "missing/lock");
  expect(await outcome(acquireSqliteLock(missing, ME))).toThrow(
    `Cannot open lock "${missing}": no such file or directory (ENOENT)`,
  );
});

interface HolderSays {
  ok: boolean;
  owner?: { pid: number; command: string };
}

async function start(
  holder: string[],
  command: string,
  lock = path,
): Promise<{ child: Subprocess; said: HolderSays }> {
  const child = Bun.spawn([...holder, lock, command], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  started.push(child);
  const { value } = await child.stdout.getReader().read();
  return { child, said: JSON.parse(new TextDecoder().decode(value)) };
}

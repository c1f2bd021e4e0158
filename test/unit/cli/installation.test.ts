import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { machineProblems, zoneProblems } from "../../../src/cli/remote/installation.ts";
import { type Folder, readMachine } from "../../../src/runtime/machine.ts";
import { runCli } from "./support/run-cli.ts";

/** `doctor --install`: the decisions on every kind of machine, and the facts of this one. */

const NOW_MS = Date.UTC(2026, 11, 1);
const FOLDER: Folder = {
  path: "/data",
  freeBytes: 5e9,
  isInMemory: false,
  writeErrorCode: null,
  isOpenToAll: false,
  newestMs: NOW_MS,
};

function problemsOf(folder: Partial<Folder>, nowMs = NOW_MS, descriptorsMax: number | null = 65_536) {
  const problems = machineProblems({ descriptorsMax, folder: { ...FOLDER, ...folder } }, nowMs);
  return problems.map(({ what, advice }) => `${what} ${advice}`);
}

describe("machineProblems()", () => {
  test("finds no problem on a machine in order, or if the limit of open files is unknown", () => {
    expect(problemsOf({})).toEqual([]);
    expect(problemsOf({ newestMs: null }, NOW_MS, null)).toEqual([]);
    expect(problemsOf({}, NOW_MS, Number.POSITIVE_INFINITY)).toEqual([]);
  });

  test.each<[Partial<Folder>, RegExp]>([
    [{ freeBytes: 1e8 }, /^The disk of \/data has 100 MB free\. Free 1 GB/],
    [{ isInMemory: true }, /^\/data is in memory: .* volume\.$/],
    [{ isOpenToAll: true }, /^Every user .* Run: chmod 700 \/data$/],
    [{ writeErrorCode: "EACCES" }, /\(EACCES\)\. Run the command as the owner/],
    [{ writeErrorCode: "EROFS" }, /\(EROFS\)\. The disk is mounted read-only/],
    [{ writeErrorCode: "ENOSPC" }, /\(ENOSPC\)\. The disk or the quota is full/],
    [{ writeErrorCode: "EIO" }, /\(EIO\)\. See the system's log/],
    [{ newestMs: NOW_MS + 61_000 }, /^The clock says 2026-12-01T00.* files of 2026-12-01T00:01:01/],
  ])("names the fault of a folder with %j, and what to do", (folder, sentence) => {
    expect(problemsOf(folder)).toEqual([expect.stringMatching(sentence)]);
  });

  test("finds a clock that was never set, and a low limit of open files", () => {
    expect(problemsOf({}, 0)).toEqual([expect.stringContaining("1970-01-01T00:00:00.000Z, which is before")]);
    expect(problemsOf({}, NOW_MS, 1024)).toEqual([expect.stringContaining("LimitNOFILE=65536")]);
  });
});

test("zoneProblems() finds a time zone database that has the wrong hour for summer in London", () => {
  expect(zoneProblems("13")).toEqual([]);
  expect(zoneProblems("12")).toHaveLength(1);
});

describe("doctor --install", () => {
  let place = "";
  beforeEach(() => {
    place = mkdtempSync(join(tmpdir(), "wherehouse-install-"));
  });
  afterEach(() => rmSync(place, { recursive: true }));

  test("reads this machine, and leaves nothing on its disk", async () => {
    const dataDir = join(place, "data");
    mkdirSync(dataDir, { mode: 0o700 });
    const { descriptorsMax, folder } = await readMachine(dataDir);
    expect(folder).toMatchObject({ path: dataDir, writeErrorCode: null, isOpenToAll: false, newestMs: null });
    expect(folder.freeBytes).toBeGreaterThan(0);
    if (process.platform === "linux") expect(descriptorsMax).toBeGreaterThan(0);
    chmodSync(dataDir, 0o755);
    expect((await readMachine(dataDir)).folder.isOpenToAll).toBe(true);
    expect((await readMachine(join(dataDir, "a/b"))).folder).toMatchObject({
      path: dataDir,
      isOpenToAll: false,
    });
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test("reports a port that is in use, and not one that is free", async () => {
    const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    const args = ["doctor", "--install", "--data-dir", place, "--port", String(other.port)];
    const taken = await runCli(...args);
    expect([taken.code, taken.error]).toEqual([1, ""]);
    expect(taken.out).toContain(`127.0.0.1:${other.port}\n  A server can't listen there.\n`);
    expect(taken.out).toContain("the port is in use");
    await other.stop(true);
    expect((await runCli(...args)).out).not.toContain("can't listen");
  });
});

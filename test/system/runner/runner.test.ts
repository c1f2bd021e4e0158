import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseTestCommand } from "../../runner/command-line.ts";
import { findFiles } from "../../runner/find-files.ts";
import { type RunOptions, runFiles } from "../../runner/run-files.ts";

const root = mkdtempSync(join(tmpdir(), "wherehouse-runner-"));
afterAll(() => rmSync(root, { recursive: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const IMPORT = 'import { expect, test } from "bun:test";\n';
put("src/one.ts", "export const ONE = 1;\n");
put(
  "test/passes.test.ts",
  `${IMPORT}import { ONE } from "../src/one.ts";\ntest("a", () => expect(ONE).toBe(1));`,
);
put("test/fails.test.ts", `${IMPORT}test("a", () => expect(1).toBe(2));\ntest.skip("b", () => {});`);
put("test/does-not-load.test.ts", 'throw new Error("for the test");');
put("test/ends.test.ts", `${IMPORT}test("a", () => process.exit(0));`);
put("test/hangs.test.ts", `${IMPORT}test("a", () => new Promise(() => {}));`);
put("test/draws.test.ts", `${IMPORT}import { assert } from "./support/fast-check.ts";\ntest("a", () => {});`);
put("test/system/mqtt/receiver.test.ts", `${IMPORT}test("a", () => {});`);
put("mqtt/README.md", "A folder of the project that is called as one of the tier's.");
put("test/long/hour.test.ts", `${IMPORT}test("a", () => {});`);

const OPTIONS: RunOptions = {
  root,
  processes: 2,
  timeoutMs: 500,
  title: null,
  changedSince: null,
  savesDurations: false,
  output: "ignore",
  env: {},
};

const UNITS = ["does-not-load", "draws", "ends", "fails", "hangs", "passes"].map(
  (name) => `test/${name}.test.ts`,
);

describe("findFiles()", () => {
  test("gives the files of a tier; unit tests that draw cases are of the system tier too", () => {
    expect(findFiles(root, "unit", [])).toEqual({ ok: true, value: UNITS });
    const system = ["test/system/mqtt/receiver.test.ts", "test/draws.test.ts"];
    expect(findFiles(root, "system", [])).toEqual({ ok: true, value: system });
  });

  test("takes files and folders of any tier, and folders as their tier calls them", () => {
    const receiver = { ok: true as const, value: ["test/system/mqtt/receiver.test.ts"] };
    expect(findFiles(root, "unit", ["./test/system/mqtt/"])).toEqual(receiver);
    expect(findFiles(root, "system", ["mqtt"])).toEqual(receiver);
    expect(findFiles(root, "unit", ["test/fails.test.ts"])).toEqual({
      ok: true,
      value: ["test/fails.test.ts"],
    });
    expect(findFiles(root, "system", ["nothing"])).toEqual({
      ok: false,
      error: "There is no test at nothing.",
    });
  });
});

describe("runFiles()", () => {
  test("says what came of each file, also of those that can't be loaded, end their process or hang", async () => {
    const results = await runFiles(UNITS, OPTIONS);
    const counts = results.map(({ path, passed, failed, skipped }) => [path, passed, failed, skipped]);
    expect(counts.toSorted()).toEqual([
      ["test/does-not-load.test.ts", 0, 1, 0],
      ["test/draws.test.ts", 1, 0, 0],
      ["test/ends.test.ts", 0, 1, 0],
      ["test/fails.test.ts", 0, 1, 1],
      ["test/hangs.test.ts", 0, 1, 0],
      ["test/passes.test.ts", 1, 0, 0],
    ]);
  });

  test("writes how long each file took, if it is asked to", async () => {
    await runFiles(["test/passes.test.ts", "test/fails.test.ts"], { ...OPTIONS, savesDurations: true });
    const { files } = JSON.parse(readFileSync(join(root, "test/durations.json"), "utf8"));
    expect(Object.keys(files).toSorted()).toEqual(["test/fails.test.ts", "test/passes.test.ts"]);
  });

  test("runs only files that import what has changed since a commit", async () => {
    const git = (...words: string[]) =>
      Bun.spawnSync(["git", "-c", "user.name=a", "-c", "user.email=a@b", ...words], { cwd: root });
    git("init", "-q");
    git("add", "-A");
    git("commit", "-q", "-m", "all");
    put("src/one.ts", "export const ONE = 2;\n");
    const results = await runFiles(UNITS, { ...OPTIONS, changedSince: "HEAD" });
    expect(results.map(({ path, failed }) => [path, failed])).toEqual([["test/passes.test.ts", 1]]);
    put("src/one.ts", "export const ONE = 1;\n");
  });
});

describe("parseTestCommand()", () => {
  test("reads paths and flags", () => {
    const words = [
      "system",
      "mqtt",
      "-t",
      "a b",
      "--since",
      "main",
      "--runs",
      "0.5",
      "--seed",
      "7",
      "--retry-failed",
    ];
    expect(parseTestCommand([...words, "--counts", "c", "--save-durations"])).toEqual({
      ok: true,
      value: {
        kind: "run",
        tier: "system",
        paths: ["mqtt"],
        title: "a b",
        changedSince: "main",
        runs: 0.5,
        seed: 7,
        savesDurations: true,
        retriesFailed: true,
        countsFile: "c",
      },
    });
    expect(parseTestCommand(["unit", "--changed"])).toMatchObject({
      ok: true,
      value: { changedSince: "HEAD", runs: null },
    });
    expect(parseTestCommand(["unit", "--help"])).toEqual({ ok: true, value: { kind: "help" } });
  });

  test.each(["--fast", "-t", "--runs 0", "--runs many", "--seed -1"])("refuses %s in one line", (words) => {
    const parsed = parseTestCommand(["unit", ...words.split(" ")]);
    expect(parsed).toEqual({ ok: false, error: expect.stringMatching(/^[^\n]+$/) });
  });
});

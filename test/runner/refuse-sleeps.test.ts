import { describe, expect, test } from "bun:test";
import { findSleeps } from "./refuse-sleeps.ts";

/** As they would stand in a file; put together here, for this file is looked at too. */
const call = (name: string, rest = "") => `await ${name}(${rest});`;
const clock = ["performance", "now"].join(".");

describe("findSleeps()", () => {
  test.each([
    call("setTimeout", "resolve, 5"),
    call("setInterval", "look, 5"),
    call(["Bun", "sleep"].join("."), "0"),
    call(["Bun", "sleepSync"].join("."), "12"),
    call("scheduler.wait", "1"),
    `import { scheduler } from "node:${["timers", "promises"].join("/")}";`,
    `import { wait } from "../../src/lib/${["schedule", "wait.ts"].join("/")}";`,
  ])("names %s with file and line", (line) => {
    const faults = findSleeps("test/wal/wal.test.ts", `import x from "y";\n\n${line}\n`);
    expect(faults).toEqual([
      expect.stringMatching(/^test\/wal\/wal\.test\.ts:3: .+: await the event itself/),
    ]);
  });

  test("names a promise that expect() would wait for", () => {
    const line = `await expect(wal.close()).${["rejects", "toThrow"].join(".")}("EIO");`;
    expect(findSleeps("test/wal/wal.test.ts", line)).toEqual([
      expect.stringContaining("test/wal/wal.test.ts:1: rejects: await the promise first"),
    ]);
  });

  test("names a time that a test measures, not one that a program prints", () => {
    const line = `const startedMs = ${clock}();`;
    expect(findSleeps("test/wal/wal.test.ts", line)).toEqual([
      expect.stringContaining("test/wal/wal.test.ts:1: performance.now: count work"),
    ]);
    expect(findSleeps("test/simulation/main.ts", line)).toEqual([]);
  });

  test("lets helpers, comments, types and what keeps a process alive pass", () => {
    const timer = call("setTimeout", "resolve, 5");
    expect(findSleeps("test/support/until.ts", timer)).toEqual([]);
    const fine = [
      `// ${timer}`,
      `let timer: ReturnType<typeof ${"setTimeout"}>;`,
      "setDefaultTimeout(60_000);",
      call("setInterval", "() => {}, 1000"),
    ];
    expect(findSleeps("test/wal/wal.test.ts", fine.join("\n"))).toEqual([]);
  });
});

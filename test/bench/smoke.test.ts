import { expect, test } from "bun:test";
import { join } from "node:path";

test("every bench runs and finds the answers it times equal", async () => {
  const main = join(import.meta.dir, "../../bench/main.ts");
  const child = Bun.spawn([process.execPath, main, "--smoke"], { stdout: "pipe", stderr: "pipe" });
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  expect({ code, error: code === 0 ? "" : error }).toEqual({ code: 0, error: "" });
  for (const name of [
    "ingest",
    "replay",
    "memory",
    "device-page",
    "start",
    "archive",
    "seal",
    "ready",
    "year",
  ])
    expect(out).toContain(`\n${name}: `);
  expect(out).toContain("share of the bare server");
  expect(out).toContain("times the fastest");
}, 90_000);

test("a bench that does not exist is named, with exit code 2", async () => {
  const main = join(import.meta.dir, "../../bench/main.ts");
  const child = Bun.spawn([process.execPath, main, "nothing"], { stdout: "pipe", stderr: "pipe" });
  expect(await new Response(child.stderr).text()).toContain("There is no bench nothing.");
  expect(await child.exited).toBe(2);
});

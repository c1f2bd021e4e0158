import { expect, test } from "bun:test";
import { join } from "node:path";

const SCRIPT = join(import.meta.dir, "lower-and-work.ts");

test("a thread lets others run first, and none does that works for the whole process", async () => {
  const child = Bun.spawn([process.execPath, SCRIPT], { stdout: "pipe", stderr: "inherit" });
  const { reason, nicest } = JSON.parse(await new Response(child.stdout).text());
  expect(reason).toBe(null);
  if (process.platform === "linux") expect(nicest).toContain("Worker");
  expect(nicest.filter((name: string) => /Bun Pool|main/.test(name))).toEqual([]);
});

import { expect, test } from "bun:test";
import { join } from "node:path";
import { nativeDeno } from "../../support/native-deno.ts";

const SCRIPT = join(import.meta.dir, "crashing.ts");

for (const [name, command] of [
  ["Bun", [process.execPath, SCRIPT]],
  ["Deno", [nativeDeno(), "run", "--allow-env", SCRIPT]],
] as const) {
  for (const how of ["throw", "reject"]) {
    test(`exitOnCrash() reports an uncaught error and ends the process, on ${name}: ${how}`, async () => {
      const child = Bun.spawn([...command, how], { stdout: "pipe", stderr: "pipe" });
      const [out, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
      expect([code, out]).toEqual([1, "told: Error: a bug\n"]);
    });
  }
}

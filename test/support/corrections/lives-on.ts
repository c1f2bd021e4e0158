import { join } from "node:path";
import { nativeDeno } from "../native-deno.ts";
import type { LifeTotals } from "./life.ts";

const SCRIPT = join(import.meta.dir, "print-lives.ts");

/**
 * Lives this nominal number of lives in a process of a runtime, of a single process or of several nodes; rejects if it
 * finds a difference, which it prints.
 */
export async function liveLivesOn(runtime: "Bun" | "Deno", lives: number, nodes = 1): Promise<LifeTotals> {
  const command = runtime === "Bun" ? [process.execPath] : [nativeDeno(), "run", "-A"];
  const child = Bun.spawn([...command, SCRIPT, String(lives), `--nodes=${nodes}`], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const [out, exitCode] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  if (exitCode !== 0) throw new Error(`The lives on ${runtime} ended with ${exitCode}.`);
  return JSON.parse(out);
}

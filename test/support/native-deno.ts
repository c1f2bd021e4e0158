import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Deno's binary itself: the wrapper in `.bin` would take the signals meant for it. */
export function nativeDeno(): string {
  const packages = join(import.meta.dir, "../../node_modules/@deno");
  for (const name of readdirSync(packages)) {
    const binary = join(packages, name, process.platform === "win32" ? "deno.exe" : "deno");
    if (existsSync(binary)) return binary;
  }
  throw new Error(`No Deno in ${packages}.`);
}

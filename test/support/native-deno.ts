import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Deno's own binary: the wrapper in `.bin` would catch signals. */
export function nativeDeno(): string {
  const packages = join(import.meta.dir, "../../node_modules/@deno");
  for (const name of readdirSync(packages)) {
    const binary = join(packages, name, process.platform === "win32" ? "deno.exe" : "deno");
    if (existsSync(binary)) return binary;
  }
  throw new Error(`No Deno in ${packages}.`);
}

import { RUNTIMES, type Runtime } from "./server-process.ts";

/** What the values of flags say that long runs have in common. */

/** `bun`, `deno` or `both`; none for any other name. */
export function runtimesOf(name: string): readonly Runtime[] {
  return name === "both" ? RUNTIMES : RUNTIMES.filter((runtime) => runtime.name.toLowerCase() === name);
}

/** A whole number above 0; null for any other text. */
export function countOf(text: string | null, otherwise: number): number | null {
  if (text === null) return otherwise;
  return /^\d{1,9}$/.test(text) && Number(text) > 0 ? Number(text) : null;
}

import { existsSync, readFileSync } from "node:fs";

/** The variable with the file for `turn-recorder.ts`. */
export const TURNS_FILE = "WHEREHOUSE_BENCH_TURNS";

/** The longest turn of the event loop since then (Unix ms), in milliseconds of processor time; 0 if all were short. */
export function longestTurnMs(path: string, sinceMs: number): number {
  if (!existsSync(path)) return 0; // No turn was long enough yet.
  let longestMs = 0;
  for (const line of readFileSync(path, "utf8").trimEnd().split("\n")) {
    const [endMs, turnMs] = line.split(" ").map(Number);
    if (endMs! >= sinceMs) longestMs = Math.max(longestMs, turnMs!);
  }
  return longestMs;
}

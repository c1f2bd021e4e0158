import { existsSync, readFileSync } from "node:fs";

/** Names the file that `turn-recorder.ts` writes. */
export const TURNS_FILE = "WHEREHOUSE_BENCH_TURNS";

/**
 * The longest turn of the event loop that ended since then (Unix ms), in milliseconds of processor time; 0 where all
 * were short.
 */
export function longestTurnMs(path: string, sinceMs: number): number {
  if (!existsSync(path)) return 0; // No turn was worth a line yet.
  let longestMs = 0;
  for (const line of readFileSync(path, "utf8").trimEnd().split("\n")) {
    const [endMs, turnMs] = line.split(" ").map(Number);
    if (endMs! >= sinceMs) longestMs = Math.max(longestMs, turnMs!);
  }
  return longestMs;
}

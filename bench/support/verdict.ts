import { readable } from "./report.ts";

/** Prints a figure beside what it must reach, and whether it does. */
export function printAtMost(name: string, value: number, bound: number): void {
  print(name, value, `at most ${readable(bound)}`, value <= bound);
}

export function printAtLeast(name: string, value: number, bound: number): void {
  print(name, value, `at least ${readable(bound)}`, value >= bound);
}

function print(name: string, value: number, wanted: string, isReached: boolean): void {
  console.log(`  ${name}: ${readable(value)} (wanted: ${wanted}; ${isReached ? "reached" : "missed"})`);
}

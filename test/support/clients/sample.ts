import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const PAYLOADS = resolve(import.meta.dirname, "../../data/payloads");

/** A client's request, byte for byte (test/data/payloads/README.md). */
export function sample(path: string): string {
  return readFileSync(resolve(PAYLOADS, path), "utf8");
}

/** Samples with one line each. */
export function sampleLines(path: string): string[] {
  return sample(path).trimEnd().split("\n");
}

/** The parameters of a sample that is a URL or a query. */
export function parametersOf(line: string): URLSearchParams {
  return new URLSearchParams(line.slice(line.indexOf("?") + 1));
}

import { expect } from "bun:test";
import type { ArchiveApp } from "../archive-app.ts";

/** The bytes of an answer without parts that may differ: `query_info`, `total_estimated`, and durations. */
export async function answerBytes(app: ArchiveApp, path: string): Promise<string> {
  const response = await app.fetch(path, { headers: { authorization: `Bearer ${app.keys.full}` } });
  const comparable = (await response.text())
    .replace(/"query_info":\{"time_range":\{[^}]*\}[^}]*\}/, "")
    .replace(/"total_estimated":\d+/, "")
    .replace(/"total_candidates":\d+/, "") // One index may still know a removed device.
    .replace(/"query_time_ms":[\d.]+/, "");
  return `${response.status} ${comparable}`;
}

/** Sends the same requests to all apps, and compares the answers with those of the first. */
export async function expectSameAnswers(
  expected: ArchiveApp,
  others: readonly ArchiveApp[],
  paths: readonly string[],
): Promise<void> {
  for (const path of paths) {
    const answer = await answerBytes(expected, path);
    for (const app of others) expect(`${path}\n${await answerBytes(app, path)}`).toBe(`${path}\n${answer}`);
  }
}

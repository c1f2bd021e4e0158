import { expect } from "bun:test";
import type { ArchiveApp } from "../archive-app.ts";
import { answerBytes } from "./answer-bytes.ts";

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

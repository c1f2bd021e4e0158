import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Client, get } from "../support/client.ts";

/** What a server answered about a directory when its release was made, and must answer after every upgrade. */

export const UPGRADES = join(import.meta.dir, "../../data/upgrades");

export const DIRECTORY_FILE = "directory.tar.gz";

export interface Answers {
  readonly key: string;
  /** The bodies by path: parsed if they are JSON, else their text. */
  readonly bodies: Readonly<Record<string, unknown>>;
}

export function readAnswers(release: string): Answers {
  return JSON.parse(readFileSync(join(UPGRADES, release, "answers.json"), "utf8")) as Answers;
}

export function writeAnswers(folder: string, answers: Answers): void {
  writeFileSync(join(folder, "answers.json"), `${JSON.stringify(answers)}\n`);
}

export async function askAll(client: Client, paths: readonly string[]): Promise<Answers["bodies"]> {
  const bodies: [string, unknown][] = [];
  for (const path of paths) {
    const response = await get(client, path);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`);
    const isJson = response.headers.get("content-type")?.includes("json") && !text.includes("\n");
    bodies.push([path, isJson ? JSON.parse(text, withoutCost) : text]);
  }
  return Object.fromEntries(bodies);
}

/** Leaves out what an answer says about its own cost, which differs from run to run. */
function withoutCost(name: string, value: unknown): unknown {
  return name === "query_info" ? undefined : value;
}

import { cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BenchRun } from "../../run/bench.ts";
import type { ServerProcess, WherehouseProcess } from "../../servers/server.ts";
import type { City, CityOptions } from "../city.ts";
import type { Cores } from "../cores.ts";
import type { NearbyQuestions } from "../nearby-kinds.ts";
import { type PairsByName, takePairs, withBareServer } from "../pairs.ts";
import type { Sized } from "../sized.ts";
import type { Client } from "../turn.ts";

/** What is asked of servers over HTTP, and what comes of it; a run may be narrowed to some parts. */
export interface Part {
  /** In one launch. */
  measure(setting: Setting, server: WherehouseProcess): Promise<void>;
  /** Once all launches are over. */
  report(setting: Setting, judgement: Judgement): void;
}

/** What all parts share. */
export interface Setting {
  readonly run: BenchRun;
  readonly cores: Cores;
  readonly cityOptions: CityOptions;
  readonly city: City;
  /** Filled with the city; each launch begins with a copy. */
  readonly dataDir: string;
  readonly ask: Client;
  readonly pairs: PairsByName;
  /** Questions of who is near, those of each kind chosen when they are first asked for. */
  readonly nearby: NearbyOfKinds;
}

export interface NearbyOfKinds {
  of(kindName: string, server: WherehouseProcess): Promise<NearbyQuestions>;
}

export interface Judgement {
  /** Whether the bounds were said of a run like this one. */
  readonly isJudged: boolean;
  /** Whether shares of the bare server may be judged: a client that limits the control would flatter ours. */
  readonly areSharesJudged: boolean;
}

export interface PairsOptions {
  readonly name: string;
  readonly questions: Sized;
  readonly rounds: number;
}

/** Asks a server and one that sends as many bytes. */
export async function measurePairs(
  { run, cores, ask, pairs }: Setting,
  server: ServerProcess,
  { name, questions, rounds }: PairsOptions,
): Promise<void> {
  await withBareServer({ bytes: questions.answerBytes }, cores.serverLauncher, (bare) =>
    takePairs(pairs.of(name), rounds, secondsOf(run), (whom, seconds) =>
      ask(whom === "ours" ? server : bare, questions, seconds),
    ),
  );
}

export function secondsOf(run: BenchRun) {
  return { warm: run.size("warmSeconds"), turn: run.size("seconds") };
}

/** A launch begins with the same directory as all others. */
export function copyOf(dataDir: string): string {
  const copy = mkdtempSync(join(tmpdir(), "wherehouse-bench-"));
  cpSync(dataDir, copy, { recursive: true });
  return copy;
}

export function wholeText(value: number): string {
  return Math.round(value).toLocaleString("en");
}

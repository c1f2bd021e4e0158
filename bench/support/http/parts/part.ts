import { cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BenchRun } from "../../run/bench.ts";
import type { ServerProcess, WherehouseProcess } from "../../servers/server.ts";
import type { City, CityOptions } from "../city.ts";
import type { Cores } from "../cores.ts";
import type { NearbyQuestions } from "../nearby-kinds.ts";
import { holdMicrosOf, type Judgement, type PairsByName, withBareServer } from "../pairs.ts";
import type { Sized } from "../sized.ts";
import type { Client } from "../turn.ts";

/** A part of the HTTP bench; a run may be limited to some parts. */
export interface Part {
  /** Measures one launch. */
  measure(setting: Setting, server: WherehouseProcess): Promise<void>;
  /** Reports the figures after all launches. */
  report(setting: Setting, judgement: Judgement): void;
}

/** Values shared by all parts. */
export interface Setting {
  readonly run: BenchRun;
  readonly cores: Cores;
  readonly cityOptions: CityOptions;
  readonly city: City;
  /** The city's directory; each launch uses a copy. */
  readonly dataDir: string;
  readonly ask: Client;
  readonly pairs: PairsByName;
  /** Nearby queries; those of a kind are chosen at its first use. */
  readonly nearby: NearbyOfKinds;
}

export interface NearbyOfKinds {
  of(kindName: string, server: WherehouseProcess): Promise<NearbyQuestions>;
}

export interface PairsOptions {
  readonly name: string;
  readonly questions: Sized;
  readonly rounds: number;
}

/**
 * Compares a server with one that sends as many bytes, and with one that also holds each answer for as long as the
 * first takes. All three take turns.
 */
export async function measurePairs(
  { run, cores, ask, pairs }: Setting,
  server: ServerProcess,
  { name, questions, rounds }: PairsOptions,
): Promise<void> {
  const { warm, turn } = secondsOf(run);
  const { ours, control, busy } = pairs.of(name);
  const bytes = questions.answerBytes;
  await withBareServer({ bytes }, cores.serverLauncher, async (bare) => {
    const bareTurn = await ask(bare, questions, warm);
    await ask(server, questions, warm);
    const holdMicros = holdMicrosOf(await ask(server, questions, warm), bareTurn);
    await withBareServer({ bytes, holdMicros }, cores.serverLauncher, async (busyBare) => {
      await ask(busyBare, questions, warm);
      for (let round = 0; round < rounds; round++) {
        control.push(await ask(bare, questions, turn));
        busy.push({ ...(await ask(busyBare, questions, turn)), holdMicros });
        ours.push(await ask(server, questions, turn));
      }
    });
  });
}

export function secondsOf(run: BenchRun) {
  return { warm: run.size("warmSeconds"), turn: run.size("seconds") };
}

/** Copies the directory for a launch. */
export function copyOf(dataDir: string): string {
  const copy = mkdtempSync(join(tmpdir(), "wherehouse-bench-"));
  cpSync(dataDir, copy, { recursive: true });
  return copy;
}

export function wholeText(value: number): string {
  return Math.round(value).toLocaleString("en");
}

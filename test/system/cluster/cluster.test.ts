import { describe, expect, test } from "bun:test";
import { hasNatsServer } from "../../support/nats/nats-server.ts";
import { type ClusterRun, runCluster } from "./run/cluster-run.ts";
import type { FaultKind } from "./run/faults.ts";
import { playScenes } from "./run/scenes.ts";
import { isGood, summaryText } from "./run/summary.ts";

/*
 * Goal: what a cluster acknowledged is on every node, once, and questions are answered, whatever dies meanwhile.
 * Method: three real nats-servers and three real nodes, one of them on Deno; a round of each kind that tells most.
 * `npm run cluster -- --rounds 200` has all kinds, longer ones too.
 */

const KINDS: readonly FaultKind[] = [
  "leader and node killed",
  "node cut off",
  "leader stopped",
  "node stopped",
  "clients killed",
];
const STOPPED_MS_MAX = 3000;

describe.if(hasNatsServer("rounds of a cluster whose servers, nodes and clients are killed"))(
  "a cluster",
  () => {
    test("keeps what it acknowledged through five rounds, and all nodes have the same days", async () => {
      const steps: string[] = [];
      let run: ClusterRun;
      try {
        run = await runCluster({
          kinds: KINDS,
          seed: 7,
          stoppedMsMax: STOPPED_MS_MAX,
          keep: false,
          hasScenes: false,
          onStep: (step) => steps.push(step),
          onRound: () => undefined,
          signal: new AbortController().signal,
        });
      } catch (cause) {
        throw new Error(`It came as far as: ${steps.at(-1)}`, { cause });
      }
      if (!isGood(run)) console.error(summaryText(run));
      expect(isGood(run)).toBe(true);
      expect(run.imported).toBeGreaterThan(6000);
      expect(run.days.length).toBeGreaterThan(KINDS.length);
      expect(run.days.filter(({ archivedOn }) => archivedOn === 3).length).toBeGreaterThan(0);
      for (const { found, acknowledged, lost, twice } of run.rounds) {
        expect(acknowledged).toBeGreaterThan(100);
        expect({ found, lost, twice }).toEqual({ found: found.map(() => acknowledged), lost: 0, twice: 0 });
      }
      const ofNodes = run.rounds.filter(({ kind }) => kind.startsWith("node"));
      expect(ofNodes.map(({ failedQuestions }) => failedQuestions)).toEqual(ofNodes.map(() => 0));
      for (const { questions } of ofNodes) expect(questions).toBeGreaterThan(10);
    });

    test("refuses a node that returns too late, and one that knew another log, and says what to do", async () => {
      expect(await playScenes(() => undefined, new AbortController().signal)).toEqual([]);
    });
  },
);

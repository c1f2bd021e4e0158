import { seededRandom } from "../../../support/seeded-random.ts";
import { until } from "../../../support/until.ts";
import { pause } from "../../support/pause.ts";
import { createPicker, type Picker } from "../../support/random.ts";
import type { Put, Read } from "../check/history.ts";
import { checkRound, type RoundVerdict } from "../check/rounds.ts";
import { type Clients, startClients } from "../clients/clients.ts";
import { rowsOf } from "./copies.ts";
import { drawFault, type FaultKind } from "./faults.ts";
import type { Lab } from "./lab.ts";

/** Clients report and ask, something goes wrong and is set right, and what was acknowledged is looked for. */

const MS_PER_DAY = 86_400_000;
/** The days of rounds, by turns: old ones are archived while others go on. */
const DAYS_AGO = [12, 2, 11, 3, 10, 4, 9, 5, 8, 6, 7, 1];
/** Days that are in memory for sure; one that is longer ago may be archived. */
const MEMORY_DAYS = 6;

const PROCESSES = 2;
const CLIENTS = 6; // Two of each node.
const PAUSE_MS_MAX = 60;

const READY_MS_MAX = 90_000;
/** What is under way when everything runs again comes to its end. */
const SETTLE_MS_MAX = 45_000;

export interface RoundResult extends RoundVerdict {
  readonly round: number;
  readonly kind: FaultKind;
  readonly what: string;
  /** The longest time from the fault on in which nothing was acknowledged. */
  readonly silenceMs: number;
  readonly batches: number;
  /** Batches that were refused, or whose answer was lost; clients send them again. */
  readonly refused: number;
  readonly questions: number;
  /** Asked of two nodes in vain. */
  readonly failedQuestions: number;
  /** How they failed the second time, for people. */
  readonly failures: readonly string[];
}

export interface RoundOptions {
  readonly lab: Lab;
  readonly round: number;
  readonly kind: FaultKind;
  readonly seed: number;
  readonly stoppedMsMax: number;
  /** Told of clients as they start, so that they can be ended. */
  onClients(clients: readonly Clients[]): void;
  onStep(step: string): void;
}

/** The day whose times the reports of a round have. */
export function roundDayMs(round: number): number {
  return Math.floor(Date.now() / MS_PER_DAY - DAYS_AGO[(round - 1) % DAYS_AGO.length]!) * MS_PER_DAY;
}

export async function runRound(options: RoundOptions): Promise<RoundResult> {
  const { lab, round, kind, seed, onStep } = options;
  const pick = createPicker(seededRandom(seed * 1000 + round));
  const firstMs = roundDayMs(round);
  const clients = start(options, pick, firstMs);
  options.onClients(clients);
  await pause(pick.integer(800, 1800));
  const fault = await drawFault(options, clients, pick);
  const beginMs = performance.timeOrigin + performance.now();
  onStep(`${kind}: ${fault.what}`);
  await fault.begin();
  await pause(fault.durationMs);
  await fault.end();
  onStep("all are started again");
  await lab.servers.whole(lab.stream);
  await Promise.all(lab.nodes.map((node) => node.ready(READY_MS_MAX)));
  await pause(pick.integer(300, 1000));
  const endMs = performance.timeOrigin + performance.now();
  const histories = await Promise.all(clients.map((each) => each.stop()));
  const puts = histories.flatMap((history) => history.puts);
  const reads = histories.flatMap((history) => history.reads);
  const verdict = await settle(lab, firstMs, puts, reads);
  const complaints = histories.flatMap(({ complaint }) => complaint ?? []);
  const asked = questionsOf(reads);
  const failures = histories.flatMap((history) => history.failures);
  if (fault.mustShow !== null && !failures.some((failure) => fault.mustShow!.test(failure)))
    complaints.push(`${kind}: no request failed with ${fault.mustShow}`);
  return {
    ...verdict,
    faults: [...complaints, ...verdict.faults],
    round,
    kind,
    what: fault.what,
    silenceMs: silenceOf(puts, beginMs, endMs),
    batches: puts.filter(({ outcome }) => outcome === "ok").length,
    refused: puts.filter(({ outcome }) => outcome !== "ok").length,
    ...asked,
    failures: asked.failedQuestions === 0 ? [] : failures,
  };
}

function start({ lab, round, seed }: RoundOptions, pick: Picker, firstMs: number): Clients[] {
  return Array.from({ length: PROCESSES }, (_, index) =>
    startClients({
      urls: lab.nodes.map(({ url }) => url),
      key: lab.key,
      seed: pick.integer(0, 1e6),
      name: `s${seed}-r${round}-${index}`,
      shared: `s${seed}-r${round}-shared`,
      number: index + 1,
      firstMs,
      clients: CLIENTS,
      pauseMsMax: PAUSE_MS_MAX,
    }),
  );
}

/** Looks until all nodes have the same and nothing is wrong, or it is no use to wait any longer. */
async function settle(
  lab: Lab,
  firstMs: number,
  puts: readonly Put[],
  reads: readonly Read[],
): Promise<RoundVerdict> {
  const acknowledged = puts.filter(({ outcome }) => outcome === "ok");
  const devices = [...new Set(acknowledged.map(({ device }) => device))];
  const mayBeArchived = firstMs < Date.now() - (MEMORY_DAYS + 1) * MS_PER_DAY;
  const untilMs = performance.now() + SETTLE_MS_MAX;
  let verdict: RoundVerdict | undefined;
  await until(async () => {
    const copies = await Promise.all(lab.nodes.map((node) => rowsOf(node, lab.key, firstMs, devices)));
    const known = new Set(devices);
    verdict = checkRound({
      puts: puts.filter(({ device }) => known.has(device)),
      reads,
      firstMs,
      mayBeArchived,
      copies,
    });
    return verdict.faults.length === 0 || performance.now() > untilMs;
  });
  return verdict!;
}

function silenceOf(puts: readonly Put[], beginMs: number, endMs: number): number {
  const ends = puts.filter(({ outcome }) => outcome === "ok").map((put) => put.endMs!);
  const times = [
    beginMs,
    ...ends.filter((atMs) => atMs > beginMs && atMs < endMs).sort((a, b) => a - b),
    endMs,
  ];
  return Math.max(...times.slice(1).map((atMs, index) => atMs - times[index]!));
}

/** Questions whose client was ended meanwhile count for nothing. */
function questionsOf(reads: readonly Read[]) {
  const answered = reads.filter(({ endMs }) => endMs !== null);
  return {
    questions: answered.filter(({ isRetry }) => !isRetry).length,
    failedQuestions: answered.filter(({ isRetry, outcome }) => isRetry && outcome !== "ok").length,
  };
}

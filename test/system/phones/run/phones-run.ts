import { type Runtime, runCommand } from "../../../support/server-process.ts";
import { until } from "../../../support/until.ts";
import { pause } from "../../support/pause.ts";
import type { Judgement, Kept } from "../check/judge.ts";
import type { Tampering } from "../faults/network.ts";
import { annoyPhones } from "../faults/people.ts";
import { startVandal } from "../faults/vandal.ts";
import { type FaultCounts, makeWeather } from "../faults/weather.ts";
import type { Phone } from "../phone/phone.ts";
import { judgeScene } from "./evidence.ts";
import type { PhonePlan } from "./fleet.ts";
import { openScene, type Scene } from "./scene.ts";

/*
 * Goal: whatever befalls the server and its phones, each point is stored, in the quarantine, or lost by its client's
 * own rule; no phone is jammed, and none is harmed by another.
 * Method: phones with each client's queue rule report over a bad network to the real server, which is killed, frozen
 * and without room, while keys are revoked and mistyped; then all is well, queues drain, and every point is looked for.
 */

export interface PhonesOptions {
  readonly runtime: Runtime;
  readonly seed: number;
  /** Of the faults; the queues drain after it. */
  readonly durationMs: number;
  /** How many minutes of a phone are a minute here. */
  readonly times: number;
  readonly fleet: readonly PhonePlan[];
  /** Whether anything befalls the server; phones and keys have their troubles anyway. */
  readonly hasWeather?: boolean;
  /** How long queues may stay as long as they are once all is well; after it a phone is jammed. */
  readonly stillMsMax?: number;
  /** A fault of the server that the run must find. */
  readonly planted?: Planted;
  /** Whether the data directory is left for somebody to look at where something is wrong. */
  readonly keepsPlace?: boolean;
  readonly onProgress?: (elapsedMs: number) => void;
}

/** What a run is made to look at instead of a server without faults. */
export interface Planted {
  readonly tampering?: Tampering;
  /** What is shown of an app in the end. */
  readonly kept?: (kept: Kept) => Kept;
}

export interface PhonesRun extends Judgement {
  readonly faultCounts: FaultCounts;
  readonly starts: number;
  readonly drainMs: number;
  /** What the vandal was answered, by status. */
  readonly vandal: ReadonlyMap<string, number>;
  readonly verifyCode: number | null;
  /** Where it is left. */
  readonly directory: string | null;
}

const MAKE_MS = 400;
const BURST_POINTS = 10; // What a phone has measured while it was in no network.
const BURST_SHARE = 0.03;
const STILL_MS_MIN = 40_000; // A machine that is busy with much else must not look like a jam.
const LONGEST_PAUSE_MS = 900_000; // Colota's.

export async function runPhones(options: PhonesOptions): Promise<PhonesRun> {
  const { runtime, seed, times, fleet, durationMs, planted = {}, keepsPlace = false } = options;
  const pointsMax = 10 + Math.ceil((2 * durationMs) / MAKE_MS);
  const scene = await openScene({
    runtime,
    seed,
    times,
    fleet,
    pointsMax,
    tampering: planted.tampering ?? null,
  });
  let isGood = false;
  try {
    const run = await runScene(scene, options);
    isGood = run.faults.length === 0 && run.verifyCode === 0;
    return { ...run, directory: isGood || !keepsPlace ? null : scene.place.directory };
  } finally {
    await scene.close(keepsPlace && !isGood);
  }
}

async function runScene(scene: Scene, options: PhonesOptions): Promise<Omit<PhonesRun, "directory">> {
  const { runtime, server, phones, pace, network, place, vandalsKey } = scene;
  await server.start(true);
  const vandal = startVandal(network.url, vandalsKey.text, pace);
  const faultCounts = await makeTrouble(scene, options);
  const { stillMsMax = STILL_MS_MIN + 2 * pace.pauseMs(LONGEST_PAUSE_MS) } = options;
  const drainMs = await untilDrained(phones, stillMsMax);
  for (const phone of phones) await phone.switchOff();
  await vandal.stop();

  const judged = await judgeScene(scene, options.planted?.kept ?? ((kept) => kept));
  const { code: verifyCode } = await runCommand(runtime, place, ["verify"]);
  return {
    phones: judged.phones,
    faults: [...judged.faults, ...vandal.witness.faults.map((fault) => `the vandal: ${fault}`)],
    ...{ faultCounts, drainMs, verifyCode },
    starts: server.starts,
    vandal: vandal.witness.counts,
  };
}

/** Phones report, and everything goes wrong; in the end all of it is right again, and phones make no more points. */
async function makeTrouble(scene: Scene, { durationMs, onProgress, hasWeather = true }: PhonesOptions) {
  const { phones, pick, pace } = scene;
  const startedMs = pace.elapsedMs();
  const isOver = () => pace.elapsedMs() - startedMs >= durationMs;
  for (const phone of phones) phone.switchOn();
  const over = new AbortController();
  async function makePoints(): Promise<void> {
    for (await pause(MAKE_MS, over.signal); !over.signal.aborted; await pause(MAKE_MS, over.signal)) {
      for (const phone of phones) {
        const count = pick.maybe(BURST_SHARE, () => BURST_POINTS) ?? 1;
        for (let point = 0; point < count; point++) phone.makePoint();
      }
      onProgress?.(pace.elapsedMs() - startedMs);
    }
  }
  const made = makePoints();
  const people = annoyPhones({ ...scene, restMsMax: durationMs / 40 }, isOver);
  const counts: FaultCounts = hasWeather ? await makeWeather(scene, isOver) : new Map();
  await people;
  over.abort();
  await made;
  return counts;
}

/** How long it took; ends where no queue gets any shorter for this long, and then a phone is jammed. */
async function untilDrained(phones: readonly Phone[], stillMsMax: number): Promise<number> {
  const startedMs = performance.now();
  const countWaiting = () => phones.reduce((sum, { ledger }) => sum + ledger.waiting().length, 0);
  let fewest = countWaiting();
  let fewestAtMs = startedMs;
  await until(() => {
    const waiting = countWaiting();
    if (waiting < fewest) [fewest, fewestAtMs] = [waiting, performance.now()];
    return fewest === 0 || performance.now() - fewestAtMs > stillMsMax;
  });
  return performance.now() - startedMs;
}

import type { ReferenceReport } from "../../../reference/records.ts";
import { unlessHung } from "../../../support/hang-guard.ts";
import { seededRandom } from "../../../support/seeded-random.ts";
import {
  closePlace,
  openPlace,
  type Place,
  type Runtime,
  readFirstKey,
  runCommand,
  type ServerProcess,
  startServing,
} from "../../../support/server-process.ts";
import { until } from "../../../support/until.ts";
import type { Client } from "../../support/client.ts";
import { pause } from "../../support/pause.ts";
import { createPicker, type Picker } from "../../support/random.ts";
import { bostonTrack } from "../../support/track.ts";
import { checkAll, checkDevices } from "./check.ts";
import { postOn, readOn } from "./clients.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { createProfileEditors, type ProfileEditors } from "./profile-editors.ts";
import { daysIn, isSealingNow, untilArchived, untilSealed, untilSealing } from "./seals.ts";
import { planTours, type Tour } from "./tour.ts";

/*
 * Goal: nothing that was acknowledged is ever lost or changed, whenever the process is killed.
 * Method: one data directory for all rounds; in each, clients post, edit profiles and ask while days are sealed,
 * `kill -9` comes at a random moment, then often once more while the log is replayed or the start's seal runs; then all
 * is asked for.
 */

export interface SoakOptions {
  readonly runtime: Runtime;
  readonly rounds: number;
  readonly seed: number;
  /** The longest that clients post before a kill that waits for no seal. */
  readonly loadMsMax?: number;
  readonly onRound: (round: number) => void;
}

export interface SoakSummary {
  readonly rounds: number;
  readonly acknowledgedReports: number;
  /** Profiles set and deleted. */
  readonly acknowledgedEdits: number;
  readonly records: number;
  readonly archivedDays: number;
  readonly kills: Readonly<Record<"underLoad" | "inReplay" | "inSeal" | "afterSeal", number>>;
  /** Starts that failed. The rounds end with the first. */
  readonly refusedStarts: readonly string[];
  /** Differences between what the server says and what it was told: lost, doubled or changed records, and all else. */
  readonly wrongAnswers: readonly string[];
  /** Of every start, in milliseconds, sorted: from the command to the moment when all can be queried. */
  readonly readyMs: readonly number[];
  readonly verifyCode: number | null;
  /** Kept where something was wrong. */
  readonly directory: string | null;
}

const CLIENTS = 4;
const READERS = 2;
/** Devices with profiles: some that report, and as many that never do. */
const NAMED_DEVICES = 40;
export const ROUND_EDITS_MIN = 10;
const LOAD_MS_MIN = 150;
const LOAD_MS_MAX = 1200;
/** A start takes a second; on a machine that is busy with much else, dozens. */
const READY_MS_MAX = 110_000;
const FULL_CHECK_ROUNDS = 20;
const ROUNDS_REMEMBERED = 2;
const WRONG_MAX = 20; // More of them tell nothing new, and the rounds end.

/** When the load is killed: after some time, or when a seal has begun or ended since. Rounds take turns. */
const MOMENTS = ["at any time", "in a seal", "after a seal"] as const;
type Moment = (typeof MOMENTS)[number];

const SERVE_FLAGS = ["--seal-every", "1s"];

export async function soak(options: SoakOptions): Promise<SoakSummary> {
  const { runtime, rounds, seed, loadMsMax = LOAD_MS_MAX, onRound } = options;
  const pick = createPicker(seededRandom(seed));
  const place = openPlace();
  const ledger = createLedger("default");
  const { reports } = bostonTrack(place.directory);
  const tours = planTours(reports, CLIENTS, pick, Date.now());
  const profiles = createProfileEditors(namedDevices(reports));
  const kills = { underLoad: 0, inReplay: 0, inSeal: 0, afterSeal: 0 };
  const readyMs: number[] = [];
  const refusedStarts: string[] = [];
  const wrongAnswers: string[] = [];
  const recentDevices: ReadonlySet<string>[] = [];
  let done = 0;

  async function start(): Promise<ServerProcess> {
    try {
      const startedMs = performance.now();
      const server = await startServing(runtime, place, SERVE_FLAGS);
      await untilReady(server);
      readyMs.push(performance.now() - startedMs);
      return server;
    } catch (error) {
      refusedStarts.push(String(error));
      throw error;
    }
  }

  async function runRound(running: ServerProcess, round: number): Promise<ServerProcess> {
    const client = { url: running.url, key: readFirstKey(place) };
    const loadMs = pick.integer(LOAD_MS_MIN, loadMsMax);
    const moment = MOMENTS[round % MOMENTS.length]!;
    const load = { running, client, pick, ledger, profiles, tours, place, loadMs, moment };
    const wrong = await killUnderLoad(load);
    kills.underLoad++;
    if (wrong.isSealing) kills.inSeal++;
    if (moment === "after a seal") kills.afterSeal++;
    wrongAnswers.push(...wrong.answers);
    for (const again of [pick.maybe(0.35, () => "replay"), pick.maybe(0.25, () => "first seal")]) {
      if (again === "replay" && (await killInReplay(runtime, place, pick))) kills.inReplay++;
      if (again === "first seal" && (await killInFirstSeal(await start(), place, pick))) kills.inSeal++;
    }
    const server = await start();
    const asked = { ...client, url: server.url };
    wrongAnswers.push(...(await ledger.settle(asked)), ...(await profiles.findWrong(asked)));
    recentDevices.push(ledger.takeTouched());
    if (recentDevices.length > ROUNDS_REMEMBERED) recentDevices.shift();
    const isFull = round % FULL_CHECK_ROUNDS === 0 || round === rounds;
    const recent = new Set(recentDevices.flatMap((devices) => [...devices]));
    wrongAnswers.push(
      ...(await (isFull ? checkAll(asked, ledger.fleet, pick) : checkDevices(asked, ledger.fleet, recent))),
    );
    if (/Failed to answer|Damaged/.test(server.error)) wrongAnswers.push(server.error);
    return server;
  }

  let verifyCode: number | null = null;
  try {
    let server = await start();
    while (done < rounds && wrongAnswers.length < WRONG_MAX) {
      server = await runRound(server, done + 1);
      onRound(++done);
    }
    await untilArchived(place);
    const ended = await server.stop();
    if (ended.code !== 0) wrongAnswers.push(`SIGTERM ended with ${ended.code}: ${ended.error}`);
    verifyCode = (await runCommand(runtime, place, ["verify"])).code;
  } catch (error) {
    if (refusedStarts.length === 0) throw error;
  }
  const isGood = wrongAnswers.length + refusedStarts.length === 0 && verifyCode === 0;
  const archivedDays = daysIn(place);
  if (isGood) await closePlace(place);
  return {
    rounds: done,
    acknowledgedReports: ledger.acknowledgedReports,
    acknowledgedEdits: profiles.acknowledgedEdits,
    records: ledger.fleet.records().length,
    archivedDays,
    kills,
    refusedStarts,
    wrongAnswers,
    readyMs: readyMs.sort((a, b) => a - b),
    verifyCode,
    directory: isGood ? null : place.directory,
  };
}

function namedDevices(reports: readonly ReferenceReport[]): string[] {
  const reporting = [...new Set(reports.map(({ device_id }) => device_id))].slice(0, NAMED_DEVICES);
  return reporting.flatMap((deviceId, index) => [deviceId, `silent ${index}`]);
}

interface LoadOptions {
  readonly running: ServerProcess;
  readonly client: Client;
  readonly pick: Picker;
  readonly ledger: Ledger;
  readonly profiles: ProfileEditors;
  readonly tours: readonly Tour[];
  readonly place: Place;
  readonly loadMs: number;
  readonly moment: Moment;
}

async function killUnderLoad(load: LoadOptions) {
  const { running, client, pick, ledger, profiles, tours, place, loadMs, moment } = load;
  const answers: string[] = [];
  let isOver = false;
  const options = {
    client,
    pick,
    ledger,
    isOver: () => isOver,
    onWrong: (what: string) => answers.push(what),
  };
  for (const tour of tours) tour.turn();
  const clients = tours.map((tour) => postOn(options, tour));
  const readers = Array.from({ length: READERS }, () => readOn(options));
  const edits = profiles.acknowledgedEdits + ROUND_EDITS_MIN;
  const editors = profiles.editOn(options);
  await pause(loadMs);
  await Promise.race([editors, until(() => isOver || profiles.acknowledgedEdits >= edits)]);
  if (moment === "in a seal") await untilSealing(place, pick);
  if (moment === "after a seal") await untilSealed(place, pick);
  const isSealing = isSealingNow(place);
  isOver = true;
  running.kill("SIGKILL");
  await Promise.all([...clients, ...readers, editors, running.ended]);
  return { answers, isSealing };
}

/** True where the process was not ready when it was killed. */
async function killInReplay(runtime: Runtime, place: Place, pick: Picker): Promise<boolean> {
  const server = await startServing(runtime, place, SERVE_FLAGS);
  await pause(pick.integer(0, 40));
  server.kill("SIGKILL");
  return !(await server.ended).error.includes("Ready after");
}

async function killInFirstSeal(server: ServerProcess, place: Place, pick: Picker): Promise<boolean> {
  await pause(pick.integer(0, 300));
  const isSealing = isSealingNow(place);
  server.kill("SIGKILL");
  await server.ended;
  return isSealing;
}

/** Ends a server whose start hangs, and says how far it was. */
export async function untilReady(server: ServerProcess): Promise<void> {
  try {
    await unlessHung(server.says(/Ready after/), "a start", READY_MS_MAX);
  } catch (cause) {
    const state = await fetch(`${server.url}/ready`).then((answer) => answer.text(), String);
    server.kill("SIGKILL");
    throw new Error(`Not ready: /ready says ${state}; it said: ${server.error}`, { cause });
  }
}

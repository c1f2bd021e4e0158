import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openKeyStore } from "../../../../src/auth/key-store.ts";
import { parseLedger } from "../../../../src/directory/erasure-ledger.ts";
import { directoryPaths } from "../../../../src/directory/paths.ts";
import { systemClock as clock } from "../../../../src/model/time/clock.ts";
import { startOfUtcDayMs } from "../../../../src/model/time/retention.ts";
import { createPlatform } from "../../../../src/runtime/platform.ts";
import { unlessHung } from "../../../support/hang-guard.ts";
import { seededRandom } from "../../../support/seeded-random.ts";
import {
  closePlace,
  openPlace,
  type Place,
  type Runtime,
  runCommand,
  type ServerProcess,
  startServing,
} from "../../../support/server-process.ts";
import { until } from "../../../support/until.ts";
import { type Client, get, type IngestAnswer, post, store, untilKnown } from "../../support/client.ts";
import { pause } from "../../support/pause.ts";
import { createPicker, type Picker } from "../../support/random.ts";
import { checkRecords } from "./check.ts";
import { postOn } from "./clients.ts";
import { untilReady } from "./crash-soak.ts";
import { ErasedSubject } from "./erased-subject.ts";
import { createLedger } from "./ledger.ts";
import { createSmallTour } from "./small-tour.ts";
import { storeOthers, UnchangedAnswers } from "./unchanged-answers.ts";

/*
 * Goal: whenever the process is killed, an erasure is done whole, leaves no trace, and takes nothing else along.
 * Method: one data directory for all rounds. In each, a device or a user is erased that the log, the archive,
 * corrections, profiles and the quarantine know, while a client reports of other devices; `kill -9` comes at random
 * moments between the request and the end, and in starts. After each round `verify --erased` searches all files, and
 * all else is asked for.
 */

export interface ErasureSoakOptions {
  readonly runtime: Runtime;
  readonly kills: number;
  readonly seed: number;
  readonly onKill: (kills: number) => void;
}

/** What a kill left of an erasure: where its moment was. */
export const KILL_MOMENTS = ["unanswered", "masked", "rewritten", "finished", "inStart"] as const;
export type KillMoment = (typeof KILL_MOMENTS)[number];

export interface ErasureSummary {
  /** Erasures that were finished. */
  readonly erasures: number;
  readonly kills: Readonly<Record<KillMoment, number>>;
  readonly acknowledgedReports: number;
  readonly refusedStarts: readonly string[];
  /** Differences between what the server says and what it must: traces, lost or changed records, and all else. */
  readonly wrongAnswers: readonly string[];
  /** From the last start of a round to the end of its erasure, in milliseconds, sorted. */
  readonly finishedMs: readonly number[];
  readonly verifyCode: number | null;
  /** Kept if anything was wrong. */
  readonly directory: string | null;
}

const APP_ID = "default";
const SERVE_FLAGS = ["--seal-every", "1s"];
/** Subjects whose archived days are reported at once. */
const SUBJECTS_AT_ONCE = 20;
/** Kills of one round: each is followed by another one with this probability. */
const AGAIN = 0.55;
const KILL_IN_START = 0.2;
const START_MS_MAX = 60;
/** A kill comes before this time, or this many times how long the last erasure took. */
const WINDOW_MS = 1500;
const WINDOW_TIMES = 1.1;
const REST_MS = 40;
const FINISH_MS_MAX = 110_000;
const WRONG_MAX = 20; // More of them tell nothing new, and the rounds end.

export async function soakErasures(options: ErasureSoakOptions): Promise<ErasureSummary> {
  const place = openPlace();
  const soak = new ErasureSoak(options, place);
  const summary = await soak.run();
  const isGood = summary.wrongAnswers.length + summary.refusedStarts.length === 0 && summary.verifyCode === 0;
  if (isGood) await closePlace(place);
  return { ...summary, directory: isGood ? null : place.directory };
}

class ErasureSoak {
  readonly #options: ErasureSoakOptions;
  readonly #place: Place;
  readonly #pick: Picker;
  readonly #todayMs = startOfUtcDayMs(Date.now());
  readonly #ledger = createLedger(APP_ID);
  readonly #kills = Object.fromEntries(KILL_MOMENTS.map((moment) => [moment, 0])) as Record<
    KillMoment,
    number
  >;
  readonly #refusedStarts: string[] = [];
  readonly #wrong: string[] = [];
  readonly #finishedMs: number[] = [];
  readonly #boundKeys = new Map<string, string>();
  #subjects: ErasedSubject[] = [];
  #subjectCount = 0;
  #erasures = 0;
  #windowMs = WINDOW_MS;

  constructor(options: ErasureSoakOptions, place: Place) {
    this.#options = options;
    this.#place = place;
    this.#pick = createPicker(seededRandom(options.seed));
  }

  async run(): Promise<Omit<ErasureSummary, "directory">> {
    let verifyCode: number | null = null;
    try {
      const first = await startServing(this.#options.runtime, this.#place, SERVE_FLAGS);
      await untilReady(first);
      const key = await this.#createKey({ permissions: ["read", "write", "edit", "erase"] });
      let client: Client = { url: first.url, key };
      await untilKnown(client);
      await storeOthers(client, this.#todayMs);
      await this.#storeSubjects(client);
      await first.says(/Archived \d/);
      const unchanged = await UnchangedAnswers.of(client, this.#todayMs);
      let server = first;
      while (!this.#isEnough) {
        if (this.#subjects.length === 0) await this.#storeSubjects(client);
        server = await this.#round(server, client, this.#subjects.shift()!);
        client = { ...client, url: server.url };
        this.#wrong.push(...(await unchanged.findWrong(client)));
        if (FAULTS.test(server.error)) this.#wrong.push(server.error);
      }
      const ended = await server.stop();
      if (ended.code !== 0) this.#wrong.push(`SIGTERM ended with ${ended.code}: ${ended.error}`);
      verifyCode = (await runCommand(this.#options.runtime, this.#place, ["verify"])).code;
    } catch (error) {
      if (this.#refusedStarts.length === 0) throw error;
    }
    return {
      erasures: this.#erasures,
      kills: this.#kills,
      acknowledgedReports: this.#ledger.acknowledgedReports,
      refusedStarts: this.#refusedStarts,
      wrongAnswers: this.#wrong,
      finishedMs: this.#finishedMs.sort((a, b) => a - b),
      verifyCode,
    };
  }

  get #killCount(): number {
    return KILL_MOMENTS.reduce((sum, moment) => sum + this.#kills[moment], 0);
  }

  get #isEnough(): boolean {
    return this.#killCount >= this.#options.kills || this.#wrong.length >= WRONG_MAX;
  }

  /** Reports archived days of the next subjects, some of which have keys of their own. */
  async #storeSubjects(client: Client): Promise<void> {
    const subjects = Array.from({ length: SUBJECTS_AT_ONCE }, (_, index) => {
      const number = this.#subjectCount + index;
      return new ErasedSubject({ number, appId: APP_ID, todayMs: this.#todayMs });
    });
    this.#subjectCount += subjects.length;
    this.#subjects = subjects;
    let key: string | null = null;
    for (const { kind, deviceId } of subjects.filter((_, index) => index % 3 === 0)) {
      if (kind === "user") continue;
      key = await this.#createKey({ permissions: ["write"], deviceId });
      this.#boundKeys.set(deviceId, key);
    }
    await store(
      client,
      subjects.flatMap(({ archived }) => archived),
    );
    // All keys of a file are known at once.
    if (key !== null) await until(async () => (await post({ ...client, key }, [])).status !== 401);
  }

  async #createKey(spec: {
    readonly permissions: readonly ("read" | "write" | "edit" | "erase")[];
    readonly deviceId?: string;
  }): Promise<string> {
    const { files, acquireLock, pid } = createPlatform();
    const path = directoryPaths(this.#place.dataDir).keys;
    const keys = await openKeyStore({ files, path, clock, acquireLock, process: { pid, command: "soak" } });
    const { permissions, deviceId = null } = spec;
    const others = { userId: null, expiresMs: null, view: null, tier: "unlimited", label: "" } as const;
    const created = await keys.create({ appId: APP_ID as never, permissions, deviceId, ...others });
    if (!created.ok) throw new Error(`a key can't be created: ${created.error.kind}`);
    return created.value.text;
  }

  /** Erases a subject, with one or more kills on the way. */
  async #round(running: ServerProcess, firstClient: Client, subject: ErasedSubject): Promise<ServerProcess> {
    let server = running;
    let client = firstClient;
    await subject.store(client, this.#boundKeys.get(subject.deviceId) ?? null);
    await this.#expectShown(subject, client, "before");
    let isMade = false;
    let isAgain: boolean;
    // A request that was never answered gets more time.
    for (let windowMs = this.#windowMs; ; windowMs *= isMade ? 1 : 2) {
      isMade = await this.#killBeside(server, client, { subject, isMade, windowMs });
      server = await this.#start();
      client = { ...client, url: server.url };
      this.#wrong.push(...(await this.#ledger.settle(client)));
      const erasures = await listErasures(client);
      if (isMade && erasures.total === this.#erasures) this.#wrong.push("an acknowledged erasure is lost");
      isMade = erasures.total > this.#erasures;
      await this.#expectShown(subject, client, isMade ? "after" : "before");
      isAgain = !isMade || (!erasures.isFinished && this.#pick.maybe(AGAIN, () => true) === true);
      if (!isAgain || this.#isEnough) break;
    }
    if (!isMade) await this.#request(subject, client);
    await this.#finish(subject, client);
    return server;
  }

  /** Sends the request unless the erasure is made, and kills the server. Returns whether it was acknowledged. */
  async #killBeside(
    server: ServerProcess,
    client: Client,
    erasing: { readonly subject: ErasedSubject; readonly isMade: boolean; readonly windowMs: number },
  ): Promise<boolean> {
    const { subject, isMade, windowMs } = erasing;
    let isOver = false;
    let isAcknowledged = isMade;
    const options = {
      client,
      pick: this.#pick,
      ledger: this.#ledger,
      isOver: () => isOver,
      onWrong: (what: string) => void this.#wrong.push(what),
      restMs: REST_MS,
    };
    const reporting = postOn(options, createSmallTour(this.#pick, this.#todayMs));
    const request = async () => {
      isAcknowledged = isMade || (await this.#request(subject, client));
    };
    const asking = request().catch((error) => {
      if (!isOver) this.#wrong.push(`a connection broke: ${error}`);
    });
    await pause(this.#pick.integer(0, Math.round(windowMs)));
    isOver = true;
    server.kill("SIGKILL");
    const { error } = await server.ended;
    await Promise.all([reporting, asking]);
    if (FAULTS.test(error)) this.#wrong.push(error);
    this.#noteKill(isAcknowledged ? this.#momentOf() : "unanswered");
    return isAcknowledged;
  }

  /** Returns whether it was acknowledged. */
  async #request({ id, wanted }: ErasedSubject, { url, key }: Client): Promise<boolean> {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const body = JSON.stringify(wanted);
    let response: Response;
    do response = await fetch(`${url}/api/v1/erasures`, { method: "POST", headers, body });
    while (await isToAskAgain(response));
    if (response.status === 200) return true;
    this.#wrong.push(`the erasure of ${id} is answered ${response.status} ${await response.text()}`);
    return false;
  }

  #noteKill(moment: KillMoment): void {
    this.#kills[moment]++;
    this.#options.onKill(this.#killCount);
  }

  /** How far the newest erasure is, as the files say. */
  #momentOf(): KillMoment {
    const paths = directoryPaths(this.#place.dataDir);
    const ledger = existsSync(paths.erasures) ? parseLedger(readFileSync(paths.erasures)) : null;
    const newest = ledger?.ok === true ? ledger.value.erasures[this.#erasures] : undefined;
    if (newest === undefined) return "masked";
    if (newest.finishedMs !== null) return "finished";
    const { manifest } = JSON.parse(readFileSync(join(paths.archive, "manifest.json"), "utf8")) as {
      manifest: { days: { cleared: number }[] };
    };
    return manifest.days.every(({ cleared }) => cleared >= newest.sequence) ? "rewritten" : "masked";
  }

  async #start(): Promise<ServerProcess> {
    const { runtime } = this.#options;
    try {
      if (this.#pick.maybe(KILL_IN_START, () => true) === true) {
        const starting = await startServing(runtime, this.#place, SERVE_FLAGS);
        await pause(this.#pick.integer(0, START_MS_MAX));
        starting.kill("SIGKILL");
        await starting.ended;
        this.#noteKill("inStart");
      }
      const server = await startServing(runtime, this.#place, SERVE_FLAGS);
      await untilReady(server);
      return server;
    } catch (error) {
      this.#refusedStarts.push(String(error));
      throw error;
    }
  }

  async #expectShown(subject: ErasedSubject, client: Client, state: "before" | "after"): Promise<void> {
    const wrong = await subject.findWrong(client, subject[state]);
    if (state === "after") wrong.push(...(await subject.findLeft(client)));
    this.#wrong.push(...wrong.map((what) => `${state} an erasure of ${subject.id}: ${what}`));
  }

  /** Waits until the erasure is finished, and looks for what is left of it, and for what is lost. */
  async #finish(subject: ErasedSubject, client: Client): Promise<void> {
    const { runtime } = this.#options;
    const startMs = performance.now();
    const finished = until(async () => (await listErasures(client)).isFinished);
    await unlessHung(finished, `an erasure of ${subject.id}`, FINISH_MS_MAX);
    const tookMs = performance.now() - startMs;
    this.#finishedMs.push(tookMs);
    this.#windowMs = Math.max(WINDOW_MS / 3, tookMs * WINDOW_TIMES);
    this.#erasures++;
    const words = ["verify", "--erased", `--${subject.kind}`, subject.id, "--json"];
    const { code, out, error } = await runCommand(runtime, this.#place, words);
    const { traces, unsearched } = JSON.parse(out) as { traces: unknown[]; unsearched: unknown[] };
    if (code !== 0 || traces.length + unsearched.length > 0)
      this.#wrong.push(`${words.join(" ")} ends with ${code}: ${out}${error}`);
    await this.#expectShown(subject, client, "after");
    this.#wrong.push(...(await checkRecords(client, this.#ledger.fleet, this.#ledger.takeTouched())));
    if (subject.isBlocked) {
      const answer = (await (await post(client, [subject.report])).json()) as IngestAnswer;
      if (answer.rejected.length !== 1) this.#wrong.push(`${subject.id} is not blocked`);
    }
  }
}

const FAULTS = /Failed to answer|Damaged|is not finished/;

/** Whether the server was busy. If it was, resolves once the time that it asks for has passed. */
async function isToAskAgain({ status, headers }: Response): Promise<boolean> {
  if (status !== 503) return false;
  await pause(Number(headers.get("retry-after")) * 1000);
  return true;
}

/** How many erasures there are, and whether the newest one is finished. */
async function listErasures(client: Client): Promise<{ total: number; isFinished: boolean }> {
  const response = await get(client, "/api/v1/erasures?limit=1");
  const { erasures, pagination } = (await response.json()) as {
    erasures: { state: string }[];
    pagination: { total_count: number };
  };
  return { total: pagination.total_count, isFinished: erasures[0]?.state === "finished" };
}

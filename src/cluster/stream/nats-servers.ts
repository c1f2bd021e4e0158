import { isObject } from "../../lib/is-object.ts";
import { parseJson } from "../../lib/text/long-json.ts";
import { streamErrorOf } from "./nats-errors.ts";
import type { NatsLink } from "./nats-link.ts";
import { StreamError } from "./stream.ts";

/** Before it, servers have no `sync_interval: always` that holds for streams of several replicas. */
const VERSION_MIN = "2.15.0";

/** For all servers of a cluster to answer; after 0.3 s without another one they are taken for all. */
const ANSWERS_MS_MAX = 2000;

/**
 * Servers tell how they sync to whom the operator lets ask: where the system account exports this subject, and ours
 * imports it.
 */
const SETTINGS_SUBJECT = "$SYS.REQ.SERVER.PING.JSZ";

const WHAT_TO_CHANGE = 'set "sync_interval: always" in the block "jetstream" of its configuration';

interface ServerSettings {
  readonly server: string;
  readonly version: string;
  readonly isSyncedAlways: boolean;
}

/**
 * Rejects with a `StreamError` where a server acknowledges what a power cut would take. False where none of them tells
 * us.
 */
export async function checkServers(link: NatsLink): Promise<boolean> {
  const { info } = link.connection;
  if (info === undefined) throw new StreamError("unreachable", "No NATS server has told of itself yet.");
  const { server_name: server = "", version = "" } = info;
  refuseOld(server, version);
  const answers = await askAll(link);
  for (const answer of answers) {
    refuseOld(answer.server, answer.version);
    if (!answer.isSyncedAlways)
      throw new StreamError(
        "refused",
        `The NATS server ${answer.server} does not sync what it acknowledges: ${WHAT_TO_CHANGE}.`,
      );
  }
  return answers.length > 0;
}

function refuseOld(server: string, version: string): void {
  if (isOlder(version, VERSION_MIN))
    throw new StreamError(
      "refused",
      `The NATS server ${server} is of version ${version || "unknown"}: at least ${VERSION_MIN} is needed.`,
    );
}

function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0, patch = 0] = numbersOf(version);
  const [thanMajor = 0, thanMinor = 0, thanPatch = 0] = numbersOf(than);
  if (major !== thanMajor) return major < thanMajor;
  return minor === thanMinor ? patch < thanPatch : minor < thanMinor;
}

function numbersOf(version: string): number[] {
  return version.split(".").map((part) => Number.parseInt(part, 10) || 0);
}

/** What those servers say that have streams; empty where nobody may ask. */
async function askAll({ connection }: NatsLink): Promise<ServerSettings[]> {
  const settings: ServerSettings[] = [];
  try {
    const answers = await connection.requestMany(SETTINGS_SUBJECT, "", {
      strategy: "stall",
      maxWait: ANSWERS_MS_MAX,
    });
    for await (const answer of answers) {
      const told = parseSettings(answer.string());
      if (told !== null) settings.push(told);
    }
  } catch (error) {
    streamErrorOf(error, "ask the servers how they sync"); // Nobody answers, or the account may not ask: the same.
  }
  return settings;
}

function parseSettings(text: string): ServerSettings | null {
  const answer = parseJson(text);
  if (!isObject(answer) || !isObject(answer.server) || !isObject(answer.data)) return null;
  const { config } = answer.data;
  if (!isObject(config) || typeof config.store_dir !== "string") return null;
  return {
    server: String(answer.server.name),
    version: String(answer.server.ver),
    isSyncedAlways: config.sync_always === true,
  };
}

/** A server that was away, or settings that somebody changes, are found this often; after a reconnect at once. */
const CHECK_MS = 5 * 60_000;

/** What is looked at. Each rejects with a `StreamError`, `refused` where what is acknowledged would not be kept. */
export interface TrustChecks {
  /** Answered within two seconds by any server. After a reconnect nothing is published before. */
  servers(): Promise<unknown>;
  /** Answered by a leader, which there may be none of for a while. */
  settings(): Promise<unknown>;
}

/**
 * Whether the servers still keep what they acknowledge. While they don't nothing is given to them: whoever would report
 * is told so, and questions go on.
 */
export class NatsTrust {
  readonly #link: NatsLink;
  readonly #checks: TrustChecks;
  readonly #onNote: (note: string) => void;
  readonly #forgetFind: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #refusals = new Map<keyof TrustChecks, StreamError>();
  #checking: Promise<void> = Promise.resolve();
  #checkingLater: Promise<void> = Promise.resolve();

  /** Both checks have been made once already. */
  constructor(link: NatsLink, checks: TrustChecks, onNote: (note: string) => void) {
    this.#link = link;
    this.#checks = checks;
    this.#onNote = onNote;
    this.#forgetFind = link.onFind(() => this.#checkAgain());
    this.#timer = setInterval(() => this.#checkAgain(), CHECK_MS);
    this.#timer.unref();
  }

  /** Rejects with a `StreamError` where they don't, as far as they tell. */
  async confirm(): Promise<void> {
    await this.#checking;
    for (const refusal of this.#refusals.values()) throw refusal;
  }

  close(): void {
    this.#forgetFind();
    clearInterval(this.#timer);
  }

  #checkAgain(): void {
    if (this.#link.isClosed) return;
    this.#checking = this.#checking.then(() => this.#look("servers"));
    this.#checkingLater = this.#checkingLater.then(() => this.#look("settings"));
  }

  async #look(check: keyof TrustChecks): Promise<void> {
    const before = this.#refusals.get(check);
    try {
      await this.#checks[check]();
      this.#refusals.delete(check);
      if (before !== undefined) this.#onNote("The NATS servers keep what they acknowledge again.");
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
      if (error.kind !== "refused") return; // Nobody can say; what was known stays.
      if (before?.message !== error.message)
        this.#onNote(`${error.message} No reports are taken until then.`);
      this.#refusals.set(check, error);
    }
  }
}

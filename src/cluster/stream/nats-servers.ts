import { isObject } from "../../lib/is-object.ts";
import { parseJson } from "../../lib/text/long-json.ts";
import { streamErrorOf } from "./nats-errors.ts";
import type { NatsLink } from "./nats-link.ts";
import { StreamError } from "./stream.ts";

/** Older servers lack `sync_interval: always` for streams with several replicas. */
const VERSION_MIN = "2.15.0";

/** How long to collect answers; 0.3 s without a further one end it. */
const ANSWERS_MS_MAX = 2000;

/** Answered only if the system account exports this subject and ours imports it. */
const SETTINGS_SUBJECT = "$SYS.REQ.SERVER.PING.JSZ";

const WHAT_TO_CHANGE = 'set "sync_interval: always" in the block "jetstream" of its configuration';

interface ServerSettings {
  readonly server: string;
  readonly version: string;
  readonly isSyncedAlways: boolean;
}

/** Rejects with a `StreamError` if a server syncs too late. Resolves with false if no server reports how it syncs. */
export async function checkServers(link: NatsLink): Promise<boolean> {
  const { info } = link.connection;
  if (info === undefined) throw new StreamError("unreachable", "No NATS server has introduced itself yet.");
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

/** The answers of servers with JetStream; empty if this account may not ask. */
async function askAll({ connection }: NatsLink): Promise<ServerSettings[]> {
  const settings: ServerSettings[] = [];
  try {
    const answers = await connection.requestMany(SETTINGS_SUBJECT, "", {
      strategy: "stall",
      maxWait: ANSWERS_MS_MAX,
    });
    for await (const answer of answers) {
      const serverSettings = parseSettings(answer.string());
      if (serverSettings !== null) settings.push(serverSettings);
    }
  } catch (error) {
    streamErrorOf(error, "ask the servers how they sync"); // No answer, or no permission to ask.
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

/** How often servers and settings are checked again; also after each reconnect. */
const CHECK_MS = 5 * 60_000;

/** Each check rejects with a `StreamError`: `refused` if acknowledged messages would not be durable. */
export interface TrustChecks {
  /** Answered within two seconds by any server. After a reconnect nothing is published until it is done. */
  servers(): Promise<unknown>;
  /** Answered by the leader, which may be missing for a while. */
  settings(): Promise<unknown>;
}

/** Watches whether acknowledged messages are durable. While they are not, reports are refused. */
export class NatsTrust {
  readonly #link: NatsLink;
  readonly #checks: TrustChecks;
  readonly #onNote: (note: string) => void;
  readonly #forgetConnect: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #refusals = new Map<keyof TrustChecks, StreamError>();
  #checking: Promise<void> = Promise.resolve();
  #checkingLater: Promise<void> = Promise.resolve();

  /** The caller has made both checks once. */
  constructor(link: NatsLink, checks: TrustChecks, onNote: (note: string) => void) {
    this.#link = link;
    this.#checks = checks;
    this.#onNote = onNote;
    this.#forgetConnect = link.onConnect(() => this.#checkAgain());
    this.#timer = setInterval(() => this.#checkAgain(), CHECK_MS);
    this.#timer.unref();
  }

  /** Rejects with a `StreamError` if a check failed. */
  async confirm(): Promise<void> {
    await this.#checking;
    for (const refusal of this.#refusals.values()) throw refusal;
  }

  close(): void {
    this.#forgetConnect();
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
      if (before !== undefined) this.#onNote("The NATS servers store acknowledged messages durably again.");
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
      if (error.kind !== "refused") return; // Unreachable: the last result stays.
      if (before?.message !== error.message)
        this.#onNote(`${error.message} No reports are accepted until then.`);
      this.#refusals.set(check, error);
    }
  }
}

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

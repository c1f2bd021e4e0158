import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { type Ask, askServer, type RemoteServer } from "./ask-server.ts";

/*
 * Asks a running server over HTTP what is wrong with an app's devices.
 */

/** Fields as in the server's answer. */
export interface RemoteFinding {
  readonly device_id: string;
  /** Absent if the device has none. */
  readonly name?: string;
  readonly client: string;
  readonly kind: string;
  readonly at: number;
  readonly what: string;
  readonly measured: string;
  readonly advice: string;
}

export interface RemoteFindings {
  readonly app_id: string;
  /** The newest ones, newest first. */
  readonly findings: readonly RemoteFinding[];
  readonly total_count: number;
  /** Absent if the server is older than these. */
  readonly stored?: RemoteStored;
  /** Absent if no broker brings reports to the app. */
  readonly mqtt?: RemoteMqtt;
  /** Those in trouble; absent if there are none. */
  readonly webhooks?: readonly RemoteWebhook[];
}

export interface RemoteWebhook {
  readonly id: string;
  readonly host: string;
  readonly state: string;
  readonly reason?: string;
  readonly failures?: number;
}

/** What an app has besides records, and its bounds. */
export interface RemoteStored {
  readonly corrections: number;
  readonly corrections_max: number;
  readonly corrected_records: number;
  readonly corrected_records_max: number;
  readonly profiles: number;
  readonly profile_bytes: number;
  readonly profile_bytes_max: number;
}

export interface RemoteMqtt {
  readonly connections: number;
  readonly connected: number;
  readonly unassured_messages: number;
  /** Both are absent if the server doesn't subscribe to other topics. */
  readonly unheard_messages?: number;
  readonly unheard_topics?: readonly string[];
  /** Absent if it is unknown. */
  readonly outage_seconds?: number;
}

export interface FindingsRequest extends RemoteServer {
  /** Null means all devices. */
  readonly deviceId: string | null;
}

/** The size of the server's longest page. */
const FINDINGS_MAX = 1000;

/** The error is a sentence. */
export async function askFindings(
  request: FindingsRequest,
  ask: Ask,
): Promise<Result<RemoteFindings, string>> {
  const query = new URLSearchParams({ limit: String(FINDINGS_MAX) });
  if (request.deviceId !== null) query.set("device_id", request.deviceId);
  const answer = await askServer(request, "GET", `/api/v1/doctor?${query}`, ask, { device_id: "--device" });
  if (!answer.ok) return answer;
  const body: unknown = answer.value;
  return isFindings(body)
    ? ok(body)
    : fail(`${request.url} is no Wherehouse server: its answer has no findings.`);
}

function isFindings(body: unknown): body is RemoteFindings {
  if (!isObject(body) || !Array.isArray(body.findings)) return false;
  return (
    typeof body.app_id === "string" &&
    typeof body.total_count === "number" &&
    (body.stored === undefined || isStored(body.stored)) &&
    (body.mqtt === undefined || isMqtt(body.mqtt)) &&
    (body.webhooks === undefined || (Array.isArray(body.webhooks) && body.webhooks.every(isWebhook))) &&
    body.findings.every(
      (finding: unknown) =>
        isObject(finding) &&
        typeof finding.at === "number" &&
        (finding.name === undefined || typeof finding.name === "string") &&
        TEXTS.every((name) => typeof finding[name] === "string"),
    )
  );
}

function isStored(stored: unknown): stored is RemoteStored {
  if (!isObject(stored)) return false;
  const numbers = ["corrections", "corrected_records", "profile_bytes"].flatMap((name) => [
    stored[name],
    stored[`${name}_max`],
  ]);
  return [...numbers, stored.profiles].every((value) => typeof value === "number");
}

function isMqtt(mqtt: unknown): mqtt is RemoteMqtt {
  if (!isObject(mqtt)) return false;
  const { connections, connected, unassured_messages, outage_seconds = 0 } = mqtt;
  const { unheard_messages = 0, unheard_topics = [] } = mqtt;
  const numbers = [connections, connected, unassured_messages, unheard_messages, outage_seconds];
  return (
    numbers.every((value) => typeof value === "number") &&
    Array.isArray(unheard_topics) &&
    unheard_topics.every((topic) => typeof topic === "string")
  );
}

function isWebhook(webhook: unknown): webhook is RemoteWebhook {
  if (!isObject(webhook)) return false;
  const { id, host, state, reason = "", failures = 0 } = webhook;
  return (
    [id, host, state, reason].every((value) => typeof value === "string") && typeof failures === "number"
  );
}

const TEXTS = ["device_id", "client", "kind", "what", "measured", "advice"] as const;

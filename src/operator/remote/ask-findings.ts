import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { type Ask, type AskedServer, askServer } from "./ask-server.ts";

/*
 * What a running server says is wrong with an app's devices, asked for over HTTP.
 */

/** As the server names its members. */
export interface ToldFinding {
  readonly device_id: string;
  readonly client: string;
  readonly kind: string;
  readonly at: number;
  readonly what: string;
  readonly measured: string;
  readonly advice: string;
}

export interface ToldFindings {
  readonly app_id: string;
  /** The newest of them, newest first. */
  readonly findings: readonly ToldFinding[];
  readonly total_count: number;
  /** Absent if no broker brings reports to the app. */
  readonly mqtt?: ToldMqtt;
}

export interface ToldMqtt {
  readonly connections: number;
  readonly connected: number;
  readonly unassured_messages: number;
  /** Both are absent if the server doesn't listen for them. */
  readonly unheard_messages?: number;
  readonly unheard_topics?: readonly string[];
  /** Absent if it isn't known. */
  readonly outage_seconds?: number;
}

export interface FindingsRequest extends AskedServer {
  /** Null asks for all devices. */
  readonly deviceId: string | null;
}

/** As many as there are on the longest page. */
const FINDINGS_MAX = 1000;

/** The error is a sentence. */
export async function askFindings(request: FindingsRequest, ask: Ask): Promise<Result<ToldFindings, string>> {
  const query = new URLSearchParams({ limit: String(FINDINGS_MAX) });
  if (request.deviceId !== null) query.set("device_id", request.deviceId);
  const told = await askServer(request, "GET", `/api/v1/doctor?${query}`, ask, { device_id: "--device" });
  if (!told.ok) return told;
  const body: unknown = told.value;
  return isTold(body)
    ? ok(body)
    : fail(`${request.url} is no Wherehouse server: its answer has no findings.`);
}

function isTold(body: unknown): body is ToldFindings {
  if (!isObject(body) || !Array.isArray(body.findings)) return false;
  return (
    typeof body.app_id === "string" &&
    typeof body.total_count === "number" &&
    (body.mqtt === undefined || isToldMqtt(body.mqtt)) &&
    body.findings.every(
      (finding: unknown) =>
        isObject(finding) &&
        typeof finding.at === "number" &&
        TEXTS.every((name) => typeof finding[name] === "string"),
    )
  );
}

function isToldMqtt(mqtt: unknown): mqtt is ToldMqtt {
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

const TEXTS = ["device_id", "client", "kind", "what", "measured", "advice"] as const;

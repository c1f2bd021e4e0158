import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { noAnswer } from "../no-answer.ts";

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
  /** Left out where no broker brings reports to the app. */
  readonly mqtt?: ToldMqtt;
}

export interface ToldMqtt {
  readonly connections: number;
  readonly connected: number;
  readonly unassured_messages: number;
  /** Left out where it isn't known. */
  readonly outage_seconds?: number;
}

export interface FindingsRequest {
  /** Of the server, without a slash at the end. */
  readonly url: string;
  readonly key: string;
  /** Null asks for all devices. */
  readonly deviceId: string | null;
}

export type Ask = (url: string, init: RequestInit) => Promise<Response>;

/** As many as there are on the longest page. */
const FINDINGS_MAX = 1000;
const TIMEOUT_MS = 30_000;

/** The error is a sentence. */
export async function askFindings(
  { url, key, deviceId }: FindingsRequest,
  ask: Ask,
): Promise<Result<ToldFindings, string>> {
  const query = new URLSearchParams({ limit: String(FINDINGS_MAX) });
  if (deviceId !== null) query.set("device_id", deviceId);
  let response: Response;
  let body: unknown;
  try {
    response = await ask(`${url}/api/v1/doctor?${query}`, {
      headers: { authorization: `Bearer ${key}` },
      redirect: "error", // The key is for this server.
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    body = await response.json().catch(() => null);
  } catch (cause) {
    return fail(noAnswer(url, cause));
  }
  if (response.status === 200 && isTold(body)) return ok(body);
  if (response.status === 200) return fail(`${url} is no Wherehouse server: its answer has no findings.`);
  const reason = isObject(body) && typeof body.message === "string" ? `: ${body.message}` : "";
  return fail(`${url} answered ${response.status}${reason}.`);
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
  return [connections, connected, unassured_messages, outage_seconds].every(
    (value) => typeof value === "number",
  );
}

const TEXTS = ["device_id", "client", "kind", "what", "measured", "advice"] as const;

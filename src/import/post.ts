import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { fail, ok, type Result } from "../lib/result.ts";
import type { AppId } from "../model/ids.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../model/location-fields.ts";
import { NOT_CARRIED, type ReportBatch } from "../model/report-batch.ts";
import { retryAfterSeconds } from "../operator/remote/ask-server.ts";
import type { Deliver } from "./deliver.ts";
import type { Delivered } from "./tally/tally.ts";

/*
 * Sends batches to a running server, one request after the other: two concurrent requests could reach its log in the
 * wrong order, and the last report for a device and time wins. The next batch is encoded meanwhile.
 */

export interface PostDependencies {
  /** Without a trailing slash. */
  readonly url: string;
  readonly key: string;
  /** The app that the key must belong to; null if any will do. */
  readonly appId: AppId | null;
  post(url: string, init: RequestInit): Promise<Response>;
  /** Resolves after this time, or earlier if the import is to end. */
  wait(milliseconds: number): Promise<void>;
  /** Ends all waiting for a busy server. */
  readonly signal: AbortSignal;
  /** The server can't accept more at the moment. */
  onWait(reason: string, seconds: number): void;
}

/** Half of the largest request, in bytes before compression. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;

const ATTEMPTS_MAX = 10; // With the delays about 3 minutes: a restart with a long log.
const WAIT_SECONDS_MAX = 60;
const BACKOFF_SECONDS_MAX = 30;
const TIMEOUT_MS = 60_000;

/** Statuses that are retried: over the rate, full or not ready, and a proxy's answers for such a server. */
const RETRIED_STATUSES: readonly number[] = [429, 502, 503, 504];

/** By this user agent a server distinguishes imports from reports of devices. */
export const IMPORT_USER_AGENT = "wherehouse-import";

/** Headers of the answer: how many records are new, and how many reports replaced one. */
export const NEW_RECORDS = "wherehouse-new-records";
export const SAME_TIME = "wherehouse-same-time";

/** A proxy answers these if the server did not answer in time; the server may have stored the reports. */
const UNSURE_STATUSES: readonly number[] = [502, 504];

const compress = promisify(gzip);

export function createPostDelivery(dependencies: PostDependencies): Deliver {
  const { url, key, appId, post, wait, signal, onWait } = dependencies;
  const address = `${url}/ingest/v1/locations?count=exact${appId === null ? "" : `&app_id=${appId}`}`;
  let before: Promise<Result<unknown, string>> = Promise.resolve(ok(null));
  let everAnswered = false;

  async function send({ body, rows }: Body): Promise<Result<Delivered, string>> {
    /** Whether the server may have stored the batch without answering. */
    let isUnsure = false;
    for (let attempt = 1; ; attempt++) {
      const answer = await attemptPost(body);
      if (answer.kind === "accepted") return ok({ ...answer.value, resent: isUnsure ? rows : 0 });
      isUnsure ||= answer.kind === "busy" && answer.isUnsure;
      if (answer.kind === "refused" || attempt === ATTEMPTS_MAX) return fail(answer.reason);
      const backoff = Math.min(BACKOFF_SECONDS_MAX, 2 ** (attempt - 1));
      const seconds = Math.min(WAIT_SECONDS_MAX, answer.retryAfterSeconds ?? backoff);
      onWait(answer.reason, seconds);
      await wait(seconds * 1000);
      if (signal.aborted) return fail(answer.reason);
    }
  }

  async function attemptPost(body: Uint8Array<ArrayBuffer>): Promise<PostAnswer> {
    let response: Response;
    let content: unknown;
    try {
      response = await post(address, {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/x-ndjson",
          "content-encoding": "gzip",
          "user-agent": IMPORT_USER_AGENT,
        },
        body,
        redirect: "error", // The key is for this server.
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      content = await response.json().catch(() => null);
    } catch (cause) {
      const code = cause instanceof Error && "code" in cause ? ` (${cause.code})` : "";
      // A server that answered before may be restarting; one that never did has another address.
      if (!everAnswered)
        return { kind: "refused", reason: `no server answers at ${url}${code}; is it running there?` };
      return {
        kind: "busy",
        reason: `${url} does not answer${code}`,
        retryAfterSeconds: null,
        isUnsure: true,
      };
    }
    everAnswered = true;
    if (response.status === 200) {
      const delivered = parseAnswer(response.headers, content);
      if (delivered !== null) return { kind: "accepted", value: delivered };
      return { kind: "refused", reason: `${url} is no Wherehouse server: its answer has no counts` };
    }
    return refusalOf(response, `${url} answered ${response.status}${explanationOf(content)}`);
  }

  async function sendInTurn(
    turn: Promise<Result<unknown, string>>,
    batch: ReportBatch,
  ): Promise<Result<Delivered, string>> {
    const bodies = await encodeBodies(batch);
    const previous = await turn;
    if (!previous.ok) return previous; // No batch may overtake one that failed.
    let sum = NOTHING_DELIVERED;
    for (const body of bodies) {
      const answer = await send(body);
      if (!answer.ok) return answer;
      sum = addedUp(sum, answer.value, body.firstRow);
    }
    return ok(sum);
  }

  return (batch) => {
    const answer = sendInTurn(before, batch);
    before = answer;
    return answer;
  };
}

function refusalOf({ status, headers }: Response, reason: string): PostAnswer {
  if (!RETRIED_STATUSES.includes(status)) return { kind: "refused", reason };
  const isUnsure = UNSURE_STATUSES.includes(status);
  return { kind: "busy", reason, retryAfterSeconds: retryAfterSeconds(headers), isUnsure };
}

type PostAnswer =
  | { readonly kind: "accepted"; readonly value: Delivered }
  | {
      readonly kind: "busy";
      readonly reason: string;
      readonly retryAfterSeconds: number | null;
      readonly isUnsure: boolean;
    }
  | { readonly kind: "refused"; readonly reason: string };

interface Body {
  readonly firstRow: number;
  readonly rows: number;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Encodes a batch as compressed NDJSON; in several bodies only if its texts are very long. */
async function encodeBodies(batch: ReportBatch): Promise<Body[]> {
  const bodies: Promise<Body>[] = [];
  let text = "";
  let firstRow = 0;
  for (let row = 0; row < batch.count; row++) {
    text += `${JSON.stringify(reportOf(batch, row))}\n`;
    // A UTF-16 unit is at most three bytes of UTF-8.
    if (text.length * 3 < BODY_BYTES_MAX && row < batch.count - 1) continue;
    bodies.push(compressedBody(firstRow, row + 1 - firstRow, text));
    firstRow = row + 1;
    text = "";
  }
  return Promise.all(bodies);
}

async function compressedBody(firstRow: number, rows: number, text: string): Promise<Body> {
  // The fastest level: server and import compete for the processor, and the network between them is mostly fast.
  return { firstRow, rows, body: new Uint8Array(await compress(text, { level: 1 })) };
}

function reportOf(batch: ReportBatch, row: number): Record<string, unknown> {
  const report: Record<string, unknown> = {
    device_id: batch.texts[batch.device[row]!],
    timestamp: batch.timestampMs[row],
  };
  for (const [c, { name }] of NUMBER_FIELDS.entries()) {
    const value = batch.numbers[c]![row]!;
    if (!Number.isNaN(value)) report[name] = value;
  }
  for (const [fields, tuples, tuple] of [
    [PROFILE_FIELDS, batch.profiles, batch.profile[row]!],
    [STATE_FIELDS, batch.states, batch.state[row]!],
  ] as const) {
    for (const [member, { name, type }] of fields.entries()) {
      const text = tuples[tuple * fields.length + member]!;
      if (text !== NOT_CARRIED)
        report[name] = type === "boolean" ? batch.texts[text] === "true" : batch.texts[text];
    }
  }
  return report;
}

const NOTHING_DELIVERED: Delivered = {
  created: 0,
  sameTime: 0,
  alreadyThere: 0,
  resent: 0,
  rejected: [],
};

function addedUp(sum: Delivered, more: Delivered, firstRow: number): Delivered {
  return {
    created: sum.created + more.created,
    sameTime: sum.sameTime + more.sameTime,
    alreadyThere: sum.alreadyThere + more.alreadyThere,
    resent: sum.resent + more.resent,
    rejected: [
      ...sum.rejected,
      ...more.rejected.map(({ index, message }) => ({ index: index + firstRow, message })),
    ],
  };
}

/** For a server too old to count new records, every accepted report counts as new. */
function parseAnswer(headers: Headers, content: unknown): Delivered | null {
  const { accepted, duplicates, rejected } = (content ?? {}) as Record<string, unknown>;
  if (typeof accepted !== "number" || typeof duplicates !== "number" || !Array.isArray(rejected)) return null;
  const created = parseCount(headers.get(NEW_RECORDS)) ?? accepted;
  const sameTime = parseCount(headers.get(SAME_TIME)) ?? 0;
  const alreadyThere = accepted + duplicates - created - sameTime;
  return { created, sameTime, alreadyThere, resent: 0, rejected };
}

function parseCount(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}

function explanationOf(content: unknown): string {
  const { message } = (content ?? {}) as Record<string, unknown>;
  return typeof message === "string" ? `: ${message}` : "";
}

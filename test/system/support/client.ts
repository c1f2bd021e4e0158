import { gzipSync, zstdCompressSync } from "node:zlib";
import { answerOf } from "../../reference/answer.ts";
import { findAnswerDifference } from "../../reference/difference.ts";
import { pathOfQuery, type ReferenceQuery } from "../../reference/query.ts";
import type { ReferenceRecords, ReferenceReport } from "../../reference/records.ts";
import { until } from "../../support/until.ts";

/** One app's client of a server. */
export interface Client {
  readonly url: string;
  readonly key: string;
}

export type BodyFormat = "json" | "ndjson" | "json.gz" | "ndjson.gz" | "ndjson.zst";
export const BODY_FORMATS: readonly BodyFormat[] = ["json", "ndjson", "json.gz", "ndjson.gz", "ndjson.zst"];

export interface IngestAnswer {
  readonly success: boolean;
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: readonly unknown[];
}

export function get({ url, key }: Client, path: string): Promise<Response> {
  return fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
}

/** Sends a request that must succeed; returns its answer. */
export async function send(
  { url, key }: Client,
  method: string,
  path: string,
  body: object = {},
): Promise<Record<string, never>> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const init = method === "GET" ? { headers } : { method, headers, body: JSON.stringify(body) };
  const response = await fetch(url + path, init);
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json() as Promise<Record<string, never>>;
}

/** Resolves once a running server knows a key that was made beside it. */
export function untilKnown(client: Client): Promise<void> {
  return until(async () => (await get(client, "/api/v1/locations/current")).status !== 401);
}

export function post(
  { url, key }: Client,
  reports: readonly ReferenceReport[],
  format: BodyFormat = "json",
): Promise<Response> {
  const [syntax, packing] = format.split(".");
  const text =
    syntax === "json"
      ? JSON.stringify({ locations: reports })
      : reports.map((report) => JSON.stringify(report)).join("\n");
  const headers: Record<string, string> = {
    authorization: `Bearer ${key}`,
    "content-type": syntax === "json" ? "application/json" : "application/x-ndjson",
  };
  let body: Uint8Array<ArrayBuffer> = new TextEncoder().encode(text);
  if (packing !== undefined) {
    headers["content-encoding"] = packing === "gz" ? "gzip" : "zstd";
    body = new Uint8Array(packing === "gz" ? gzipSync(body) : zstdCompressSync(body));
  }
  return fetch(`${url}/ingest/v1/locations`, { method: "POST", headers, body });
}

/** Posts reports that must all be taken; returns how many of them were news. */
export async function store(client: Client, reports: readonly ReferenceReport[], format?: BodyFormat) {
  const response = await post(client, reports, format);
  const answer = (await response.json()) as IngestAnswer;
  const isTaken = response.status === 200 && answer.accepted + answer.duplicates === reports.length;
  if (!isTaken) throw new Error(`${response.status} ${JSON.stringify(answer)}`);
  return answer.accepted;
}

const ASKED_AT_ONCE = 4;

/** Asks every query, a few at a time, and returns what is wrong with the answers. */
export async function findWrongAnswers(
  client: Client,
  app: ReferenceRecords,
  queries: readonly ReferenceQuery[],
): Promise<string[]> {
  const wrong: string[] = [];
  let next = 0;
  async function askOn(): Promise<void> {
    for (let query = queries[next++]; query !== undefined; query = queries[next++]) {
      const difference = await ask(client, app, query);
      if (difference !== null) wrong.push(`${pathOfQuery(query)}: ${difference}`);
    }
  }
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, askOn));
  return wrong;
}

/** Asks again where what is right has changed in between: a position too old by now, a new day. */
async function ask(client: Client, app: ReferenceRecords, query: ReferenceQuery): Promise<string | null> {
  for (;;) {
    const expected = answerOf(app, query, Date.now());
    const response = await get(client, pathOfQuery(query));
    const actual = { status: response.status, body: await response.json() };
    const difference = findAnswerDifference(actual, expected);
    if (difference === null) return null;
    const later = answerOf(app, query, Date.now());
    if (findAnswerDifference(actual, later) === difference) return difference;
  }
}

import { Buffer } from "node:buffer";
import { lookup } from "node:dns/promises";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { systemTimers, type Timers } from "../../lib/schedule/timers.ts";
import { EndedError, phraseOf } from "./failure-phrases.ts";
import {
  ANSWER_BYTES_MAX,
  ANSWER_MS_MAX,
  POST_MS_MAX,
  type Post,
  type PostOutcome,
  type PostRequest,
  type ResolveName,
} from "./post.ts";

/*
 * Requests by `node:http`, with addresses that are looked up once, checked, and handed to the connection: a name whose
 * address changes after the check leads nowhere else. `fetch` would look the name up again. Neither runtime follows
 * redirects here, nor takes a proxy from the environment. Each request has a connection of its own.
 */

export const resolveBySystem: ResolveName = async (hostname) => {
  const addresses = await lookup(hostname, { all: true });
  return addresses.map(({ address }) => address);
};

interface PostDependencies {
  readonly resolve?: ResolveName;
  readonly timers?: Timers;
  /** Certificates of authorities that count beside the system's, in PEM; tests use it. */
  readonly authorities?: string;
}

export function createPost(dependencies: PostDependencies = {}): Post {
  const { resolve = resolveBySystem, timers = systemTimers, authorities } = dependencies;
  return async function post(request) {
    const { url, signal } = request;
    const ending = new AbortController();
    const end = () => ending.abort(new EndedError("the server is stopping"));
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
    const overtime = () => ending.abort(new EndedError(`no answer within ${POST_MS_MAX / 1000} seconds`));
    const cancel = timers.after(POST_MS_MAX, overtime);
    try {
      ending.signal.throwIfAborted();
      const addresses = await resolveUntil(url, resolve, ending.signal);
      const refusals = addresses.map(request.refusalOf);
      const checked = addresses.filter((_, index) => refusals[index] === null);
      if (checked.length === 0)
        return { kind: "refused", reason: refusals[0] ?? "a name without an address" };
      return await send(request, checked, { ending: ending.signal, cancel, timers, authorities });
    } catch (error) {
      return { kind: "failed", reason: phraseOf(error) };
    } finally {
      cancel();
      signal.removeEventListener("abort", end);
    }
  };
}

/** Rejects once the signal aborts: the system's own resolver may take minutes. */
async function resolveUntil(
  { hostname }: URL,
  resolve: ResolveName,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const literal = hostname.replace(/^\[|\]$/g, "");
  if (isIP(literal) !== 0) return [literal];
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const end = () => reject(signal.reason);
  signal.addEventListener("abort", end);
  try {
    return await Promise.race([resolve(hostname), aborted]);
  } finally {
    signal.removeEventListener("abort", end);
  }
}

interface Sending {
  readonly ending: AbortSignal;
  /** Stops the clock of the answer's head. */
  readonly cancel: () => void;
  readonly timers: Timers;
  readonly authorities: string | undefined;
}

function send(
  { url, headers, body }: PostRequest,
  addresses: readonly string[],
  { ending, cancel, timers, authorities }: Sending,
): Promise<PostOutcome> {
  const bytes = Buffer.from(body);
  const options = {
    method: "POST",
    agent: false,
    headers: { ...headers, "content-length": bytes.length },
    lookup: lookupOf(addresses),
    ...(authorities === undefined ? {} : { ca: authorities }),
  } as const;
  return new Promise((resolve, reject) => {
    const isEncrypted = url.protocol === "https:";
    const request: ClientRequest = isEncrypted ? httpsRequest(url, options) : httpRequest(url, options);
    const abort = () => {
      reject(ending.reason);
      request.destroy();
    };
    ending.addEventListener("abort", abort);
    request.on("close", () => ending.removeEventListener("abort", abort));
    request.on("error", reject); // Also after the answer, when it says nothing any more.
    request.on("response", (response) => {
      cancel();
      readAnswer(response, timers, (answer) => {
        resolve(answer);
        request.destroy();
      });
    });
    request.end(bytes);
  });
}

/** What the connection finds instead of asking for the name again. */
function lookupOf(addresses: readonly string[]): LookupFunction {
  const targets = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_, { all }, callback) => {
    if (all === true) callback(null, targets);
    else callback(null, targets[0]!.address, targets[0]!.family);
  };
}

/** Reads as much of the answer as is kept. Its status counts even if the rest is late or breaks off. */
function readAnswer(
  response: IncomingMessage,
  timers: Timers,
  onAnswer: (answer: PostOutcome) => void,
): void {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const cancel = timers.after(ANSWER_MS_MAX, finish);
  response.on("data", (chunk: Uint8Array) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= ANSWER_BYTES_MAX) finish();
  });
  response.on("end", finish);
  response.on("error", finish);
  response.on("close", finish);

  function finish(): void {
    cancel();
    onAnswer({
      kind: "answered",
      status: response.statusCode ?? 0,
      retryAfter: response.headers["retry-after"] ?? null,
      body: Buffer.concat(chunks).toString("utf8", 0, ANSWER_BYTES_MAX),
    });
  }
}

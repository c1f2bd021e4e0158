import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { systemTimers, type Timers, type Wait } from "../../lib/schedule/timers.ts";
import { type Ask, type RemoteServer, refusalText, sendRequest } from "../../operator/remote/ask-server.ts";
import type { ClusterStatus } from "../cluster-config.ts";
import { parseClusterMembers } from "../cluster-file.ts";
import type { CopyPlan } from "./copies.ts";
import { type CopyPath, parseCopyPath } from "./copy-path.ts";

/** The node whose files are copied. */
export interface Peer {
  plan(): Promise<Result<CopyPlan, PeerFault>>;
  /** Starts to download a file of this node; if the address leads to another node, that one refuses. */
  take(nodeId: string, path: CopyPath): Promise<Result<PeerFile, PeerFault>>;
}

export interface PeerFile {
  /** The size that the peer announced. */
  readonly bytes: number;
  /** Ends early, or throws a `BrokenOffError`, if the connection breaks. */
  pieces(): AsyncIterable<Uint8Array>;
}

export interface PeerFault {
  /** `gone`: the peer no longer has the file. `broken`: a retry may succeed. */
  readonly kind: "gone" | "broken" | "refused";
  readonly message: string;
}

/** The connection broke, or stalled for too long. */
export class BrokenOffError extends Error {
  override readonly name = "BrokenOffError";
}

export interface PeerOptions extends RemoteServer {
  readonly key: string;
  readonly ask: Ask;
  readonly wait: Wait;
  /** Ends all requests. */
  readonly signal: AbortSignal;
  /** How long a connection may stall. */
  readonly stallMs: number;
  readonly timers?: Timers;
}

/** Retries for a busy peer, or for a key over its rate limit. */
const BUSY_TRIES_MAX = 20;
const BUSY_WAIT_SECONDS_MAX = 30;

/** A new key is known to all nodes within two seconds. */
const NEW_KEY_TRIES = 3;

export function createPeer(options: PeerOptions): Peer {
  const { url, ask, wait, signal } = options;

  async function answerOf(path: string, stall: Stall): Promise<Result<Response, PeerFault>> {
    const answer = await sendRequest(options, path, ask, { signal: stall.signal });
    if (answer.ok) return answer;
    signal.throwIfAborted();
    return fail({ kind: "broken", message: answer.error });
  }

  async function begin(path: string, stall: Stall): Promise<Result<Response, PeerFault>> {
    for (let tries = 1; ; tries++) {
      const answer = await answerOf(path, stall);
      if (!answer.ok || answer.value.status === 200) return answer;
      const { status, headers } = answer.value;
      const fault = await faultOf(url, answer.value);
      const mayPass = status === 429 || status === 503 || (status === 401 && tries <= NEW_KEY_TRIES);
      if (!mayPass || tries === BUSY_TRIES_MAX) return fail(fault);
      const seconds = Math.min(Number(headers.get("retry-after")) || 1, BUSY_WAIT_SECONDS_MAX);
      stall.stop(); // The peer answers, so this wait is no stall.
      await wait(seconds * 1000, signal);
      signal.throwIfAborted();
      stall.start();
    }
  }

  return {
    async plan() {
      const stall = createStall(options);
      try {
        const begun = await begin("/api/v1/service/copy", stall);
        if (!begun.ok) return begun;
        const body: unknown = await begun.value.json().catch(() => null);
        const plan = isObject(body) ? parsePlan(body) : null;
        return plan === null ? fail(strangeAnswer(url)) : ok(plan);
      } finally {
        signal.throwIfAborted();
        stall.stop();
      }
    },
    async take(nodeId, path) {
      const stall = createStall(options);
      const query = new URLSearchParams({ node: nodeId, path });
      const begun = await begin(`/api/v1/service/copy/file?${query}`, stall);
      if (!begun.ok) {
        stall.stop();
        return begun;
      }
      const { body, headers } = begun.value;
      const bytes = Number(headers.get("wherehouse-bytes") ?? Number.NaN);
      if (Number.isSafeInteger(bytes)) return ok({ bytes, pieces: () => piecesOf(body, stall, options) });
      stall.abort();
      return fail(strangeAnswer(url));
    },
  };
}

async function* piecesOf(
  body: Response["body"],
  stall: Stall,
  { url, signal }: PeerOptions,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of body ?? []) {
      stall.stop();
      yield piece;
      stall.start();
    }
  } catch (cause) {
    signal.throwIfAborted();
    throw new BrokenOffError(`${url} broke off before the end of a file.`, { cause });
  } finally {
    stall.abort(); // Also if the caller stops reading.
  }
}

async function faultOf(url: string, response: Response): Promise<PeerFault> {
  const body: unknown = await response.json().catch(() => null);
  const { status } = response;
  const isOurs = isObject(body) && typeof body.message === "string";
  const kind = status === 404 && isOurs ? "gone" : status >= 500 ? "broken" : "refused";
  return { kind, message: refusalText(url, status, body) };
}

function strangeAnswer(url: string): PeerFault {
  return { kind: "refused", message: `${url} does not answer like a Wherehouse node.` };
}

/** Validates a peer's answer, which becomes file names and this node's state. */
function parsePlan({ cluster, files }: Readonly<Record<string, unknown>>): CopyPlan | null {
  if (!isObject(cluster) || !Array.isArray(files)) return null;
  const status = parseStatus(cluster);
  const paths = files.map((file) => (typeof file === "string" ? parseCopyPath(file) : null));
  const known = paths.filter((path) => path !== null);
  return status === null || known.length < paths.length ? null : { cluster: status, files: known };
}

/** Applies the rules of `cluster.json`, where it will be stored. */
function parseStatus({
  node_id: nodeId,
  servers,
  is_secure,
  stream,
  created,
  floor,
  last_taken: lastTaken = null,
}: Record<string, unknown>): ClusterStatus | null {
  const parsed = parseClusterMembers({
    nodeId,
    servers,
    isSecure: is_secure,
    stream,
    created,
    floor,
    lastTaken,
  });
  if (!parsed.ok || parsed.value.created === null) return null;
  const { address, created: since, ...known } = parsed.value;
  return { ...address, ...known, created: since };
}

/** Aborts a request that receives nothing for too long. */
interface Stall {
  readonly signal: AbortSignal;
  start(): void;
  stop(): void;
  abort(): void;
}

function createStall({ signal, stallMs, timers = systemTimers }: PeerOptions): Stall {
  const ending = new AbortController();
  let stop: () => void = () => undefined;
  const start = () => {
    stop();
    stop = timers.after(stallMs, () => ending.abort(new BrokenOffError("the connection stalled")));
  };
  start();
  return {
    signal: AbortSignal.any([signal, ending.signal]),
    start,
    stop: () => stop(),
    abort() {
      stop();
      ending.abort();
    },
  };
}

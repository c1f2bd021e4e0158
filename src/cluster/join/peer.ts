import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { systemTimers, type Timers, type Wait } from "../../lib/schedule/timers.ts";
import { type Ask, type RemoteServer, refusalText, sendRequest } from "../../operator/remote/ask-server.ts";
import type { ClusterStatus } from "../cluster-config.ts";
import { parseClusterMembers } from "../cluster-file.ts";
import type { CopyPlan } from "./copies.ts";
import { type CopyPath, parseCopyPath } from "./copy-path.ts";

/** A node that another copies. */
export interface Peer {
  plan(): Promise<Result<CopyPlan, PeerFault>>;
  /** Begins to take one of the files of this node: where its address leads to several, others refuse. */
  take(nodeId: string, path: CopyPath): Promise<Result<TakenFile, PeerFault>>;
}

export interface TakenFile {
  /** How many the peer says that there are. */
  readonly bytes: number;
  /** Ends early, or throws a `BrokenOffError`, where the connection does. */
  pieces(): AsyncIterable<Uint8Array>;
}

export interface PeerFault {
  /** `gone` is of a file: the peer has no such file any more. `broken` may be better the next time. */
  readonly kind: "gone" | "broken" | "refused";
  /** A sentence. */
  readonly message: string;
}

/** A connection broke off, or nothing came over it for too long. */
export class BrokenOffError extends Error {
  override readonly name = "BrokenOffError";
}

export interface PeerOptions extends RemoteServer {
  readonly key: string;
  readonly ask: Ask;
  readonly wait: Wait;
  /** Ends all that is under way. */
  readonly signal: AbortSignal;
  /** For so long nothing may come. */
  readonly stallMs: number;
  /** Defaults to the system's. */
  readonly timers?: Timers;
}

/** A peer that is busy, or a key that asks too fast, is asked again this often. */
const BUSY_TRIES_MAX = 20;
const BUSY_WAIT_SECONDS_MAX = 30;

/** A key that was made just now is known to all nodes within two seconds. */
const NEW_KEY_TRIES = 3;

export function createPeer(options: PeerOptions): Peer {
  const { url, ask, wait, signal } = options;

  async function answerOf(path: string, stall: Stall): Promise<Result<Response, PeerFault>> {
    const sent = await sendRequest(options, path, ask, { signal: stall.signal });
    if (sent.ok) return sent;
    signal.throwIfAborted();
    return fail({ kind: "broken", message: sent.error });
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
      stall.stop(); // It answers.
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
    stall.abort(); // Whoever takes no more of it leaves.
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
  return { kind: "refused", message: `${url} does not answer as a node of Wherehouse does.` };
}

/** Nothing that a peer says is believed unseen: it becomes names of files, and what a node goes by. */
function parsePlan({ cluster, files }: Readonly<Record<string, unknown>>): CopyPlan | null {
  if (!isObject(cluster) || !Array.isArray(files)) return null;
  const status = parseStatus(cluster);
  const paths = files.map((file) => (typeof file === "string" ? parseCopyPath(file) : null));
  const known = paths.filter((path) => path !== null);
  return status === null || known.length < paths.length ? null : { cluster: status, files: known };
}

/** By the rules of the file that will remember it. */
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

/** Ends a request over which nothing comes. */
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
    stop = timers.after(stallMs, () => ending.abort(new BrokenOffError("nothing came")));
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

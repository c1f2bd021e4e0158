import { join } from "node:path";
import { listPartFiles } from "../../archive/archive-files.ts";
import { directoryPaths } from "../../directory/paths.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { Semaphore } from "../../lib/schedule/semaphore.ts";
import type { ServiceError } from "../../model/errors.ts";
import { FileError, type Files } from "../../runtime/files.ts";
import type { ClusterStatus } from "../cluster-config.ts";
import { type CopyPath, isQuarantinePath, MANIFEST_PATH, positionFirst } from "./copy-path.ts";

/** Gives another node what it needs of this one's directory. */
export interface Copies {
  /** What there is. */
  plan(): Promise<Result<CopyPlan, ServiceError>>;
  /**
   * Begins to send one of the files of this node, which must be the one that was meant: files of two nodes don't make
   * a copy. The signal ends it, as does whoever takes nothing for a minute.
   */
  open(nodeId: string, path: CopyPath, signal: AbortSignal): Promise<Result<Transfer, ServiceError>>;
  /** Under way. */
  readonly running: number;
  /** Ends all of them. */
  stop(): void;
}

/**
 * What a copy is made from. The cluster's floor is taken before the manifest is read: whoever has the manifest, the
 * parts that it names, and follows the log from the floor on lacks nothing.
 */
export interface CopyPlan {
  readonly cluster: ClusterStatus;
  /**
   * Paths in a data directory: the manifest, where there is one, and the quarantine, to be copied in this order. The
   * manifest names the parts.
   */
  readonly files: readonly CopyPath[];
}

export interface CopiesOptions {
  readonly files: Files;
  readonly dataDir: string;
  /** Null where this process is no node. */
  cluster(): ClusterStatus | null;
  readonly stallMs: number;
}

/** Files on their way at once. More would only wait for the same disk, which answers need too. */
export const COPIES_MAX = 4;

const TOO_MANY: ServiceError = {
  kind: "unavailable",
  message: "too many files are being copied; try again once one has ended",
  retryAfterSeconds: 5,
};

const NO_MANIFEST: ServiceError = {
  kind: "unavailable",
  message: "the archive's manifest is lost until the next seal writes it anew",
  retryAfterSeconds: 60,
};

const OWNER = "copies";

export function createCopies({ files, dataDir, cluster, stallMs }: CopiesOptions): Copies {
  const slots = new Semaphore(COPIES_MAX, { waitingMax: 0 });
  const stopping = new AbortController();

  return {
    async plan() {
      const status = cluster();
      if (status === null) return fail({ kind: "not_a_node" });
      const hasManifest = await files.exists(join(dataDir, MANIFEST_PATH));
      // The manifest is lost, and comes with the next seal: without it a copy would lack all of these.
      const archive = directoryPaths(dataDir).archive;
      if (!hasManifest && (await listPartFiles(files, archive)).length > 0) return fail(NO_MANIFEST);
      const kept = await files.list(directoryPaths(dataDir).quarantine);
      const quarantined = kept.map((name) => `quarantine/${name}`).filter(isQuarantinePath);
      const manifest = hasManifest ? [MANIFEST_PATH] : [];
      return ok({ cluster: status, files: [...manifest, ...positionFirst(quarantined)] });
    },
    async open(nodeId, path, signal) {
      const status = cluster();
      if (status === null) return fail({ kind: "not_a_node" });
      if (status.nodeId !== nodeId) return fail({ kind: "another_node" });
      if (slots.enter(OWNER) === "refused") return fail(TOO_MANY);
      let transfer: Transfer | null = null;
      try {
        const source = join(dataDir, path);
        const options = { files, path: source, bytes: await files.size(source), stallMs };
        const ending = AbortSignal.any([signal, stopping.signal]);
        transfer = createTransfer({ ...options, signal: ending, onOver: () => slots.leave(OWNER) });
        return ok(transfer);
      } catch (error) {
        if (error instanceof FileError && error.code === "ENOENT") return fail({ kind: "copied_file_gone" });
        throw error;
      } finally {
        if (transfer === null) slots.leave(OWNER);
      }
    },
    get running() {
      return slots.running;
    },
    stop: () => stopping.abort(new Error("the server is stopping")),
  };
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Sends as many bytes of a file as it had when it was opened, no faster than they are taken. */
export interface Transfer {
  readonly bytes: number;
  pieces(): AsyncIterable<Bytes>;
  /** Nobody wants it any more, begun or not. */
  close(): void;
}

export interface TransferOptions {
  readonly files: Files;
  readonly path: string;
  readonly bytes: number;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** For so long a piece may wait to be taken. */
  readonly stallMs: number;
  /** Called once, when it is over. */
  onOver(): void;
}

function createTransfer(options: TransferOptions): Transfer {
  const { files, path, bytes, stallMs, onOver } = options;
  const ending = new AbortController();
  const signal = AbortSignal.any([options.signal, ending.signal]);
  let source: AsyncIterator<Bytes> | null = null;
  let isOver = false;

  /** Also gives the file free, where a piece of it waits that nobody takes. */
  function end(): void {
    if (isOver) return;
    isOver = true;
    signal.removeEventListener("abort", end);
    void source?.return?.();
    onOver();
  }

  async function* pieces(): AsyncGenerator<Bytes> {
    try {
      signal.throwIfAborted();
      source = files.readPieces(path)[Symbol.asyncIterator]();
      for (let sent = 0; sent < bytes; ) {
        const next = await source.next();
        signal.throwIfAborted();
        // Another file has taken its place since it was measured: who takes it sees that it breaks off.
        if (next.done === true) throw new Error(`"${path}" became shorter while it was sent`);
        const piece = next.value.subarray(0, bytes - sent);
        sent += piece.length;
        const stall = setTimeout(() => ending.abort(new Error("nobody took the file")), stallMs);
        try {
          yield piece;
        } finally {
          clearTimeout(stall);
        }
        signal.throwIfAborted();
      }
    } finally {
      end();
    }
  }

  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  return { bytes, pieces, close: end };
}

import { join } from "node:path";
import { hasFiles } from "../../archive/archive-files.ts";
import { directoryPaths } from "../../directory/paths.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { Semaphore } from "../../lib/schedule/semaphore.ts";
import type { ServiceError } from "../../model/errors.ts";
import { FileError, type Files } from "../../runtime/files.ts";
import type { CopySqlite } from "../../runtime/sqlite.ts";
import type { ClusterStatus } from "../cluster-config.ts";
import { type CopyPath, EVENTS_PATH, isQuarantinePath, LEDGER_PATH, MANIFEST_PATH } from "./copy-path.ts";
import { EventCopies } from "./event-copies.ts";

/** Serves this node's files to a node that joins. */
export interface Copies {
  /** Lists the files to copy. */
  plan(): Promise<Result<CopyPlan, ServiceError>>;
  /**
   * Starts a transfer of a file. `nodeId` must be this node's: files of two nodes don't make a consistent copy. The
   * signal ends the transfer, as does a client that reads nothing for a minute.
   */
  open(nodeId: string, path: CopyPath, signal: AbortSignal): Promise<Result<Transfer, ServiceError>>;
  /** Transfers in progress. */
  readonly running: number;
  /** Ends all transfers. */
  stop(): void;
}

/** The floor is read before the manifest, so the copied parts and the log from the floor on are complete. */
export interface CopyPlan {
  readonly cluster: ClusterStatus;
  /** Paths in a data directory: the manifest, which names the parts, the events, the quarantine, and the ledger. */
  readonly files: readonly CopyPath[];
}

export interface CopiesOptions {
  readonly files: Files;
  readonly dataDir: string;
  readonly copySqlite: CopySqlite;
  /** Null if this process is not a node. */
  cluster(): ClusterStatus | null;
  readonly stallMs: number;
}

/** Concurrent transfers. More would only compete for the disk, which queries need too. */
export const COPIES_MAX = 4;

const TOO_MANY: ServiceError = {
  kind: "unavailable",
  message: "too many files are being copied; try again when one has finished",
  retryAfterSeconds: 5,
};

const NO_MANIFEST: ServiceError = {
  kind: "unavailable",
  message: "the archive's manifest is lost; the next seal writes a new one",
  retryAfterSeconds: 60,
};

const OWNER = "copies";

export function createCopies({ files, dataDir, copySqlite, cluster, stallMs }: CopiesOptions): Copies {
  const events = new EventCopies(files, directoryPaths(dataDir).events, copySqlite);
  const slots = new Semaphore(COPIES_MAX, { waitingMax: 0 });
  const stopping = new AbortController();

  return {
    async plan() {
      const status = cluster();
      if (status === null) return fail({ kind: "not_a_node" });
      const hasManifest = await files.exists(join(dataDir, MANIFEST_PATH));
      // The manifest is lost until the next seal: without it a copy would lack all parts.
      const archive = directoryPaths(dataDir).archive;
      if (!hasManifest && (await hasFiles(files, archive))) return fail(NO_MANIFEST);
      const names = await files.list(directoryPaths(dataDir).quarantine);
      const quarantined = names.map((name) => `quarantine/${name}`).filter(isQuarantinePath);
      const manifest = hasManifest ? [MANIFEST_PATH] : [];
      const ledger = (await files.exists(join(dataDir, LEDGER_PATH))) ? [LEDGER_PATH] : [];
      const database = (await events.exists()) ? [EVENTS_PATH] : [];
      return ok({ cluster: status, files: [...manifest, ...database, ...quarantined, ...ledger] });
    },
    async open(nodeId, path, signal) {
      const status = cluster();
      if (status === null) return fail({ kind: "not_a_node" });
      if (status.nodeId !== nodeId) return fail({ kind: "another_node" });
      if (slots.enter(OWNER) === "refused") return fail(TOO_MANY);
      let transfer: Transfer | null = null;
      try {
        const isCopy = path === EVENTS_PATH;
        const source = isCopy ? await events.make() : join(dataDir, path);
        const options = { files, path: source, bytes: await files.size(source), stallMs };
        const ending = AbortSignal.any([signal, stopping.signal]);
        const onOver = () => {
          slots.leave(OWNER);
          if (isCopy) void events.drop(source);
        };
        transfer = createTransfer({ ...options, signal: ending, onOver });
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

/** Sends the bytes that a file had when it was opened, no faster than the client reads them. */
export interface Transfer {
  readonly bytes: number;
  pieces(): AsyncIterable<Bytes>;
  /** Ends the transfer, started or not. */
  close(): void;
}

export interface TransferOptions {
  readonly files: Files;
  readonly path: string;
  readonly bytes: number;
  readonly signal: AbortSignal;
  /** How long the client may take to read a chunk. */
  readonly stallMs: number;
  /** Called once. */
  onOver(): void;
}

function createTransfer(options: TransferOptions): Transfer {
  const { files, path, bytes, stallMs, onOver } = options;
  const ending = new AbortController();
  const signal = AbortSignal.any([options.signal, ending.signal]);
  let source: AsyncIterator<Bytes> | null = null;
  let isOver = false;

  /** Closes the file even if a chunk is still unread. */
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
      for (let sentBytes = 0; sentBytes < bytes; ) {
        const next = await source.next();
        signal.throwIfAborted();
        // A shorter file has replaced it; the client sees an incomplete transfer.
        if (next.done === true) throw new Error(`"${path}" became shorter while it was sent`);
        const piece = next.value.subarray(0, bytes - sentBytes);
        sentBytes += piece.length;
        const stall = setTimeout(
          () => ending.abort(new Error("the client stopped reading the file")),
          stallMs,
        );
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

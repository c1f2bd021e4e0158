import { Worker } from "node:worker_threads";
import type { Column, DatabaseOptions } from "../../../duckdb/database.ts";
import { assert } from "../../../lib/assert.ts";
import { batchBuffers } from "../../../model/report-batch.ts";
import { FileError } from "../../../runtime/files.ts";
import { beginPoolThreads } from "../../../runtime/threads/priority.ts";
import type { PartConnection, PartEngine, PartRows } from "../part-engine.ts";
import type { Answer, Fault, Message, Request, Value } from "./messages.ts";

/** Who waits for an answer. */
interface Waiting {
  readonly kind: Request["kind"];
  resolve(value: Value): void;
  reject(error: Error): void;
}

export interface PartThreadOptions {
  readonly database: Omit<DatabaseOptions, "threads" | "runsHere">;
  /** Something that an operator should know, in a sentence. */
  onNote(note: string): void;
}

/**
 * One thread of low priority for all that makes parts: it encodes rows, and runs DuckDB's statements, which threads of
 * DuckDB's or the runtime's would run with the same right to a core as requests. Idle, it keeps no process alive.
 */
export async function startPartThread({ database, onNote }: PartThreadOptions): Promise<PartEngine> {
  await beginPoolThreads();
  const workerData: DatabaseOptions = { ...database, threads: 1, runsHere: true };
  const worker = new Worker(new URL("./part-worker.ts", import.meta.url), { workerData });
  const waiting = new Map<number, Waiting>();
  let failure: Error | null = null;
  let requests = 0;
  let connections = 0;

  function tell(message: Message, moved: ArrayBuffer[] = []): void {
    worker.postMessage(message, moved);
  }

  function ask(request: Request, signal?: AbortSignal): Promise<Value> {
    if (failure !== null) return Promise.reject(failure);
    const id = ++requests;
    const interrupt = () => tell({ kind: "interrupt", id });
    return new Promise<Value>((resolve, reject) => {
      tell({ kind: "request", id, request }, request.kind === "encode" ? batchBuffers(request.batch) : []);
      waiting.set(id, { kind: request.kind, resolve, reject });
      signal?.addEventListener("abort", interrupt);
      worker.ref(); // Somebody waits.
    }).finally(() => signal?.removeEventListener("abort", interrupt));
  }

  function settle(id: number, settleIt: (who: Waiting) => void): void {
    const who = waiting.get(id);
    waiting.delete(id);
    if (waiting.size === 0) worker.unref();
    if (who !== undefined) settleIt(who);
  }

  function stop(error: Error, mayStop: (who: Waiting) => boolean = () => true): void {
    failure ??= error;
    for (const [id, who] of waiting) if (mayStop(who)) settle(id, ({ reject }) => reject(error));
  }

  /** Statements are broken off, and answered by the thread: until then they may write to their files. */
  function close(): void {
    if (failure !== null) return;
    stop(new Error("The thread that makes parts is closed"), ({ kind }) => kind === "encode");
    tell({ kind: "close" });
  }

  worker.unref();
  worker.on("message", (answer: Answer) => {
    if (answer.kind === "note") onNote(answer.note);
    else if (answer.kind === "closed") void worker.terminate();
    else {
      const { id, result } = answer;
      settle(id, ({ resolve, reject }) =>
        result.ok ? resolve(result.value) : reject(errorOf(result.error)),
      );
    }
  });
  worker.on("error", (cause) => stop(new Error("The thread that makes parts failed", { cause })));
  worker.on("exit", () => stop(new Error("The thread that makes parts ended")));

  async function connect(): Promise<PartConnection> {
    const connection = ++connections;
    await ask({ kind: "connect", connection });
    return {
      async run(sql, _, signal) {
        signal.throwIfAborted();
        try {
          return rowsOf((await ask({ kind: "run", connection, sql }, signal)) as readonly Column[]);
        } catch (error) {
          signal.throwIfAborted();
          throw error;
        }
      },
      close: () => tell({ kind: "disconnect", connection }),
    };
  }

  return {
    encoder: {
      encode: async (appId, batch) => (await ask({ kind: "encode", appId, batch })) as Uint8Array,
      close,
    },
    database: { connect, close },
  };
}

function errorOf({ message, isOutOfDescriptors }: Fault): Error {
  return isOutOfDescriptors
    ? new FileError("open", "the archive", "EMFILE", new Error(message))
    : new Error(message);
}

function rowsOf(columns: readonly Column[]): PartRows {
  return {
    numbers(index) {
      const column = columns[index];
      assert(column instanceof Float64Array, "a column read as numbers has them");
      return column;
    },
    texts(index) {
      const column = columns[index];
      assert(Array.isArray(column), "a column read as texts has them");
      return column;
    },
  };
}

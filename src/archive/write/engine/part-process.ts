import { randomUUID } from "node:crypto";
import type { DatabaseOptions } from "../../../duckdb/database.ts";
import { FileError } from "../../../runtime/files.ts";
import type { Helper, StartHelper } from "../../../runtime/helper/helper.ts";
import { STAGED_FORMAT } from "../staged-rows.ts";
import type { Answer, Fault, NumberedRequest, Request, Value } from "./messages.ts";
import type { PartConnection, PartEngine } from "./part-engine.ts";

/** What it takes to begin the process. */
export interface PartProcessOptions {
  readonly startHelper: StartHelper;
  /** It calls `servePartEngine`. */
  readonly script: URL;
  readonly database: DatabaseOptions;
  /** Ends it while it begins: a stop must not wait for what may be late. */
  readonly signal: AbortSignal;
  /** Left out, as long as a process needs to begin where the machine has much else to do. */
  readonly startMsMax?: number;
}

const START_MS_MAX = 30_000;

/**
 * An engine in a process of its own, whose threads all stand back where others want the processor: encoding rows and
 * running DuckDB's statements here would keep answers waiting. Rejects where it can't begin, or doesn't write rows as
 * we have DuckDB read them: then its files are of another version than what runs here.
 */
export async function startPartProcess(options: PartProcessOptions): Promise<PartEngine> {
  const { signal } = options;
  signal.throwIfAborted();
  const process = new PartProcess(options.startHelper, options.script);
  const breakOff = () => process.end(signal.reason);
  signal.addEventListener("abort", breakOff);
  const late = setTimeout(
    () => process.end(new Error("The process that makes parts did not begin in time")),
    options.startMsMax ?? START_MS_MAX,
  );
  try {
    const format = await process.ask({ kind: "open", database: options.database });
    if (format !== STAGED_FORMAT)
      throw new Error("The process that makes parts is of another version, until we start again");
    return engineOf(process);
  } catch (error) {
    process.end(new Error("The process that makes parts did not begin"));
    throw error;
  } finally {
    clearTimeout(late);
    signal.removeEventListener("abort", breakOff);
  }
}

function engineOf(process: PartProcess): PartEngine {
  let files = 0;
  let connections = 0;

  async function connect(): Promise<PartConnection> {
    const connection = ++connections;
    await process.ask({ kind: "connect", connection });
    return {
      async run(sql) {
        await process.ask({ kind: "run", connection, sql });
      },
      numbers: async (sql) => (await process.ask({ kind: "numbers", connection, sql })) as Float64Array,
      counts: async (sql) =>
        (await process.ask({ kind: "counts", connection, sql })) as ReadonlyMap<string, number>,
      close: () => process.tell({ kind: "disconnect", connection }),
    };
  }

  return {
    name: randomUUID(),
    async openRows(path) {
      const file = ++files;
      await process.ask({ kind: "open rows", file, path });
      return {
        async append(appId, batch) {
          await process.ask({ kind: "append", file, appId, batch });
        },
        async close() {
          await process.ask({ kind: "close rows", file });
        },
      };
    },
    connect,
    close() {
      process.end(new DOMException("The process that makes parts was ended", "AbortError"));
      return process.gone;
    },
  };
}

/** Who waits for an answer. */
interface Waiting {
  resolve(value: Value): void;
  reject(error: Error): void;
}

class PartProcess {
  readonly #helper: Helper;
  readonly #waiting = new Map<number, Waiting>();
  #requests = 0;
  /** Why nothing is asked any more. */
  #failure: Error | null = null;
  #isGone = false;
  readonly #end = Promise.withResolvers<void>();

  constructor(startHelper: StartHelper, script: URL) {
    this.#helper = startHelper(script, {
      onMessage: (message) => this.#take(message as Answer),
      onEnd: (reason) => {
        this.#isGone = true;
        this.#failure ??= new Error(`The process that makes parts ended: ${reason}`);
        for (const { reject } of this.#waiting.values()) reject(this.#failure);
        this.#waiting.clear();
        this.#end.resolve();
      },
    });
  }

  /** Resolves once the process has ended. */
  get gone(): Promise<void> {
    return this.#end.promise;
  }

  /** Once it is to end, all are refused when it has. */
  ask(request: Request): Promise<Value> {
    return new Promise((resolve, reject) => {
      if (this.#isGone) reject(this.#failure);
      else this.#waiting.set(this.tell(request), { resolve, reject });
    });
  }

  /** Nobody waits for the answer. */
  tell(request: Request): number {
    const id = ++this.#requests;
    if (this.#failure === null) this.#helper.send({ id, request } satisfies NumberedRequest);
    return id;
  }

  /** What waits is refused once the process is gone, and writes no file any more. */
  end(reason: Error): void {
    this.#failure ??= reason;
    if (!this.#isGone) this.#helper.end();
  }

  #take({ id, result }: Answer): void {
    const who = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (result.ok) who?.resolve(result.value);
    else who?.reject(errorOf(result.error));
  }
}

function errorOf({ message, disk }: Fault): Error {
  return disk === null
    ? new Error(message)
    : new FileError(disk.operation, disk.path, disk.code, new Error(message));
}

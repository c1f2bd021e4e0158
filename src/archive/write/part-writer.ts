import { Buffer } from "node:buffer";
import { join } from "node:path";
import type { CreateSalt } from "../../lib/frames/head.ts";
import { messageOf } from "../../lib/message-of.ts";
import type { PendingErasure } from "../../model/erasure.ts";
import type { UtcDay } from "../../model/time/utc-day.ts";
import type { Files } from "../../runtime/files.ts";
import { archivePaths } from "../archive-files.ts";
import type { Database, DatabaseOptions } from "../duckdb/database.ts";
import type { Part } from "../manifest.ts";
import { createPartEngine, type PartEngine } from "./engine/part-engine.ts";
import { type PartProcesses, StuckProcessError } from "./engine/part-process.ts";
import { planFold, rowsOf } from "./fold-plan.ts";
import {
  createPartJob,
  type ErasedCounts,
  type PartJob,
  type PartJobOptions,
  type StorePart,
} from "./part-job.ts";
import type { DayRows } from "./row-stager.ts";

// Makes the archive's Parquet files. Rows become CSV on a scratch disk, DuckDB sorts and merges them, and each new part
// is passed on as bytes. The caller stores it and decides when it becomes part of the archive.

export interface FoldRequest {
  readonly day: UtcDay;
  /** The log entry up to which the day is covered with its new parts, and the one before them. */
  readonly sequence: number;
  readonly sequenceBefore: number;
  /** The log entry up to which erasures are gone from the day with its new parts, and the one before them. */
  readonly cleared: number;
  readonly clearedBefore: number;
  /** The day's archived parts. */
  readonly parts: readonly Part[];
  /** What to erase from them. */
  readonly erasures: readonly PendingErasure[];
  /** The day's rows in memory, to merge into them. */
  readonly rows: AsyncIterable<DayRows>;
}

/** What was erased from a part. */
export interface ErasedPart {
  readonly part: Part;
  /** How many records each erasure erased, by its sequence. */
  readonly counts: ReadonlyMap<number, number>;
  /** The index of the new part that has what was left; null if nothing was. */
  readonly into: number | null;
}

/** The result of a fold. */
export interface FoldResult {
  readonly replaced: readonly Part[];
  readonly erased: readonly ErasedPart[];
}

/** Rejects with the disk's or DuckDB's error, or one that names a damaged part. */
export interface PartWriter {
  /**
   * Makes the day's new parts, first without what is erased, then with the rows merged into them. Resolves with the
   * parts that they replace, and with what was erased. Only the last new part states the new
   * entries: if a crash leaves only some of them and the manifest is lost, the log has the rest.
   */
  fold(request: FoldRequest, store: StorePart): Promise<FoldResult>;
  /** Writes the checkpoint: the newest archived record of each device, even one without a position. */
  writeLatest(sequence: number, rows: AsyncIterable<DayRows>, store: StorePart): Promise<void>;
  /** Makes all running and later calls reject. */
  breakOff(): void;
  /**
   * Closes the engine too. Call it when no call is running. Resolves when the scratch directory is removed, with what
   * DuckDB could not remove if its process was killed.
   */
  close(): Promise<void>;
}

export interface PartWriterOptions extends PartJobOptions {
  /** Must not be another writer's: rows must never be appended to a file that another one left or still writes. */
  readonly scratchDirectory: string;
}

const NONE: ErasedCounts = new Map();

export function createPartWriter(options: PartWriterOptions): PartWriter {
  let jobs = 0;

  /** Runs a job with a connection and scratch files of its own, which are removed when it ends, even by an error. */
  async function runJob(work: (job: PartJob) => Promise<void>): Promise<void> {
    const { files, scratchDirectory, engine } = options;
    const prefix = `parts-${++jobs}-`;
    await files.makeDirectory(scratchDirectory);
    const connection = await engine.connect();
    try {
      await work(createPartJob(options, join(scratchDirectory, prefix), connection));
    } finally {
      connection.close();
      if (!engine.isClosed) await removeAll(files, scratchDirectory, prefix); // Else `close()` removes them.
    }
  }

  return {
    async fold({ day, sequence, sequenceBefore, cleared, clearedBefore, parts, erasures, rows }, store) {
      const replaced: Part[] = [];
      const erased: ErasedPart[] = [];
      const stateOf = (isLast: boolean) =>
        isLast ? { day, sequence, cleared } : { day, sequence: sequenceBefore, cleared: clearedBefore };
      await runJob(async (job) => {
        if (parts.length === 0) {
          const originOf = (isLast: boolean) => ({ ...stateOf(isLast), replaces: [] });
          await job.writeStaged(rows, true, originOf, store);
          return;
        }
        const counts = erasures.length === 0 ? NONE : await job.erase(parts, erasures);
        const hasRows = await job.loadStaged(rows);
        if (!hasRows && counts.size === 0) return;
        const { compared, newRowCount } = await job.compare(parts);
        const outputs = planFold(compared, newRowCount, job.partRowsMax);
        for (const [index, output] of outputs.entries()) {
          const replaces = output.sources.map(({ part }) => part);
          const origin = { ...stateOf(output === outputs.at(-1)), replaces };
          if (rowsOf(output) > 0) await job.writeOutput(output, origin, store);
          replaced.push(...replaces);
          for (const { part, rows: left } of output.sources) {
            const ofPart = counts.get(part);
            if (ofPart !== undefined) erased.push({ part, counts: ofPart, into: left > 0 ? index : null });
          }
        }
      });
      return { replaced, erased };
    },
    writeLatest: (sequence, rows, store) =>
      runJob((job) => {
        const origin = { day: null, sequence, cleared: sequence, replaces: [] };
        return job.writeStaged(rows, false, () => origin, store);
      }),
    breakOff: () => void options.engine.close(),
    async close() {
      const { files, scratchDirectory, engine } = options;
      // If the engine still writes to a file, removing it may hang too. The next start removes it.
      if (await engine.close()) await files.removeAll(scratchDirectory).catch(() => undefined);
    },
  };
}

/** The next start empties the scratch directory, so a failure here is ignored and hides no other error. */
async function removeAll(files: Files, directory: string, prefix: string): Promise<void> {
  const names = await files.list(directory).catch(() => []);
  for (const name of names.filter((name) => name.startsWith(prefix))) {
    await files.remove(join(directory, name)).catch(() => undefined);
  }
}

/** Options of the writer for one seal. */
export interface OpenPartWriterOptions {
  /** The archive directory and its disk. */
  readonly directory: string;
  readonly files: Files;
  /** Opens the database of an engine in this process. */
  readonly openDatabase: (options: DatabaseOptions) => Promise<Database>;
  /** The engine's limit of memory. */
  readonly memoryBytes: number;
  /** Names the scratch directory, which no other seal may use, of this process or an earlier one. */
  readonly createSalt: CreateSalt;
  /** Null to make parts in this process. */
  readonly processes: PartProcesses | null;
  /** Called with a sentence for the operator. */
  readonly onNote: (note: string) => void;
  /** Stops the opening. */
  readonly signal: AbortSignal;
}

/** Opens the engine too. The caller closes the writer. */
export async function openPartWriter(options: OpenPartWriterOptions): Promise<PartWriter> {
  const { directory, files } = options;
  // Each seal has its own directory: a process that could not be ended may still write to that of an earlier seal.
  const salt = Buffer.from(options.createSalt()).toString("hex");
  const scratchDirectory = join(archivePaths(directory).scratch, `seal-${salt}`);
  const engine = await openPartEngine(options, {
    threads: 1, // The others are for requests.
    memoryBytes: options.memoryBytes,
    directories: [directory],
    spillDirectory: scratchDirectory,
    cachesFiles: false,
  });
  return createPartWriter({ files, scratchDirectory, pathOf: ({ file }) => join(directory, file), engine });
}

/** A seal matters more than fast answers: if no helper process can make its parts, this process does. */
async function openPartEngine(
  { files, openDatabase, processes, onNote, signal }: OpenPartWriterOptions,
  database: DatabaseOptions,
): Promise<PartEngine> {
  if (processes !== null) {
    try {
      return await processes.start(database, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof StuckProcessError) throw error;
      onNote(`This seal may slow down answers. ${messageOf(error)}.`);
    }
  }
  return createPartEngine(files, await openDatabase(database));
}

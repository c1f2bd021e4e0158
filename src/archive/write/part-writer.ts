import { Buffer } from "node:buffer";
import { join } from "node:path";
import type { CreateSalt } from "../../lib/frames/head.ts";
import { messageOf } from "../../lib/message-of.ts";
import type { UtcDay } from "../../model/time/utc-day.ts";
import type { Files } from "../../runtime/files.ts";
import { archivePaths } from "../archive-files.ts";
import type { Database, DatabaseOptions } from "../duckdb/database.ts";
import type { Part } from "../manifest.ts";
import { createPartEngine, type PartEngine } from "./engine/part-engine.ts";
import { type PartProcesses, StuckProcessError } from "./engine/part-process.ts";
import { planFold } from "./fold-plan.ts";
import { createPartJob, type KeepPart, type PartJob, type PartJobOptions } from "./part-job.ts";
import type { DayRows } from "./row-stager.ts";

/*
 * Makes the archive's Parquet files. Rows become CSV on a scratch disk, DuckDB sorts and merges, and each new
 * part is handed over as bytes: what puts it in place, and when it counts, is decided elsewhere.
 */

export interface FoldRequest {
  readonly day: UtcDay;
  /** The entry of the log up to which the day is covered by its new parts together, and without them. */
  readonly sequence: number;
  readonly sequenceBefore: number;
  /** What is sealed of the day already. */
  readonly parts: readonly Part[];
  /** What memory holds of the day: laid over what is sealed. */
  readonly rows: AsyncIterable<DayRows>;
}

/** Rejects with the disk's or DuckDB's own error, or one that names a damaged part. */
export interface PartWriter {
  /**
   * Makes the day's new parts; resolves with the parts that are not needed any more. Only the last says that the day is
   * covered up to the new entry: where a crash leaves some of them and the manifest is lost, the log has the rest.
   */
  fold(request: FoldRequest, keep: KeepPart): Promise<{ readonly replaced: readonly Part[] }>;
  /** The checkpoint: the newest sealed record of each device. Rows are written as they are, without a position too. */
  writeLatest(sequence: number, rows: AsyncIterable<DayRows>, keep: KeepPart): Promise<void>;
  /** What is under way rejects, and so does all that comes. */
  breakOff(): void;
  /**
   * Closes the engine too. To be called when nothing is under way; resolves when the scratch directory is gone, with
   * what DuckDB put there and did not remove if its process was killed.
   */
  close(): Promise<void>;
}

export interface PartWriterOptions extends PartJobOptions {
  /** No other writer's: rows must never be appended to what another one could not remove, or still writes. */
  readonly scratchDirectory: string;
}

export function createPartWriter(options: PartWriterOptions): PartWriter {
  let jobs = 0;

  /** Runs a job on a connection and scratch files of its own; both are gone when it ends, however it ends. */
  async function runJob(work: (job: PartJob) => Promise<void>): Promise<void> {
    const { files, scratchDirectory, engine } = options;
    const prefix = `parts-${++jobs}-`;
    await files.makeDirectory(scratchDirectory);
    const connection = await engine.connect();
    try {
      await work(createPartJob(options, join(scratchDirectory, prefix), connection));
    } finally {
      connection.close();
      if (!engine.isClosed) await removeAll(files, scratchDirectory, prefix); // Else all goes with `close`.
    }
  }

  return {
    async fold({ day, sequence, sequenceBefore, parts, rows }, keep) {
      const replaced: Part[] = [];
      const sequenceOf = (isLast: boolean) => (isLast ? sequence : sequenceBefore);
      await runJob(async (job) => {
        if (parts.length === 0) {
          const originOf = (isLast: boolean) => ({ day, sequence: sequenceOf(isLast), replaces: [] });
          await job.writeStaged(rows, true, originOf, keep);
          return;
        }
        if (!(await job.loadStaged(rows))) return;
        const { found, newRowCount } = await job.compare(parts);
        const outputs = planFold(found, newRowCount, job.partRowsMax);
        for (const output of outputs) {
          const replaces = output.sources.map(({ part }) => part);
          const origin = { day, sequence: sequenceOf(output === outputs.at(-1)), replaces };
          await job.writeOutput(output, origin, keep);
          replaced.push(...replaces);
        }
      });
      return { replaced };
    },
    writeLatest: (sequence, rows, keep) =>
      runJob((job) => job.writeStaged(rows, false, () => ({ day: null, sequence, replaces: [] }), keep)),
    breakOff: () => void options.engine.close(),
    async close() {
      const { files, scratchDirectory, engine } = options;
      // What an engine still writes to may hang for us too; a start removes it.
      if (await engine.close()) await files.removeAll(scratchDirectory).catch(() => undefined);
    },
  };
}

/** A start empties the scratch directory, so what can't be removed now hides no other failure. */
async function removeAll(files: Files, directory: string, prefix: string): Promise<void> {
  const names = await files.list(directory).catch(() => []);
  for (const name of names.filter((name) => name.startsWith(prefix))) {
    await files.remove(join(directory, name)).catch(() => undefined);
  }
}

/** What it takes to open what makes the parts of one seal. */
export interface OpenPartWriterOptions {
  /** The archive's, and what reads and writes there. */
  readonly directory: string;
  readonly files: Files;
  /** Opens an engine in this process. */
  readonly openDatabase: (options: DatabaseOptions) => Promise<Database>;
  /** What the engine may take. */
  readonly memoryBytes: number;
  /** Names the scratch directory: one that no other seal has, of this process or of one before. */
  readonly createSalt: CreateSalt;
  /** Null if parts are made in this process. */
  readonly processes: PartProcesses | null;
  /** Something an operator should know, in a sentence. */
  readonly onNote: (note: string) => void;
  /** Breaks off what begins. */
  readonly signal: AbortSignal;
}

/** Opens the engine too. The caller closes the writer. */
export async function openPartWriter(options: OpenPartWriterOptions): Promise<PartWriter> {
  const { directory, files } = options;
  // Each seal has its own directory: a process that could not be ended may still write to that of the seal before.
  const salt = Buffer.from(options.createSalt()).toString("hex");
  const scratchDirectory = join(archivePaths(directory).scratch, `seal-${salt}`);
  const engine = await openPartEngine(options, {
    threads: 1, // The others belong to requests.
    memoryBytes: options.memoryBytes,
    directories: [directory],
    spillDirectory: scratchDirectory,
    cachesFiles: false,
  });
  return createPartWriter({ files, scratchDirectory, pathOf: ({ file }) => join(directory, file), engine });
}

/** A seal is worth more than the time of answers: if no other process can make its parts, this one does. */
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
      onNote(`This seal may keep answers waiting. ${messageOf(error)}.`);
    }
  }
  return createPartEngine(files, await openDatabase(database));
}

import { Buffer } from "node:buffer";
import { join } from "node:path";
import type { CreateSalt } from "../../lib/frames/head.ts";
import { messageOf } from "../../lib/message-of.ts";
import type { Files } from "../../runtime/files.ts";
import { archivePaths } from "../archive-files.ts";
import type { Database, DatabaseOptions } from "../duckdb/database.ts";
import { createPartEngine, type PartEngine } from "./engine/part-engine.ts";
import { type PartProcesses, StuckProcessError } from "./engine/part-process.ts";
import { createPartWriter, type PartWriter } from "./part-writer.ts";

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
  /** Null where parts are made in this process. */
  readonly processes: PartProcesses | null;
  /** Something an operator should know, in a sentence. */
  readonly onNote: (note: string) => void;
  /** Breaks off what begins. */
  readonly signal: AbortSignal;
}

/** Who opens it closes it. */
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

/** A seal is worth more than the time of answers: where no other process can make its parts, this one does. */
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

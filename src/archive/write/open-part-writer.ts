import { join } from "node:path";
import type { Database, DatabaseOptions } from "../../duckdb/database.ts";
import { messageOf } from "../../lib/message-of.ts";
import type { Files } from "../../runtime/files.ts";
import type { StartHelper } from "../../runtime/helper/helper.ts";
import { archivePaths } from "../files/paths.ts";
import { createPartEngine, type PartEngine } from "./engine/part-engine.ts";
import { startPartProcess } from "./engine/part-process.ts";
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
  /** Begins the process that makes parts, by its script; null where parts are made in this one. */
  readonly helper: { readonly start: StartHelper; readonly script: URL } | null;
  /** Something an operator should know, in a sentence. */
  readonly onNote: (note: string) => void;
  /** Breaks off what begins. */
  readonly signal: AbortSignal;
}

/** Who opens it closes it. */
export async function openPartWriter(options: OpenPartWriterOptions): Promise<PartWriter> {
  const { directory, files } = options;
  const scratchDirectory = join(archivePaths(directory).scratch, "seal");
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
  { files, openDatabase, helper, onNote, signal }: OpenPartWriterOptions,
  database: DatabaseOptions,
): Promise<PartEngine> {
  if (helper !== null) {
    try {
      const { start: startHelper, script } = helper;
      return await startPartProcess({ startHelper, script, database, signal });
    } catch (error) {
      signal.throwIfAborted();
      onNote(`This seal may keep answers waiting. ${messageOf(error)}.`);
    }
  }
  return createPartEngine(files, await openDatabase(database));
}

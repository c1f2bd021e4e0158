import { join } from "node:path";
import { type Database, openDatabase } from "../../../../src/archive/duckdb/database.ts";
import {
  createPartReader,
  type PartReader,
  type PartReaderOptions,
} from "../../../../src/archive/read/part-reader.ts";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";

const FILES = createNodeFiles();

/** The database of a reader of parts below one folder. */
export function openFolderDatabase(folder: string): Promise<Database> {
  return openDatabase({
    threads: 2,
    memoryBytes: 500_000_000,
    directories: [folder],
    cachesFiles: true,
    spillDirectory: join(folder, "spill"),
  });
}

/** A reader of the parts below one folder. */
export function createFolderReader(folder: string, options: Partial<PartReaderOptions> = {}): PartReader {
  return createPartReader({
    openDatabase: () => openFolderDatabase(folder),
    pathOf: ({ file }) => join(folder, file),
    readRange: ({ file }, start, end) => FILES.readRange(join(folder, file), start, end),
    slots: 1,
    queueMax: 1,
    ...options,
  });
}

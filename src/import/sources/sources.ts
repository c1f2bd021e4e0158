import { dirname } from "node:path";
import { FileError, type Files } from "../../runtime/files.ts";
import type { InputStat, Inputs } from "../../runtime/inputs.ts";
import { createDiskFile } from "./disk-file.ts";
import { walkFolder } from "./folder-walk.ts";
import { createPipedFile, type PipedFile } from "./piped-file.ts";
import type { Found, Sources } from "./source.ts";
import { createUnpackBudget } from "./unpacked-file.ts";
import { createUnpacking, type Unpacking } from "./unpacking.ts";

/** What an import was given, and what it may take to read it. */
interface SourcesOptions {
  readonly inputs: Inputs;
  /** Files and folders, and `-` for standard input. */
  readonly paths: readonly string[];
  /** How much all that is packed may unpack to. */
  readonly unpackedBytesMax: number;
  /** What can be read only once, or lies in an archive in an archive, waits here. */
  readonly spoolDirectory: string;
  /** Ends all waiting for a pipe. */
  readonly signal: AbortSignal;
}

/** What lies at a path that was given. */
type Given =
  | { readonly kind: "disk"; readonly path: string; readonly stat: InputStat }
  | { readonly kind: "pipe"; readonly file: PipedFile }
  | { readonly kind: "missing"; readonly path: string; readonly reason: string };

export function createSources(options: SourcesOptions): Sources {
  const { inputs, paths, unpackedBytesMax, spoolDirectory, signal } = options;
  const pipes = new Map<string, PipedFile>();

  function pipeOf(path: string): PipedFile {
    const file = pipes.get(path) ?? createPipedFile(inputs, path, spoolDirectory, signal);
    pipes.set(path, file);
    return file;
  }

  async function look(path: string): Promise<Given> {
    if (path === "-") return { kind: "pipe", file: pipeOf(path) };
    try {
      const stat = await inputs.stat(path);
      return stat.kind === "stream" ? { kind: "pipe", file: pipeOf(path) } : { kind: "disk", path, stat };
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      return { kind: "missing", path, reason: error.message };
    }
  }

  async function* walk(): AsyncGenerator<Found> {
    // Anew for each walk, since each may unpack as much.
    const unpacking = createUnpacking(inputs, spoolDirectory, createUnpackBudget(unpackedBytesMax));
    for (const path of paths) {
      const given = await look(path);
      if (given.kind === "missing") {
        const where = { key: path, label: path, isNamed: true, packedBytes: null };
        yield { kind: "failed", where, reason: given.reason };
      } else if (given.kind === "pipe") {
        yield* unpacking.look(given.file);
      } else if (given.stat.kind === "file") {
        yield* unpacking.look(createDiskFile(inputs, { path, label: path, isNamed: true }, given.stat));
      } else {
        yield* walkGiven(path, unpacking);
      }
    }
  }

  async function* walkGiven(folder: string, unpacking: Unpacking): AsyncGenerator<Found> {
    for await (const item of walkFolder(inputs, folder)) {
      const where = { key: item.path, label: item.path, isNamed: false, packedBytes: null };
      if (item.kind === "file") {
        const { path, stat } = item;
        yield* unpacking.look(createDiskFile(inputs, { path, label: path, isNamed: false }, stat));
      } else if (item.kind === "left_alone") {
        yield { kind: "left_alone", where, what: item.what };
      } else {
        yield { kind: "failed", where, reason: item.reason };
      }
    }
  }

  return {
    walk,
    async close() {
      for (const file of pipes.values()) await file.close();
    },
  };
}

/**
 * Where there is room for what can't be read again: on the disk of the data directory, which has it sooner than one for
 * temporary files, and which this process may write to; in what is there of its path, since it may not be there yet.
 */
export async function spoolDirectoryFor(dataDir: string, files: Pick<Files, "exists">): Promise<string> {
  let directory = dataDir;
  while (!(await files.exists(directory)) && dirname(directory) !== directory) directory = dirname(directory);
  return directory;
}

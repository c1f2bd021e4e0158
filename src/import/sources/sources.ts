import { dirname } from "node:path";
import { FileError, type Files } from "../../runtime/files.ts";
import type { InputStat, Inputs } from "../../runtime/inputs.ts";
import { createDiskFile } from "./disk-file.ts";
import { walkFolder } from "./folder-walk.ts";
import { createPipedFile, type PipedFile } from "./piped-file.ts";
import type { SourceItem, Sources } from "./source.ts";
import { createUnpackBudget } from "./unpacked-file.ts";
import { createUnpacking, type Unpacking } from "./unpacking.ts";

/** The paths of an import, and the limits for reading them. */
interface SourcesOptions {
  readonly inputs: Inputs;
  /** Files and folders, and `-` for standard input. */
  readonly paths: readonly string[];
  /** The most bytes that all archives and compressed files may decompress to. */
  readonly unpackedBytesMax: number;
  /** Where a pipe, or an archive in an archive, is spooled. */
  readonly spoolDirectory: string;
  /** Ends all waiting for a pipe. */
  readonly signal: AbortSignal;
}

/** What a named path leads to. */
type PathTarget =
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

  async function look(path: string): Promise<PathTarget> {
    if (path === "-") return { kind: "pipe", file: pipeOf(path) };
    try {
      const stat = await inputs.stat(path);
      return stat.kind === "stream" ? { kind: "pipe", file: pipeOf(path) } : { kind: "disk", path, stat };
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      return { kind: "missing", path, reason: error.message };
    }
  }

  async function* walk(): AsyncGenerator<SourceItem> {
    // A new budget for each walk, because each decompresses everything again.
    const unpacking = createUnpacking(inputs, spoolDirectory, createUnpackBudget(unpackedBytesMax));
    for (const path of paths) {
      const target = await look(path);
      if (target.kind === "missing") {
        const where = { key: path, label: path, isNamed: true, packedBytes: null };
        yield { kind: "failed", where, reason: target.reason };
      } else if (target.kind === "pipe") {
        yield* unpacking.look(target.file);
      } else if (target.stat.kind === "file") {
        yield* unpacking.look(createDiskFile(inputs, { path, label: path, isNamed: true }, target.stat));
      } else {
        yield* walkNamed(path, unpacking);
      }
    }
  }

  async function* walkNamed(folder: string, unpacking: Unpacking): AsyncGenerator<SourceItem> {
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
 * The directory for spooled files: on the disk of the data directory, which has more space than one for temporary files
 * and is writable. The deepest existing folder of its path, because the data directory may not exist yet.
 */
export async function spoolDirectoryFor(dataDir: string, files: Pick<Files, "exists">): Promise<string> {
  let directory = dataDir;
  while (!(await files.exists(directory)) && dirname(directory) !== directory) directory = dirname(directory);
  return directory;
}

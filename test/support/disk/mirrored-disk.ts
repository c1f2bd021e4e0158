import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ArchiveDisk } from "../../../src/app/directory.ts";
import type { Files } from "../../../src/runtime/files.ts";
import { createNodeFiles } from "../../../src/runtime/node-files.ts";
import { temporaryDataDir } from "../archive-app.ts";
import type { SimulatedFiles } from "./simulated-files.ts";

/** A simulated disk whose archive DuckDB can read: `/data/archive` is mirrored to a real directory. */
export interface MirroredDisk {
  readonly files: Files;
  readonly archiveDisk: ArchiveDisk;
}

export const SIMULATED_DATA_DIR = "/data";
const ARCHIVE = `${SIMULATED_DATA_DIR}/archive/`;

/** `directory` must be empty; defaults to a new one. */
export function createMirroredDisk(simulated: SimulatedFiles, directory = temporaryDataDir()): MirroredDisk {
  function mirror(path: string): void {
    if (!path.startsWith(ARCHIVE)) return;
    const real = join(directory, path.slice(ARCHIVE.length));
    const bytes = simulated.contents().get(path);
    if (bytes === undefined) {
      rmSync(real, { force: true });
      return;
    }
    mkdirSync(dirname(real), { recursive: true });
    writeFileSync(real, bytes);
  }

  async function mirrored(paths: readonly string[], operation: Promise<void>): Promise<void> {
    try {
      await operation;
    } finally {
      paths.forEach(mirror); // A failed operation may have taken effect.
    }
  }

  for (const path of simulated.contents().keys()) mirror(path);
  return {
    files: {
      ...simulated,
      replace: (path, bytes) => mirrored([path], simulated.replace(path, bytes)),
      rename: (from, to) => mirrored([from, to], simulated.rename(from, to)),
      remove: (path) => mirrored([path], simulated.remove(path)),
    },
    archiveDisk: { directory, files: createNodeFiles() },
  };
}

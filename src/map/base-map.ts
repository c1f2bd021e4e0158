import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FileError } from "../runtime/files.ts";
import type { Inputs } from "../runtime/inputs.ts";
import { joinFiles } from "./joined-files.ts";
import { MapFileError, openTileFile, type TileFile } from "./tile-file.ts";

/** The map below the devices: the world, which is part of the program, and the operator's streets over it. */
export interface BaseMap {
  readonly world: TileFile;
  /** Null if there is no file of streets. */
  readonly streets: TileFile | null;
  close(): Promise<void>;
}

/** data/map/README.md describes how it was made. */
const WORLD = fileURLToPath(import.meta.resolve("../../data/map/world.pmtiles"));

/** Each file stays open. */
const FILES_MAX = 64;

/** The folder of files that `map fetch` wrote. */
export interface FetchedMaps {
  readonly directory: string;
  /** A file can't be used: the server starts without it. */
  onNote(note: string): void;
}

/**
 * Opens the world, and the operator's file of streets or, without one, all files of the folder. Throws if the world or
 * the operator's file can't be used. The message says what to do.
 */
export async function openBaseMap(
  inputs: Inputs,
  streetsPath: string | null,
  fetched: FetchedMaps | null = null,
): Promise<BaseMap> {
  const world = await openTileFile(inputs, WORLD);
  try {
    const streets =
      streetsPath !== null
        ? await openTileFile(inputs, streetsPath)
        : fetched === null
          ? null
          : joinFiles(await openFetched(inputs, fetched));
    return {
      world,
      streets,
      async close() {
        await Promise.all([world.close(), streets?.close()]);
      },
    };
  } catch (error) {
    await world.close();
    throw error;
  }
}

async function openFetched(inputs: Inputs, { directory, onNote }: FetchedMaps): Promise<TileFile[]> {
  const names = (await listIfThere(inputs, directory)).filter((name) => name.endsWith(".pmtiles"));
  if (names.length > FILES_MAX) onNote(`${directory} has ${names.length} files; only ${FILES_MAX} are shown`);
  const files: TileFile[] = [];
  for (const name of names.slice(0, FILES_MAX)) {
    try {
      files.push(await openTileFile(inputs, join(directory, name)));
    } catch (error) {
      if (!(error instanceof MapFileError || error instanceof FileError)) throw error;
      onNote(error.message);
    }
  }
  return files;
}

async function listIfThere(inputs: Inputs, directory: string): Promise<string[]> {
  try {
    return await inputs.list(directory);
  } catch (error) {
    if (error instanceof FileError && error.code === "ENOENT") return [];
    throw error;
  }
}

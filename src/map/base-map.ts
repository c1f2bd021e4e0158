import { fileURLToPath } from "node:url";
import type { Inputs } from "../runtime/inputs.ts";
import { openTileFile, type TileFile } from "./tile-file.ts";

/** The map below the devices: the world, which is part of the program, and the operator's streets over it. */
export interface BaseMap {
  readonly world: TileFile;
  /** Null without `--map`. */
  readonly streets: TileFile | null;
  close(): Promise<void>;
}

/** data/map/README.md describes how it was made. */
const WORLD = fileURLToPath(import.meta.resolve("../../data/map/world.pmtiles"));

/** Throws if a file can't be read or is not a map. The message says what to do. */
export async function openBaseMap(inputs: Inputs, streetsPath: string | null): Promise<BaseMap> {
  const world = await openTileFile(inputs, WORLD);
  try {
    const streets = streetsPath === null ? null : await openTileFile(inputs, streetsPath);
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

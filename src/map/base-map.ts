import { fileURLToPath } from "node:url";
import type { Inputs } from "../runtime/inputs.ts";
import { openTileFile, type TileFile } from "./tile-file.ts";

/** The map under the devices: the world, which comes with the program, and the operator's streets over it. */
export interface BaseMap {
  readonly world: TileFile;
  /** Null where the operator gave none. */
  readonly streets: TileFile | null;
  close(): Promise<void>;
}

/** data/map/README.md says how it is made. */
const WORLD = fileURLToPath(import.meta.resolve("../../data/map/world.pmtiles"));

/** Throws where a file can't be read, or is no map, with what to do about it. */
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

import { messageOf } from "../../../../src/lib/message-of.ts";
import { MapFileError, openTileFile, type TileFile } from "../../../../src/map/tile-file.ts";
import { inputsWith } from "../../../unit/map/fixture.ts";
import { writePmtiles } from "../../world/pmtiles-writer.ts";
import { createDraw, type Draw } from "../support/inputs/draw.ts";
import { must, mustEqual, type Target } from "../support/target.ts";

/*
 * The operator's PMTiles, damaged. They are refused when they are opened, or tile by tile, in words that name the file;
 * what is read stays within the file.
 */

const ZOOM_MAX = 4;
const ADDRESSES = Array.from(
  { length: ZOOM_MAX + 2 },
  (_, z) => [z, (2 ** z - 1) >> 1, (2 ** z) >> 1] as const,
);

const FILE = writePmtiles(
  ADDRESSES.slice(0, -1).flatMap(([z, x, y]) =>
    [x, x + 1]
      .filter((column) => column < 2 ** z)
      .map((column) => ({ z, x: column, y, bytes: Uint8Array.of(z, column) })),
  ),
  { vector_layers: [{ id: "earth" }], attribution: "<b>us</b>" },
);
const HEADER_BYTES = 127;

export const mapFiles: Target = {
  name: "maps",
  bytesMax: 4096,
  seeds: () => [new Uint8Array(), Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)],
  async check(input) {
    const counts = { reads: 0, open: 0 };
    const file = await opened(damaged(createDraw(input)), counts);
    if (file === null) return mustEqual(counts.open, 0, "a file that is refused is closed");
    for (const address of ADDRESSES) await mustBeSane(file, address);
    await file.close();
    mustEqual(counts.open, 0, "a file is closed once");
  },
};

/** Null where it is refused. */
async function opened(bytes: Uint8Array, counts: { reads: number; open: number }): Promise<TileFile | null> {
  try {
    return await openTileFile(inputsWith(bytes, counts), "x.pmtiles");
  } catch (error) {
    must(error instanceof MapFileError, "a refusal names the file", () => messageOf(error));
    return null;
  }
}

async function mustBeSane(file: TileFile, [z, x, y]: readonly [number, number, number]): Promise<void> {
  try {
    const found = await file.find(z, x, y);
    must(found === null || found.bytes.length > 0, "a tile has bytes");
  } catch (error) {
    const message = messageOf(error);
    must(
      message.startsWith(`Cannot read tile ${z}/${x}/${y} of "x.pmtiles": `),
      "a fault names the tile",
      () => message,
    );
  }
}

/** Mostly the header, in which every byte counts. */
function damaged(draw: Draw): Uint8Array {
  const bytes = FILE.slice(0, draw.chance(8) ? draw.upTo(FILE.length) : FILE.length);
  for (let changes = draw.upTo(4); changes > 0 && bytes.length > 0; changes--) {
    const end = draw.chance(2) ? bytes.length : Math.min(HEADER_BYTES, bytes.length);
    bytes[draw.upTo(end - 1)] = draw.upTo(255);
  }
  return bytes;
}

import { createHash } from "node:crypto";
import { mercatorX, mercatorY } from "./mercator.ts";
import type { Bounds, TileFacts, TileFile } from "./tile-file.ts";

/** Several files of different areas as one map. Where areas overlap, the first file that has a tile answers. */
export function joinFiles(files: readonly TileFile[]): TileFile | null {
  const [first, ...others] = files;
  if (first === undefined || others.length === 0) return first ?? null;
  return {
    facts: joinFacts(files.map(({ facts }) => facts)),
    async find(z, x, y) {
      for (const file of files) {
        const tile = await file.find(z, x, y);
        if (tile !== null) return tile;
      }
      return null;
    },
    async close() {
      await Promise.all(files.map((file) => file.close()));
    },
  };
}

function joinFacts(all: readonly TileFacts[]): TileFacts {
  const areas = all.flatMap((facts) => facts.areas);
  const edge = (index: 0 | 1 | 2 | 3, choose: (...values: number[]) => number) =>
    choose(...areas.map((area) => area[index]));
  const credits = new Map(all.map((facts) => [facts.attribution, facts.credits]));
  const separated = [...credits.values()].flatMap((each, index) =>
    index === 0 || each.length === 0 ? each : [{ text: ", ", url: null }, ...each],
  );
  return {
    version: createHash("sha256")
      .update(all.map(({ version }) => version).join())
      .digest("base64url")
      .slice(0, 16),
    // At lower zooms a client would show each area as a small square of detail.
    minZoom: Math.min(...all.map(fillingZoom)),
    maxZoom: Math.max(...all.map(({ maxZoom }) => maxZoom)),
    bounds: [edge(0, Math.min), edge(1, Math.min), edge(2, Math.max), edge(3, Math.max)],
    areas,
    attribution: [...credits.keys()].filter((text) => text !== "").join(", "),
    credits: separated,
  };
}

/** The zoom from which on the bounds fill about a tile. */
function fillingZoom({ minZoom, maxZoom, bounds }: TileFacts): number {
  const zoom = Math.floor(-Math.log2(shareOf(bounds)));
  return Math.min(maxZoom, Math.max(minZoom, zoom));
}

/** The larger share of the world's width or height. */
function shareOf([west, south, east, north]: Bounds): number {
  return Math.max(mercatorX(east) - mercatorX(west), mercatorY(south) - mercatorY(north));
}

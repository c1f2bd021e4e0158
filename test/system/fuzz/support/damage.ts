import type { Draw } from "./inputs/draw.ts";

/** Changes some of the bytes, most often those at the start, where a header tells what follows; or none. */
export function damage(draw: Draw, bytes: Uint8Array): void {
  for (let changes = draw.pick([0, 1, 1, 1, 2, 4]); changes > 0 && bytes.length > 0; changes--) {
    const at = draw.upTo(draw.chance(2) ? bytes.length - 1 : Math.min(31, bytes.length - 1));
    bytes[at] = draw.pick([bytes[at]! ^ (1 << draw.upTo(7)), bytes[at]! + 1, draw.upTo(8), draw.upTo(255)]);
  }
}

import type { Draw } from "./draw.ts";

/** The bytes in pieces, cut where the draw says. */
export function pieces(draw: Draw, bytes: Uint8Array): Uint8Array[] {
  const cuts = draw.list(4, () => draw.upTo(bytes.length)).sort((a, b) => a - b);
  return [0, ...cuts].map((start, index) => bytes.slice(start, cuts[index] ?? bytes.length));
}

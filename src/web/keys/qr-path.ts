import { encode } from "uqr";

/** Modules of nothing round the code, without which cameras don't find it. */
export const QUIET_ZONE = 4;

/** A code as a drawing: so many units wide and high, and its dark modules as a path of SVG. */
export interface QrPath {
  readonly size: number;
  readonly path: string;
}

/** Dark modules that touch in a row are one piece of the path. */
export function qrPath(text: string): QrPath {
  const { data, size } = encode(text, { ecc: "M", border: QUIET_ZONE });
  let path = "";
  for (const [y, row] of data.entries())
    for (let x = 0; x < size; x++) {
      const start = x;
      while (row[x]) x++;
      if (x > start) path += `M${start} ${y}h${x - start}v1h${start - x}z`;
    }
  return { size, path };
}

import { html, type TemplateResult } from "lit-html";
import { encode } from "uqr";

/** A text as a QR code, dark on light in both themes, since many cameras read no other. */
export function qrCode(text: string, label: string): TemplateResult {
  const { size, path } = qrPath(text);
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label=${label} shape-rendering="crispEdges">
    <rect width="100%" height="100%" fill="#fff"></rect>
    <path d=${path} fill="#000"></path>
  </svg>`;
}

/** The empty modules around the code, which cameras need to find it. */
export const QUIET_ZONE = 4;

/** A code as a drawing: its width and height in units, and its dark modules as an SVG path. */
export interface QrPath {
  readonly size: number;
  readonly path: string;
}

/** Adjacent dark modules of a row are one rectangle of the path. */
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

import { html, type TemplateResult } from "lit-html";
import { qrPath } from "./qr-path.ts";

/** A text as a QR code: dark on light, by night too, since many cameras read no other. */
export function qrCode(text: string, label: string): TemplateResult {
  const { size, path } = qrPath(text);
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label=${label} shape-rendering="crispEdges">
    <rect width="100%" height="100%" fill="#fff"></rect>
    <path d=${path} fill="#000"></path>
  </svg>`;
}

import { renderUnicodeCompact } from "uqr";

/** White around the code. Scanners want it, and make do with less than the four modules of the standard. */
const BORDER_MODULES = 2;

/**
 * The text as a QR code for a terminal that writes white on black: half blocks, a column and half a line for a module.
 * Null where it is wider than this.
 */
export function qrCode(text: string, columns: number): string | null {
  const code = renderUnicodeCompact(text, { ecc: "L", border: BORDER_MODULES });
  return code.indexOf("\n") <= columns ? code : null;
}

/** A text with its percent escapes decoded as UTF-8; null if one begins no byte, or their bytes are no UTF-8. */
export function percentDecoded(text: string): string | null {
  if (!text.includes("%")) return text; // Nearly all texts, which would cost a call of the engine otherwise.
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

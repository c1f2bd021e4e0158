const POINT = 1;
/** A reference system is named, which PostGIS does before the coordinates. */
const HAS_SRID = 0x20000000;

/**
 * Longitude and latitude of a point in well-known binary, as hexadecimal digits; null for any other shape.
 *
 *     | byte order, 1 byte | type, 4 bytes | x, 8 bytes | y, 8 bytes | ...
 */
export function parseWkbPoint(hex: string | null): { longitude: number; latitude: number } | null {
  if (hex === null || hex.length < 42) return null;
  const bytes = Uint8Array.from({ length: hex.length / 2 }, (_, at) =>
    Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16),
  );
  const view = new DataView(bytes.buffer);
  const isLittle = bytes[0] === 1;
  const type = view.getUint32(1, isLittle);
  const xAt = (type & HAS_SRID) !== 0 ? 9 : 5;
  // Heights and measures add thousands, or set bits at the top.
  if ((type & 0x0fffffff) % 1000 !== POINT || bytes.length < xAt + 16) return null;
  return { longitude: view.getFloat64(xAt, isLittle), latitude: view.getFloat64(xAt + 8, isLittle) };
}

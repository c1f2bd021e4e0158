/** A fence of a file, as a GeoJSON Feature that is not checked yet. */
export interface FileFence {
  /** Where it is in the file, for people. */
  readonly place: string;
  readonly feature: unknown;
}

/** Receives the fences of a file. */
export type FenceSink = (fence: FileFence) => void;

/** Reads one kind of file, piece by piece. Throws a `FormatError` for a file that it can't read. */
export interface FenceReader {
  push(piece: Uint8Array): void;
  end(): void;
}

/** Meters of circles and corridors in KML and GPX, which have no members for them. */
export interface FenceExtents {
  readonly radiusMeters: number;
  readonly bufferMeters: number;
}

/** A Feature of what a file has; a text that is blank is absent. */
export function featureOf(
  type: string,
  coordinates: unknown,
  texts: { readonly name: string; readonly description: string },
  { radiusMeters, bufferMeters }: FenceExtents,
): unknown {
  const [name, description] = [texts.name.trim(), texts.description.trim()];
  const properties = {
    ...(name === "" ? {} : { name }),
    ...(description === "" ? {} : { description }),
    ...(type === "Point" ? { radius_meters: radiusMeters } : {}),
    ...(type === "LineString" ? { buffer_meters: bufferMeters } : {}),
  };
  return { type: "Feature", geometry: { type, coordinates }, properties };
}

/** Where an element is, with its name if it has one. */
export function placeOf(noun: string, number: number, line: number, name: string): string {
  const named = name.trim() === "" ? "" : ` ${JSON.stringify(name.trim())}`;
  return `${noun} ${number}${named} (line ${line})`;
}

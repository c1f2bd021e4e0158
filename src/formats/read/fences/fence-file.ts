import { parseFence } from "../../../geofences/parse/drafts.ts";
import { fail, ok, type Result } from "../../../lib/result.ts";
import type { ServiceError } from "../../../model/errors.ts";
import type { WatchDraft } from "../../../model/watches/watch-rules.ts";
import { FormatError } from "../format.ts";
import { textPieces } from "../text-pieces.ts";
import { rootNameOf } from "../xml/xml-reader.ts";
import { FeatureReader } from "./feature-reader.ts";
import type { FenceExtents, FenceReader, FenceSink } from "./fence-sink.ts";
import { GpxFences } from "./gpx-fences.ts";
import { KmlFences } from "./kml-fences.ts";

/** What is wrong with a fence of a file, or with the file. */
export type FileFault = ServiceError & { readonly kind: "invalid_parameter" | "body_unreadable" };

/**
 * The fences of a GeoJSON FeatureCollection, of KML or of GPX, in steps: `onFence` gets each. The error names the first
 * that is not valid, or why the file can't be read.
 */
export async function readFences(
  pieces: AsyncIterable<Uint8Array>,
  extents: FenceExtents,
  onFence: (draft: WatchDraft) => void,
): Promise<Result<number, FileFault>> {
  let count = 0;
  let fault: string | null = null;
  let reader: FenceReader | null = null;
  const take: FenceSink = ({ place, feature }) => {
    if (fault !== null) return;
    const draft = parseFence(feature);
    count++;
    if (draft.ok) onFence(draft.value);
    else fault = `${place}: ${draft.error}`;
  };
  try {
    for await (const piece of textPieces(pieces)) {
      reader ??= readerOf(piece, extents, take);
      reader.push(piece);
      if (fault !== null) return fail(invalid(fault));
    }
    if (reader === null) return fail(unreadable("the file is empty"));
    reader.end();
  } catch (error) {
    if (error instanceof FormatError) return fail(unreadable(error.message));
    throw error;
  }
  if (fault !== null) return fail(invalid(fault));
  return count === 0 ? fail(unreadable("the file has no geofences")) : ok(count);
}

function invalid(message: string): FileFault {
  return { kind: "invalid_parameter", message };
}

function unreadable(message: string): FileFault {
  return { kind: "body_unreadable", message };
}

function readerOf(beginning: Uint8Array, extents: FenceExtents, sink: FenceSink): FenceReader {
  const text = new TextDecoder().decode(beginning.subarray(0, BEGINNING_BYTES)).trimStart();
  if (text.startsWith("{")) return new FeatureReader(sink);
  const root = rootNameOf({ bytes: beginning, text });
  if (root === "kml") return new KmlFences(sink, extents);
  if (root === "gpx") return new GpxFences(sink, extents);
  throw new FormatError("the file must be a GeoJSON FeatureCollection, KML or GPX");
}

const BEGINNING_BYTES = 4096;

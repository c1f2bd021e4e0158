import type { Beginning, Format } from "../../formats/read/format.ts";
import { geojson, geojsonseq } from "../../formats/read/geojson/geojson.ts";
import { findOther, startOf } from "../../formats/read/recognise.ts";
import { gpx } from "../../formats/read/xml/gpx.ts";
import { kml } from "../../formats/read/xml/kml.ts";
import { fail, ok, type Result } from "../../lib/result.ts";

/** Formats that a server reads itself: texts, each with a reader that needs little memory. The command reads all. */
export const UPLOAD_FORMAT_NAMES = ["gpx", "kml", "geojson", "geojsonseq"] as const;

export type UploadFormatName = (typeof UPLOAD_FORMAT_NAMES)[number];

/** The most distinctive first. */
const FORMATS: Readonly<Record<UploadFormatName, Format>> = { gpx, kml, geojsonseq, geojson };

/** Packed files, by their first bytes, and what to do about them. */
const PACKED: readonly (readonly [magic: readonly number[], answer: string])[] = [
  [[0x1f, 0x8b], "is packed by gzip: send it with Content-Encoding: gzip"],
  [[0x28, 0xb5, 0x2f, 0xfd], "is packed by zstd: send it with Content-Encoding: zstd"],
  [[0x50, 0x4b, 0x03, 0x04], "is an archive, such as a zip or KMZ: unpack it, or use the import command"],
];

export interface RecognisedUpload {
  readonly name: UploadFormatName;
  readonly format: Format;
  /** How the file shows it, in words for people. */
  readonly reason: string;
}

/** The format of an uploaded file; fails with what the file is instead. Its name is not known. */
export function recogniseUpload(
  beginning: Beginning,
  wanted: UploadFormatName | null,
): Result<RecognisedUpload, string> {
  const packed = PACKED.find(([magic]) => magic.every((byte, index) => beginning.bytes[index] === byte));
  if (packed !== undefined) return fail(`the file ${packed[1]}`);
  const other = findOther(beginning);
  if (other !== null) return fail(`the file ${other.answer}`);
  if (wanted !== null) return ok({ name: wanted, format: FORMATS[wanted], reason: "as the request says" });
  for (const name of Object.keys(FORMATS) as UploadFormatName[]) {
    const reason = FORMATS[name].recognise(beginning);
    if (reason !== null) return ok({ name, format: FORMATS[name], reason });
  }
  return fail(
    `the file is not GPX, KML or GeoJSON: it begins with ${startOf(beginning)}; the import command reads other formats`,
  );
}

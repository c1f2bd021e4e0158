import { joinBytes } from "../../../lib/bytes/growing-bytes.ts";
import { ZipWriter } from "../../../lib/bytes/zip-writer.ts";
import type { RecordWriter, WriteOptions } from "../record-writer.ts";
import { createKmlWriter } from "./kml.ts";

/** What programs look for in the archive. */
const ENTRY_NAME = "doc.kml";

/** A zip archive with the KML in it. */
export function createKmzWriter(options: WriteOptions): RecordWriter {
  const kml = createKmlWriter(options);
  const zip = new ZipWriter();
  return {
    begin: () => joinBytes([zip.begin(ENTRY_NAME), zip.add(kml.begin())]),
    write: (records) => zip.add(kml.write(records)),
    end: () => joinBytes([zip.add(kml.end()), zip.end()]),
  };
}

import { COMMA, LF, RECORD_SEPARATOR } from "../../lib/text/ascii.ts";
import {
  createFragment,
  fragmentRoom,
  JsonWriter,
  NUMBER_BYTES_MAX,
  writeFragment,
  writeNumber,
  writeReading,
} from "../../lib/text/json-writer.ts";
import { numberIndex } from "../../model/location-fields.ts";
import type { RecordColumns } from "../../model/record-columns.ts";
import { JsonMembers } from "./json-members.ts";
import {
  NOTHING,
  PIECE_BYTES_EXPECTED,
  type RecordWriter,
  textPiece,
  type WriteOptions,
} from "./record-writer.ts";

/*
 * RFC 7946: a record is a Feature with a Point and properties. Each Feature is a line, so that line-based tools can
 * read it.
 */

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");
const ALTITUDE = numberIndex("altitude");

const HEAD = createFragment('{"type":"Feature","geometry":{"type":"Point","coordinates":[');
const BETWEEN = createFragment(']},"properties":{');
const TAIL = createFragment("}}");
const POSITION_ROOM = fragmentRoom(HEAD) + 3 * (NUMBER_BYTES_MAX + 1) + fragmentRoom(BETWEEN);

export function createGeoJsonWriter(options: WriteOptions): RecordWriter {
  const { simplifyMeters } = options;
  const json = new JsonWriter(PIECE_BYTES_EXPECTED);
  const features = createFeatures(options);
  let isFirst = true;
  const mark = simplifyMeters === null ? "" : `"simplified_meters":${simplifyMeters},`;
  return {
    begin: () => textPiece(`{"type":"FeatureCollection",${mark}"features":[`),
    write(records) {
      json.clear();
      for (let row = 0; row < records.count; row++) {
        if (!isFirst) json.byte(COMMA);
        isFirst = false;
        json.byte(LF);
        features.write(json, records, row);
      }
      return json.written();
    },
    end: () => textPiece("\n]}\n"),
  };
}

/** Bare Features: newline-delimited, or RFC 8142's sequence. */
export function createGeoJsonSeqWriter(options: WriteOptions): RecordWriter {
  const json = new JsonWriter(PIECE_BYTES_EXPECTED);
  const features = createFeatures(options);
  return {
    begin: () => NOTHING,
    write(records) {
      json.clear();
      for (let row = 0; row < records.count; row++) {
        if (options.recordSeparator) json.byte(RECORD_SEPARATOR);
        features.write(json, records, row);
        json.byte(LF);
      }
      return json.written();
    },
    end: () => NOTHING,
  };
}

interface Features {
  write(json: JsonWriter, records: RecordColumns, row: number): void;
}

function createFeatures({ zone }: WriteOptions): Features {
  const members = new JsonMembers({
    zone,
    hasTime: true, // More programs read ISO times than milliseconds.
    shows: ({ name }) => name !== "latitude" && name !== "longitude",
  });

  function writePosition(json: JsonWriter, numbers: readonly Float64Array[], row: number): void {
    json.ensure(POSITION_ROOM);
    const { bytes, view } = json;
    let at = writeNumber(view, writeFragment(view, json.length, HEAD), numbers[LONGITUDE]![row]!);
    bytes[at++] = COMMA;
    at = writeNumber(view, at, numbers[LATITUDE]![row]!);
    const altitude = numbers[ALTITUDE]![row]!;
    if (!Number.isNaN(altitude)) {
      bytes[at++] = COMMA;
      at = writeReading(view, at, altitude);
    }
    json.length = writeFragment(view, at, BETWEEN);
  }

  return {
    write(json, records, row) {
      writePosition(json, records.numbers, row);
      members.write(json, records, row);
      json.fragment(TAIL);
    },
  };
}

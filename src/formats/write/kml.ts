import { joinBytes } from "../../lib/bytes/growing-bytes.ts";
import { ZipWriter } from "../../lib/bytes/zip-writer.ts";
import { SPACE } from "../../lib/text/ascii.ts";
import { createFragment, JsonWriter, NUMBER_BYTES_MAX, writeFragment } from "../../lib/text/json-writer.ts";
import { numberIndex } from "../../model/location-fields.ts";
import type { RecordColumns } from "../../model/record-columns.ts";
import { createUtcTimeWriter } from "../../model/time/local-time.ts";
import {
  type NameOf,
  PIECE_BYTES_EXPECTED,
  type RecordWriter,
  textPiece,
  type WriteOptions,
} from "./record-writer.ts";
import { escapeXml, simplifiedText, writeDecimal } from "./xml-text.ts";

/*
 * KML 2.2 with Google's extensions: a Placemark per device, with a gx:Track for each stretch without a gap. A track is
 * written in columns: times, then positions, then other values, so it is buffered until it ends:
 *
 *   <gx:Track><when>...</when><when>...</when><gx:coord>lon lat alt</gx:coord>...<ExtendedData>...</ExtendedData>
 *
 * A Placemark has the name of its device, and then the id as extended data.
 */

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");
const ALTITUDE = numberIndex("altitude");

/** Other values of points, with the names that programs display. */
const ARRAYS = [
  { name: "speed", title: "Speed (m/s)", field: numberIndex("speed") },
  { name: "accuracy", title: "Accuracy (m)", field: numberIndex("horizontal_accuracy") },
  { name: "bearing", title: "Bearing (°)", field: numberIndex("bearing") },
] as const;

/** A longer stretch continues in another track, to limit the buffer to some megabytes. */
const TRACK_POINTS_MAX = 20_000;

const SCHEMA = ARRAYS.map(
  ({ name, title }) =>
    `<gx:SimpleArrayField name="${name}" type="double"><displayName>${title}</displayName></gx:SimpleArrayField>`,
).join("");

const WHEN = createFragment("<when>");
const WHEN_END = createFragment("</when>\n");
const COORD = createFragment("<gx:coord>");
const COORD_END = createFragment("</gx:coord>\n");
const VALUE = createFragment("<gx:value>");
const VALUE_END = createFragment("</gx:value>\n");
const NO_VALUE = createFragment("<gx:value/>\n");

/** Space for three numbers and two tags. */
const POINT_ROOM = 3 * NUMBER_BYTES_MAX + 64;

export function createKmlWriter({ gapMs, simplifyMeters }: WriteOptions, nameOf: NameOf): RecordWriter {
  const xml = new JsonWriter(PIECE_BYTES_EXPECTED);
  const track = new Track();
  let device: string | null = null;

  /** Ends the open track, or the open device with its track. */
  function close(ends: "track" | "device"): void {
    if (device === null) return;
    track.writeTo(xml);
    if (ends === "device") xml.text("</gx:MultiTrack></Placemark>\n");
  }

  const mark =
    simplifyMeters === null ? "" : `<description>${simplifiedText(simplifyMeters)}</description>\n`;
  return {
    begin: () =>
      textPiece(`<?xml version="1.0" encoding="UTF-8"?>
<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2"><Document>
${mark}<Schema id="point">${SCHEMA}</Schema>
`),
    write(records) {
      xml.clear();
      for (let row = 0; row < records.count; row++) {
        const deviceId = records.deviceIds[row]!;
        if (deviceId !== device) {
          close("device");
          device = deviceId;
          xml.text(`<Placemark>${describeDevice(deviceId, nameOf(deviceId))}<gx:MultiTrack>\n`);
        } else if (!track.takes(records, row, gapMs)) close("track");
        track.add(records, row);
      }
      return xml.written();
    },
    end() {
      xml.clear();
      close("device");
      xml.text("</Document></kml>\n");
      return xml.written();
    },
  };
}

function describeDevice(deviceId: string, name: string | null): string {
  if (name === null) return `<name>${escapeXml(deviceId)}</name>`;
  const id = `<Data name="device_id"><value>${escapeXml(deviceId)}</value></Data>`;
  return `<name>${escapeXml(name)}</name><ExtendedData>${id}</ExtendedData>`;
}

/** The open track, in columns. */
class Track {
  readonly #time = createUtcTimeWriter();
  readonly #whens = new JsonWriter(PIECE_BYTES_EXPECTED);
  readonly #coords = new JsonWriter(PIECE_BYTES_EXPECTED);
  readonly #arrays = ARRAYS.map(({ name, field }) => {
    return { name, field, values: new JsonWriter(PIECE_BYTES_EXPECTED), known: 0 };
  });
  #points = 0;
  #hasAltitude = false;
  #lastMs = 0;

  /** Whether the record continues the track. Either all points of a track have altitudes, or none. */
  takes({ timestampMs, numbers }: RecordColumns, row: number, gapMs: number): boolean {
    const hasAltitude = !Number.isNaN(numbers[ALTITUDE]![row]!);
    const isNext = timestampMs[row]! - this.#lastMs <= gapMs;
    return isNext && hasAltitude === this.#hasAltitude && this.#points < TRACK_POINTS_MAX;
  }

  add({ timestampMs, numbers }: RecordColumns, row: number): void {
    const altitude = numbers[ALTITUDE]![row]!;
    this.#points++;
    this.#hasAltitude = !Number.isNaN(altitude);
    this.#lastMs = timestampMs[row]!;
    this.#addWhen(timestampMs[row]!);
    this.#addCoord(numbers[LONGITUDE]![row]!, numbers[LATITUDE]![row]!, this.#hasAltitude ? altitude : 0);
    for (const array of this.#arrays) {
      const value = numbers[array.field]![row]!;
      if (!Number.isNaN(value)) array.known++;
      addValue(array.values, value);
    }
  }

  /** Writes the track and starts a new one. */
  writeTo(xml: JsonWriter): void {
    xml.text("<gx:Track>\n");
    if (this.#hasAltitude) xml.text("<altitudeMode>absolute</altitudeMode>\n"); // Otherwise it is on the ground.
    move(this.#whens, xml);
    move(this.#coords, xml);
    if (this.#arrays.some(({ known }) => known > 0)) this.#writeArrays(xml);
    for (const array of this.#arrays) {
      array.values.clear();
      array.known = 0;
    }
    xml.text("</gx:Track>\n");
    this.#points = 0;
  }

  #writeArrays(xml: JsonWriter): void {
    xml.text('<ExtendedData><SchemaData schemaUrl="#point">\n');
    for (const { name, values, known } of this.#arrays) {
      if (known === 0) continue;
      xml.text(`<gx:SimpleArrayData name="${name}">\n`);
      move(values, xml);
      xml.text("</gx:SimpleArrayData>\n");
    }
    xml.text("</SchemaData></ExtendedData>\n");
  }

  #addWhen(timestampMs: number): void {
    const out = this.#whens;
    out.ensure(POINT_ROOM);
    const { bytes, view } = out;
    const at = this.#time.write(timestampMs, bytes, writeFragment(view, out.length, WHEN));
    out.length = writeFragment(view, at, WHEN_END);
  }

  #addCoord(longitude: number, latitude: number, altitude: number): void {
    const out = this.#coords;
    out.ensure(POINT_ROOM);
    const { bytes, view } = out;
    let at = writeDecimal(view, writeFragment(view, out.length, COORD), longitude);
    bytes[at++] = SPACE;
    at = writeDecimal(view, at, latitude);
    bytes[at++] = SPACE;
    at = writeDecimal(view, at, altitude);
    out.length = writeFragment(view, at, COORD_END);
  }
}

/** Writes an element for every point, so that the k-th value belongs to the k-th point. */
function addValue(out: JsonWriter, value: number): void {
  out.ensure(POINT_ROOM);
  const { view } = out;
  if (Number.isNaN(value)) out.length = writeFragment(view, out.length, NO_VALUE);
  else {
    const at = writeDecimal(view, writeFragment(view, out.length, VALUE), value);
    out.length = writeFragment(view, at, VALUE_END);
  }
}

function move(from: JsonWriter, to: JsonWriter): void {
  to.ensure(from.length);
  to.bytes.set(from.written(), to.length);
  to.length += from.length;
  from.clear();
}

/** The name that programs expect in the archive. */
const ENTRY_NAME = "doc.kml";

/** Writes a zip archive with the KML. */
export function createKmzWriter(options: WriteOptions, nameOf: NameOf): RecordWriter {
  const kml = createKmlWriter(options, nameOf);
  const zip = new ZipWriter();
  return {
    begin: () => joinBytes([zip.begin(ENTRY_NAME), zip.add(kml.begin())]),
    write: (records) => zip.add(kml.write(records)),
    end: () => joinBytes([zip.add(kml.end()), zip.end()]),
  };
}

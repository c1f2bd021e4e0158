import {
  createFragment,
  type Fragment,
  JsonWriter,
  NUMBER_BYTES_MAX,
  writeFragment,
} from "../../lib/text/json-writer.ts";
import { numberIndex } from "../../model/location-fields.ts";
import type { RecordColumns } from "../../model/record-columns.ts";
import { createUtcTimeWriter, type UtcTimeWriter } from "../../model/time/local-time.ts";
import {
  type NameOf,
  PIECE_BYTES_EXPECTED,
  type RecordWriter,
  textPiece,
  type WriteOptions,
} from "./record-writer.ts";
import { escapeXml, simplifiedText, writeDecimal } from "./xml-text.ts";

/*
 * GPX 1.1, valid by its schema: a track per device, and a new segment after a gap. Speed and course use Garmin's
 * TrackPointExtension v2; accuracies use Apple's names, in a namespace of ours. A track has the name of its device, and
 * then the id in an extension.
 */

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");
const ALTITUDE = numberIndex("altitude");
const SPEED = numberIndex("speed");
const BEARING = numberIndex("bearing");
const HORIZONTAL_ACCURACY = numberIndex("horizontal_accuracy");
const VERTICAL_ACCURACY = numberIndex("vertical_accuracy");

const GPX_NAMESPACE = "http://www.topografix.com/GPX/1/1";
const GARMIN_NAMESPACE = "http://www.garmin.com/xmlschemas/TrackPointExtension/v2";
const GPX_EXTENSION_NAMESPACE = "urn:wherehouse:gpx:1";

const BEGINNING = `<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="Wherehouse" xmlns="${GPX_NAMESPACE}" xmlns:gpxtpx="${GARMIN_NAMESPACE}" \
xmlns:wh="${GPX_EXTENSION_NAMESPACE}">
`;

const POINT = createFragment('<trkpt lat="');
const LON = createFragment('" lon="');
const POINT_END = createFragment('">');
const TIME = createFragment("<time>");
const TIME_END = createFragment("</time>");
const EXTENSIONS = createFragment("<extensions>");
const EXTENSIONS_END = createFragment("</extensions>");
const GARMIN = createFragment("<gpxtpx:TrackPointExtension>");
const GARMIN_END = createFragment("</gpxtpx:TrackPointExtension>");
const TRACK_POINT_END = createFragment("</trkpt>\n");

const ELE = element("ele");
const TPX_SPEED = element("gpxtpx:speed");
const TPX_COURSE = element("gpxtpx:course");
const H_ACC = element("wh:hAcc");
const V_ACC = element("wh:vAcc");

/** Space for a point: seven numbers and all tags. */
const POINT_ROOM = 7 * NUMBER_BYTES_MAX + 512;

export function createGpxWriter({ gapMs, simplifyMeters }: WriteOptions, nameOf: NameOf): RecordWriter {
  const xml = new JsonWriter(PIECE_BYTES_EXPECTED);
  const time = createUtcTimeWriter();
  const mark =
    simplifyMeters === null ? "" : `<metadata><desc>${simplifiedText(simplifyMeters)}</desc></metadata>\n`;
  let device: string | null = null;
  let lastMs = 0;
  return {
    begin: () => textPiece(`${BEGINNING}${mark}`),
    write(records) {
      xml.clear();
      const { count, deviceIds, timestampMs } = records;
      for (let row = 0; row < count; row++) {
        if (deviceIds[row] !== device) {
          if (device !== null) xml.text("</trkseg>\n</trk>\n");
          device = deviceIds[row]!;
          xml.text(`<trk>\n${describeDevice(device, nameOf(device))}<trkseg>\n`);
        } else if (timestampMs[row]! - lastMs > gapMs) xml.text("</trkseg>\n<trkseg>\n");
        lastMs = timestampMs[row]!;
        writePoint(xml, records, row, time);
      }
      return xml.written();
    },
    end: () => textPiece(`${device === null ? "" : "</trkseg>\n</trk>\n"}</gpx>\n`),
  };
}

function describeDevice(deviceId: string, name: string | null): string {
  if (name === null) return `<name>${escapeXml(deviceId)}</name>\n`;
  const id = `<wh:deviceId>${escapeXml(deviceId)}</wh:deviceId>`;
  return `<name>${escapeXml(name)}</name>\n<extensions>${id}</extensions>\n`;
}

function writePoint(
  xml: JsonWriter,
  { numbers, timestampMs }: RecordColumns,
  row: number,
  time: UtcTimeWriter,
): void {
  xml.ensure(POINT_ROOM);
  const { bytes, view } = xml;
  const longitude = numbers[LONGITUDE]![row]!;
  let at = writeFragment(view, xml.length, POINT);
  at = writeDecimal(view, at, numbers[LATITUDE]![row]!);
  at = writeFragment(view, at, LON);
  at = writeDecimal(view, at, longitude === 180 ? -180 : longitude); // The schema excludes 180.
  at = writeFragment(view, at, POINT_END);
  at = writeElement(view, at, ELE, numbers[ALTITUDE]![row]!);
  at = writeFragment(view, time.write(timestampMs[row]!, bytes, writeFragment(view, at, TIME)), TIME_END);
  at = writeExtensions(view, at, numbers, row);
  xml.length = writeFragment(view, at, TRACK_POINT_END);
}

function writeExtensions(
  view: DataView,
  position: number,
  numbers: readonly Float64Array[],
  row: number,
): number {
  const speed = numbers[SPEED]![row]!;
  const bearing = numbers[BEARING]![row]!;
  const horizontal = numbers[HORIZONTAL_ACCURACY]![row]!;
  const vertical = numbers[VERTICAL_ACCURACY]![row]!;
  const hasMotion = !Number.isNaN(speed) || !Number.isNaN(bearing);
  if (!hasMotion && Number.isNaN(horizontal) && Number.isNaN(vertical)) return position;
  let at = writeFragment(view, position, EXTENSIONS);
  if (hasMotion) {
    at = writeFragment(view, at, GARMIN);
    at = writeElement(view, at, TPX_SPEED, speed);
    at = writeElement(view, at, TPX_COURSE, bearing === 360 ? 0 : bearing); // The schema excludes 360.
    at = writeFragment(view, at, GARMIN_END);
  }
  at = writeElement(view, at, H_ACC, horizontal);
  at = writeElement(view, at, V_ACC, vertical);
  return writeFragment(view, at, EXTENSIONS_END);
}

interface Element {
  readonly start: Fragment;
  readonly end: Fragment;
}

function element(name: string): Element {
  return { start: createFragment(`<${name}>`), end: createFragment(`</${name}>`) };
}

/** Writes an element with a number; nothing for NaN. */
function writeElement(view: DataView, position: number, { start, end }: Element, value: number): number {
  if (Number.isNaN(value)) return position;
  return writeFragment(view, writeDecimal(view, writeFragment(view, position, start), value), end);
}

import FitParser from "fit-file-parser";
import { knownDetails } from "../../clients/point.ts";
import { metersPerSecond, type SpeedUnit } from "../../clients/reading/speed.ts";
import {
  isJsonObject,
  type JsonObject,
  objectOrEmpty,
  readMagnitudeOrNaN,
  readNumberOrNaN,
  readText,
} from "../../clients/reading/values.ts";
import { joinBytes } from "../../lib/bytes/growing-bytes.ts";
import type { FilePoint, PointSink } from "./file-point.ts";
import { isFit, type Outline, outlineFit } from "./fit-outline.ts";
import { type Content, type Format, FormatError, type FormatReader, type ReadOptions } from "./format.ts";

/** FIT, the format of watches and bicycle computers. */
export const fit: Format = {
  name: "fit",
  title: "FIT",
  extensions: [".fit"],
  placeUnit: "record",
  recognise: ({ bytes }) => (isFit(bytes, 0) ? 'its header says ".FIT"' : null),
  read: readFit,
};

/** A file is read into memory. A watch writes some 200 KB an hour, and a few times that with sensors. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;
/** Four and a half days at one a second. Each takes some hundred bytes of memory, but maybe only one in the file. */
const MESSAGES_MAX = 400_000;

const POINTS_A_STEP = 1000;

function readFit(content: Content, sink: PointSink, options: ReadOptions): FormatReader {
  let place = 0;

  function* readOne(bytes: Uint8Array<ArrayBuffer>, at: number, { start, end, isDoubtful }: Outline) {
    new DataView(bytes.buffer).setUint32(at + 4, end - start, true);
    const { records, device } = parseRecords(bytes.subarray(at, end));
    for (const record of records) {
      place++;
      if (isDoubtful) sink.note("wrong_checksum");
      sink.add(pointOfRecord(record, device, options.speedUnit ?? "mps"));
      if (place % POINTS_A_STEP === 0) yield;
    }
  }

  async function* read(): AsyncGenerator<void> {
    const bytes = await wholeFile(content);
    // Some programs concatenate the files of a day.
    for (let at = 0; at < bytes.length; ) {
      if (!isFit(bytes, at)) throw new FormatError(`no FIT file begins at byte ${at}`);
      const outline = outlineFit(bytes, at);
      if (outline.messageCount > MESSAGES_MAX)
        throw new FormatError(`it holds more than ${MESSAGES_MAX} messages, more than any watch records`);
      yield* readOne(bytes, at, outline);
      if (outline.fault !== null) throw new FormatError(`it is ${outline.fault} from byte ${outline.end} on`);
      at = outline.fileEnd;
      yield;
    }
  }

  return {
    get place() {
      return place;
    },
    [Symbol.asyncIterator]: read,
  };
}

async function wholeFile(content: Content): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of content.pieces()) {
    size += piece.length;
    if (size > FILE_BYTES_MAX)
      throw new FormatError(`it is larger than ${FILE_BYTES_MAX / 1024 / 1024} MiB, which no recording is`);
    pieces.push(piece);
  }
  return joinBytes(pieces);
}

interface FitRecords {
  readonly records: readonly JsonObject[];
  /** Manufacturer and serial number; null if one is missing. */
  readonly device: string | null;
}

/** Parses a whole file. The size in its header must be right. */
function parseRecords(file: Uint8Array<ArrayBuffer>): FitRecords {
  const parser = new FitParser({ force: true, mode: "list", speedUnit: "m/s", lengthUnit: "m" });
  let result: FitRecords | null = null;
  let fault: unknown = null;
  try {
    // The parser takes a byte array, whatever its type says.
    parser.parse(file as Parameters<typeof parser.parse>[0], (error, data) => {
      fault = error ?? null;
      const fileIds: unknown = data?.file_ids;
      const records: unknown = data?.records;
      if (Array.isArray(records))
        result = {
          records: records.filter(isJsonObject),
          device: deviceOf(objectOrEmpty(Array.isArray(fileIds) ? fileIds[0] : null)),
        };
    });
  } catch (error) {
    fault = error;
  }
  if (result !== null) return result;
  throw new FormatError(`it can't be read: ${fault instanceof Error ? fault.message : String(fault)}`);
}

function deviceOf({ manufacturer, serial_number }: JsonObject): string | null {
  const [maker, serial] = [readText(manufacturer), readText(serial_number)];
  return maker === null || serial === null ? null : `${maker}-${serial}`;
}

/** A clock that was never set shows a time between FIT's epoch in 1989 and this. */
const CLOCK_SET_MS = Date.UTC(2000, 0, 1);

function pointOfRecord(record: JsonObject, device: string | null, speedUnit: SpeedUnit): FilePoint {
  const { timestamp } = record;
  const timestampMs = timestamp instanceof Date ? timestamp.getTime() : Number.NaN;
  const speed = readMagnitudeOrNaN(record.enhanced_speed) ?? readMagnitudeOrNaN(record.speed);
  const altitude = readNumberOrNaN(record.enhanced_altitude) ?? readNumberOrNaN(record.altitude);
  return {
    timestampMs: timestampMs >= CLOCK_SET_MS ? timestampMs : null,
    latitude: readNumberOrNaN(record.position_lat),
    longitude: readNumberOrNaN(record.position_long),
    device,
    user: null,
    details: knownDetails({
      altitude: altitude === null ? null : Math.round(altitude * 1000) / 1000, // FIT counts fifths of a meter.
      speed: speed === null ? null : metersPerSecond(speed, speedUnit),
      horizontal_accuracy: readMagnitudeOrNaN(record.gps_accuracy),
    }),
  };
}

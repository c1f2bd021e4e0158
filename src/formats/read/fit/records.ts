import FitParser from "fit-file-parser";
import { knownDetails } from "../../../clients/point.ts";
import { metersPerSecond, type SpeedUnit } from "../../../clients/reading/speed.ts";
import {
  isMembers,
  type Members,
  membersOf,
  readMagnitudeOrNaN,
  readNumberOrNaN,
  readText,
} from "../../../clients/reading/values.ts";
import type { FilePoint } from "../file-point.ts";
import { FormatError } from "../format-error.ts";

/** What a FIT file holds that we want. */
export interface FitRecords {
  readonly records: readonly Members[];
  /** The maker and the serial number of what recorded it; null where it doesn't say both. */
  readonly device: string | null;
}

/** Reads a whole file, whose size in its header must be right. */
export function parseRecords(file: Uint8Array<ArrayBuffer>): FitRecords {
  const parser = new FitParser({ force: true, mode: "list", speedUnit: "m/s", lengthUnit: "m" });
  let found: FitRecords | null = null;
  let fault: unknown = null;
  try {
    // It wants a view of bytes, whatever its type says.
    parser.parse(file as Parameters<typeof parser.parse>[0], (error, data) => {
      fault = error ?? null;
      const fileIds: unknown = data?.file_ids;
      const records: unknown = data?.records;
      if (Array.isArray(records))
        found = {
          records: records.filter(isMembers),
          device: deviceOf(membersOf(Array.isArray(fileIds) ? fileIds[0] : null)),
        };
    });
  } catch (error) {
    fault = error;
  }
  if (found !== null) return found;
  throw new FormatError(`it can't be read: ${fault instanceof Error ? fault.message : String(fault)}`);
}

function deviceOf({ manufacturer, serial_number }: Members): string | null {
  const [maker, serial] = [readText(manufacturer), readText(serial_number)];
  return maker === null || serial === null ? null : `${maker}-${serial}`;
}

/** A clock that was never set shows a time between 1989, from which FIT counts, and then. */
const CLOCK_SET_MS = Date.UTC(2000, 0, 1);

export function pointOfRecord(record: Members, device: string | null, speedUnit: SpeedUnit): FilePoint {
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
      altitude: altitude === null ? null : Math.round(altitude * 1000) / 1000, // Fifths, less 500 m.
      speed: speed === null ? null : metersPerSecond(speed, speedUnit),
      horizontal_accuracy: readMagnitudeOrNaN(record.gps_accuracy),
    }),
  };
}

import type { RecordColumns } from "../../model/record-columns.ts";
import type { Zone } from "../../model/time/zone.ts";

/** Writes a file: `begin`, any number of `write`, `end`. A result is valid until the next call. */
export interface RecordWriter {
  /** Returns the part before the first record. */
  begin(): Uint8Array<ArrayBuffer>;
  /** Returns the encoded records. */
  write(records: RecordColumns): Uint8Array<ArrayBuffer>;
  /** Returns the part after the last record; a file without it is recognisably cut off. */
  end(): Uint8Array<ArrayBuffer>;
}

export interface WriteFormat {
  /** The value of `--format`, such as `geojson`. */
  readonly name: string;
  readonly title: string;
  /** With the dot. */
  readonly extension: string;
  readonly mediaType: string;
  /** Whether records are ordered by time, with all devices mixed, or by device. */
  readonly order: RecordOrder;
  /** Whether a file can state that its tracks were simplified; otherwise they can't be. */
  readonly marksSimplified: boolean;
  /** Whether a device appears under its profile's name, with its id beside it. */
  readonly showsNames: boolean;
  create(options: WriteOptions, nameOf?: NameOf): RecordWriter;
}

/** The name of a device in its profile; null if it has none. It is known before the device's first record. */
export type NameOf = (deviceId: string) => string | null;

export type RecordOrder = "time" | "device";

export interface WriteOptions {
  /** Adds `local_time` in this zone; null adds none. */
  readonly zone: Zone | null;
  /** Leaves out the names of devices and users. */
  readonly redact: boolean;
  /** GeoJSONSeq: begins each Feature with RFC 8142's record separator. */
  readonly recordSeparator: boolean;
  /** The gap after which a new track begins, in milliseconds. */
  readonly gapMs: number;
  /** The tolerance of a simplified track in meters; null writes every record. */
  readonly simplifyMeters: number | null;
}

/** After half an hour without reports a new trip is likely. */
export const DEFAULT_GAP_MS = 30 * 60_000;

/** Tracks are simplified device by device in every format. */
export function orderOf(format: WriteFormat, { simplifyMeters }: WriteOptions): RecordOrder {
  return simplifyMeters === null ? format.order : "device";
}

/** The size of a few thousand records; a longer chunk gets more. */
export const PIECE_BYTES_EXPECTED = 1 << 20;

export const NOTHING: Uint8Array<ArrayBuffer> = new Uint8Array(0);

export function textPiece(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

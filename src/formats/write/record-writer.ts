import type { RecordColumns } from "../../model/record-columns.ts";
import type { Zone } from "../../model/time/zone.ts";

/**
 * Writes records in one format, as bytes, in the order they come: `begin`, any number of `write`, `end`. What a call
 * returns is good until the next one.
 */
export interface RecordWriter {
  /** What stands before the first record. */
  begin(): Uint8Array<ArrayBuffer>;
  /** The records; they may share nothing with what is written next. */
  write(records: RecordColumns): Uint8Array<ArrayBuffer>;
  /** What stands behind the last record; a file without it is recognisably cut off. */
  end(): Uint8Array<ArrayBuffer>;
}

/** A format that records are written in. */
export interface WriteFormat {
  /** As `--format` takes it, such as `geojson`. */
  readonly name: string;
  readonly title: string;
  /** With the dot. */
  readonly extension: string;
  readonly mediaType: string;
  /** Whether records come by time, all devices beside each other, or device by device. */
  readonly order: RecordOrder;
  /** Whether a file has a place that says that its tracks were simplified; where it has none, they can't be. */
  readonly marksSimplified: boolean;
  create(options: WriteOptions): RecordWriter;
}

export type RecordOrder = "time" | "device";

export interface WriteOptions {
  /** Adds `local_time` in this zone; null adds none. */
  readonly zone: Zone | null;
  /** Leaves out the names of devices and users. */
  readonly redact: boolean;
  /** GeoJSONSeq: begins each Feature with RFC 8142's record separator. */
  readonly recordSeparator: boolean;
  /** A silence after which a track begins anew, in milliseconds. */
  readonly gapMs: number;
  /** How far a simplified track may be from the real one, in meters; null keeps every record. */
  readonly simplifyMeters: number | null;
}

/** Whoever leaves a house for half an hour comes back on another walk. */
export const DEFAULT_GAP_MS = 30 * 60_000;

/** Tracks are simplified device by device, whatever the format. */
export function orderOf(format: WriteFormat, { simplifyMeters }: WriteOptions): RecordOrder {
  return simplifyMeters === null ? format.order : "device";
}

/*
 * Pieces of a file on their way out.
 */

/** What a few thousand records take; a longer piece gets more. */
export const PIECE_BYTES_EXPECTED = 1 << 20;

export const NOTHING: Uint8Array<ArrayBuffer> = new Uint8Array(0);

/** Bytes of a text that is written once a file. */
export function textPiece(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

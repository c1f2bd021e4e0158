import type { SpeedUnit } from "../../clients/reading/speed.ts";
import type { Zone } from "../../model/time/zone.ts";
import type { PointSink } from "./file-point.ts";

/** A file format that can be imported. */
export interface Format {
  /** The value of `--format`, such as `google-records`. */
  readonly name: string;
  /** The name for people, such as `Google Records.json`. */
  readonly title: string;
  /** File extensions with the dot. They break ties between formats that recognise the same file. */
  readonly extensions: readonly string[];
  /** The unit of positions in such a file. */
  readonly placeUnit: PlaceUnit;
  /** Returns how the beginning of a file shows this format, in words for people; null if it does not. */
  recognise(beginning: Beginning): string | null;
  /**
   * Reads a file from start to end. Yields at points where the imported points may be processed: at least once per
   * chunk and once per some thousand points. Throws a `FormatError` if the rest can't be read; the points before are
   * good.
   */
  read(content: Content, sink: PointSink, options: ReadOptions): FormatReader;
}

export type PlaceUnit = "byte" | "line" | "record";

export interface FormatReader {
  /** The position of the last item, in the format's unit: bytes count from 0, lines and records from 1. */
  readonly place: number;
  [Symbol.asyncIterator](): AsyncIterator<void>;
}

/** An unpacked file. */
export interface Content {
  /** The name without folders, such as `2021_MARCH.json`, and without the suffix of a compression. */
  readonly name: string;
  /** The folders around it, outermost first; for a file in an archive, only the archive's folders. */
  readonly folders: readonly string[];
  /** All bytes in chunks of some 256 KiB; may be called repeatedly. A text has passed through `textPieces`. */
  pieces(): AsyncIterable<Uint8Array>;
  /** Opens it for a library that reads files itself; a file in an archive is first unpacked to the disk. */
  openRandom(): Promise<OpenContent>;
}

export interface OpenContent {
  /** Valid until `close`. */
  readonly path: string;
  readonly sizeBytes: number;
  close(): Promise<void>;
}

/** The first bytes of a file. */
export interface Beginning {
  /** At most 256 KiB, without a byte order mark and leading blanks. */
  readonly bytes: Uint8Array;
  /** The bytes as text; empty for a binary file. */
  readonly text: string;
  /** Whether this is the whole file. */
  readonly isWhole: boolean;
  /** The file's name without folders, in lower case. */
  readonly name: string;
}

/** Options of the operator, and information from other files of the import. */
export interface ReadOptions {
  /** The zone of times without a zone; null if not given. */
  readonly zone: Zone | null;
  /** The unit of speeds; null for the format's own. */
  readonly speedUnit: SpeedUnit | null;
  /** Whether waypoints are positions. */
  readonly waypoints: boolean;
  /** Whether derived positions are imported even if the originals are imported too. */
  readonly semantic: boolean;
  /** Column names by field name. */
  readonly columns: ReadonlyMap<string, string>;
  /** The format of a table's times, in Luxon's tokens; null for ISO 8601 and Unix time. */
  readonly timeFormat: string | null;
  /** Passphrases to try on encrypted messages. */
  readonly passPhrases: readonly string[];
  readonly beside: Beside;
}

/** Reads a file as it is, with nothing that an operator could say about it. */
export const NO_READ_OPTIONS: ReadOptions = {
  zone: null,
  speedUnit: null,
  waypoints: false,
  semantic: false,
  columns: new Map(),
  timeFormat: null,
  passPhrases: [],
  beside: { googleDevices: new Map(), hasGoogleRecords: false },
};

/** Information from other files of the import. */
export interface Beside {
  /** Names of Google's devices, by tag. */
  readonly googleDevices: ReadonlyMap<string, string>;
  /** Whether Google's own positions are imported too, from which this file may be derived. */
  readonly hasGoogleRecords: boolean;
}

/** The rest of a file can't be read; the part before was good. The message is for people, without a full stop. */
export class FormatError extends Error {
  override readonly name: string = "FormatError";
}

/** A file needs an option of the operator, so the import stops and names the option. */
export class OptionNeededError extends FormatError {
  override readonly name: string = "OptionNeededError";
}

/** A file has times without a zone, and no zone was given: guessing would import wrong times. */
export class ZoneNeededError extends OptionNeededError {
  override readonly name = "ZoneNeededError";
  /** The first such time, as the file has it. */
  readonly time: string;

  constructor(time: string) {
    super(`"${time}" has no time zone: set it, as with --timezone Europe/Berlin`);
    this.time = time;
  }
}

/** The header of a table does not name the needed columns, or lacks a mapped one. */
export class HeaderError extends OptionNeededError {
  override readonly name = "HeaderError";
}

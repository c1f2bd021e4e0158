import type { SpeedUnit } from "../../clients/reading/speed.ts";
import type { Zone } from "../../model/time/zone.ts";
import type { PointSink } from "./file-point.ts";

/** A format of files that positions are read from. */
export interface Format {
  /** As `--format` takes it, such as `google-records`. */
  readonly name: string;
  /** As people read it, such as `Google Records.json`. */
  readonly title: string;
  /** Of file names, with the dot; they break ties between formats that both recognise a beginning. */
  readonly extensions: readonly string[];
  /** What places in such a file are counted in. */
  readonly placeUnit: PlaceUnit;
  /** What in the beginning of a file tells that it is of this format, for people; null where nothing does. */
  recognise(beginning: Beginning): string | null;
  /**
   * Reads a file from its start to its end. Yields whenever what came so far may be taken away, at least once a piece
   * of the file and once in some thousand points. Throws a `FormatError` where the rest can't be read; what came
   * before it is good.
   */
  read(content: Content, sink: PointSink, options: ReadOptions): Reading;
}

export type PlaceUnit = "byte" | "line" | "record";

/** A reading under way. */
export interface Reading {
  /** Where the last of what was found lies in the file, in the format's unit: of bytes from 0, of others from 1. */
  readonly place: number;
  [Symbol.asyncIterator](): AsyncIterator<void>;
}

/** A file to read, unpacked. */
export interface Content {
  /** Its own name without folders, such as `2021_MARCH.json`; what unpacking takes from it is gone. */
  readonly name: string;
  /** The folders it lies in, outermost first; in an archive only those of the archive. */
  readonly folders: readonly string[];
  /** All bytes from the start, some 256 KiB at a time; as often as wanted. A text has come through `textPieces`. */
  pieces(): AsyncIterable<Uint8Array>;
  /** Opens it for a library that reads files itself; what is in no file of its own is put aside on the disk first. */
  openRandom(): Promise<OpenContent>;
}

/** A file that lies on the disk as it is. */
export interface OpenContent {
  /** Good until it is closed. */
  readonly path: string;
  readonly sizeBytes: number;
  close(): Promise<void>;
}

/** The first bytes of a file. */
export interface Beginning {
  /** At most 256 KiB; of a text in UTF-8, after a byte order mark and leading blanks. */
  readonly bytes: Uint8Array;
  /** The same as text; empty where it is none. */
  readonly text: string;
  /** Whether that is the whole file. */
  readonly isWhole: boolean;
  /** Of the file without folders, in lower case. */
  readonly name: string;
}

/** What the operator says of the files, and what other files beside this one say. */
export interface ReadOptions {
  /** Of times without zone; null where nobody said. */
  readonly zone: Zone | null;
  /** Of speeds; null for the format's own. */
  readonly speedUnit: SpeedUnit | null;
  /** Whether waypoints are positions. */
  readonly waypoints: boolean;
  /** Whether what was derived from positions is imported although they are imported too. */
  readonly semantic: boolean;
  /** Columns of a table by our fields' names. */
  readonly columns: ReadonlyMap<string, string>;
  /** How a table writes its times, in Luxon's tokens; null for ISO 8601 and Unix time. */
  readonly timeFormat: string | null;
  /** Passphrases that encrypted messages may open with. */
  readonly passPhrases: readonly string[];
  readonly beside: Beside;
}

/** What the other files of an import say that this one's reading needs. */
export interface Beside {
  /** Names of Google's devices by tag. */
  readonly googleDevices: ReadonlyMap<string, string>;
  /** Whether Google's own positions are imported too, of which this file may be a digest. */
  readonly hasGoogleRecords: boolean;
}

/** The rest of a file can't be read; what came before it was good. The message is for people and has no full stop. */
export class FormatError extends Error {
  override readonly name: string = "FormatError";
}

/** A file can't be read rightly before its operator says more, so an import ends at it and names the option. */
export class OptionNeededError extends FormatError {
  override readonly name: string = "OptionNeededError";
}

/** A file has times without zone, and nobody said which one they are in: nothing of it may be read by guessing. */
export class ZoneNeededError extends OptionNeededError {
  override readonly name = "ZoneNeededError";
  constructor(time: string) {
    super(`"${time}" has no time zone: say which one it is in, as with --timezone Europe/Berlin`);
  }
}

/** The header of a table doesn't tell what is where, or not what the operator said of it. */
export class HeaderError extends OptionNeededError {
  override readonly name = "HeaderError";
}

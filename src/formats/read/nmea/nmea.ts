import type { Beginning, Format } from "../format.ts";
import { createLinePoints } from "../line-points.ts";
import { readPieces } from "../push-reader.ts";
import { Fixes } from "./fixes.ts";

/** NMEA 0183, what receivers of satellites say line by line. */
export const nmea: Format = {
  name: "nmea",
  title: "NMEA 0183",
  extensions: [".nmea", ".nma", ".txt", ".log"],
  placeUnit: "line",
  recognise,
  // Binary messages of a receiver may stand between sentences, which are ASCII.
  read: (content, sink, options) =>
    readPieces(content, createLinePoints(new Fixes(sink, options.speedUnit), sink, LATIN_1)),
};

const LATIN_1 = "latin1";

/** Loggers may write a time before a sentence, or what kind of line it is. */
const LINE = /^[\w:., +-]{0,40}(\$[A-Z]{2}(?:RMC|GGA|GSA|GSV|GLL|VTG|ZDA)),/m;
/** Among binary messages, where no line need begin, a checksum makes it sure. */
const WHOLE = /(\$[A-Z]{2}(?:RMC|GGA|GSA|GSV|GLL|VTG|ZDA)),[\x20-\x7e]{0,80}\*[0-9A-F]{2}/;

function recognise({ text, bytes }: Beginning): string | null {
  const [, sentence] = LINE.exec(text) ?? [];
  if (sentence !== undefined) return `lines that begin with ${sentence}`;
  const [, among] = (text === "" && WHOLE.exec(new TextDecoder(LATIN_1).decode(bytes))) || [];
  return among === undefined ? null : `sentences such as ${among} among binary messages`;
}

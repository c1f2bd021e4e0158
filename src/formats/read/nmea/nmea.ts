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
  read: (content, sink, options) =>
    readPieces(content, createLinePoints(new Fixes(sink, options.speedUnit), sink)),
};

/** Loggers may write a time before a sentence, or what kind of line it is. */
const LINE = /^[\w:., +-]{0,40}(\$[A-Z]{2}(?:RMC|GGA|GSA|GSV|GLL|VTG|ZDA)),/m;

function recognise({ text }: Beginning): string | null {
  const [, sentence] = LINE.exec(text) ?? [];
  return sentence === undefined ? null : `lines that begin with ${sentence}`;
}

import { FormatError } from "../../../../../src/formats/read/format.ts";
import { XmlReader } from "../../../../../src/formats/read/xml/xml-reader.ts";
import { MemoryMeter } from "../../../../support/own-process.ts";

/*
 * What an `XmlReader` tells of a file. Run by a test that measures its memory, it reads a gibibyte behind the beginning
 * that it is given.
 */

export const MEBIBYTE = 1024 * 1024;
export const GIBIBYTE = 1024 * MEBIBYTE;

interface Heard {
  readonly events: string[];
  readonly error: string | null;
}

/** All events of a file, with the texts of elements called `t`. */
export function hear(pieces: Iterable<Uint8Array | string>): Heard {
  const events: string[] = [];
  const reader: XmlReader = new XmlReader({
    open(name, attributes, parent) {
      const told = Object.entries(attributes).map(([key, value]) => ` ${key}=${value}`);
      events.push(`${reader.line} <${name}${told.join("")}> in ${parent}`);
      return name === "t";
    },
    close: (name, text) => events.push(`</${name}> ${text}`),
  });
  try {
    for (const piece of pieces)
      reader.push(typeof piece === "string" ? new TextEncoder().encode(piece) : piece);
    reader.end();
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return { events, error: error.message };
  }
  return { events, error: null };
}

export function* repeated(piece: string, bytes: number): Generator<Uint8Array> {
  const encoded = new TextEncoder().encode(piece.repeat(Math.ceil(MEBIBYTE / piece.length)));
  for (let sent = 0; sent < bytes; sent += encoded.length) yield encoded;
}

/** What the script prints. */
export interface GibibyteHeard {
  readonly error: string | null;
  readonly sentBytes: number;
  readonly grownBytes: number;
}

if (import.meta.main) {
  const memory = new MemoryMeter();
  let sentBytes = 0;
  function* pieces() {
    yield process.argv[2] as string;
    for (const piece of repeated("a", GIBIBYTE)) {
      sentBytes += piece.length;
      memory.look();
      yield piece;
    }
  }
  const { error } = hear(pieces());
  const heard: GibibyteHeard = { error, sentBytes, grownBytes: memory.grownBytes };
  console.log(JSON.stringify(heard));
}

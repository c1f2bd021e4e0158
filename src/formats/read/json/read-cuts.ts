import { isMembers, type Members } from "../../../clients/reading/values.ts";
import type { PointSink } from "../file-point.ts";
import type { Content, Reading } from "../format.ts";
import { type Cut, JsonCutter, type Wanted } from "./json-cutter.ts";

/** What a format makes of the values in its files. */
export interface CutReader {
  readonly wanted: Wanted;
  /** Finds what has to be known before the first value. */
  prepare?(): Promise<void>;
  /** What a value without fault tells, in steps where that may be very many points. */
  read(cut: Cut): Iterable<void>;
  /** The text is whole. */
  end?(): Iterable<void>;
}

/** Reads a file of one JSON text, value by value; those with a fault are skipped here. */
export function readCuts(content: Content, sink: PointSink, reader: CutReader): Reading {
  const cutter = new JsonCutter(reader.wanted);
  let place = 0;

  async function* read(): AsyncGenerator<void> {
    await reader.prepare?.();
    for await (const piece of content.pieces()) {
      cutter.push(piece);
      for (let cut = cutter.next(); cut !== null; cut = cutter.next()) {
        place = cut.offset;
        if (cut.fault !== null) sink.skip(cut.fault);
        else yield* reader.read(cut);
      }
      yield;
    }
    cutter.end();
    yield* reader.end?.() ?? NO_STEPS;
    yield;
  }

  return {
    get place() {
      return place;
    },
    [Symbol.asyncIterator]: read,
  };
}

/** The same for formats whose values are objects of few points each. */
export function readObjects(
  content: Content,
  sink: PointSink,
  wanted: Wanted,
  read: (object: Members, member: string | null) => void,
): Reading {
  return readCuts(content, sink, {
    wanted,
    read({ value, member }) {
      if (isMembers(value)) read(value, member);
      else sink.skip("unreadable");
      return NO_STEPS;
    },
  });
}

const NO_STEPS: readonly never[] = [];

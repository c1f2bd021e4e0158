import { isJsonObject, type JsonObject } from "../../../clients/reading/values.ts";
import type { PointSink } from "../file-point.ts";
import { type Beginning, type Content, FormatError, type Reading } from "../format.ts";
import { type Cut, JsonCutter, type Wanted } from "./json-cutter.ts";
import { RecordCutter } from "./record-cutter.ts";

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
  read: (object: JsonObject, member: string | null) => void,
): Reading {
  return readCuts(content, sink, {
    wanted,
    read({ value, member }) {
      if (isJsonObject(value)) read(value, member);
      else sink.skip("unreadable");
      return NO_STEPS;
    },
  });
}

const NO_STEPS: readonly never[] = [];

/** Reads a file of JSON texts, record by record; those with a fault are skipped here. */
export function readRecords(
  content: Content,
  sink: PointSink,
  /** What a record tells, in steps where that may be very many points. */
  readRecord: (record: JsonObject) => Iterable<void>,
): Reading {
  const cutter = new RecordCutter();
  let place = 1;

  function* readNext(find: () => ReturnType<RecordCutter["next"]>): Generator<void> {
    for (let record = find(); record !== null; record = find()) {
      place = record.number;
      if (record.fault !== null) sink.skip(record.fault);
      else if (isJsonObject(record.value)) yield* readRecord(record.value);
      else sink.skip("unreadable");
    }
    yield;
  }

  async function* read(): AsyncGenerator<void> {
    for await (const piece of content.pieces()) {
      cutter.push(piece);
      yield* readNext(() => cutter.next());
    }
    yield* readNext(() => cutter.last());
  }

  return {
    get place() {
      return place;
    },
    [Symbol.asyncIterator]: read,
  };
}

/** Enough that one of them has what all usually have. */
const THINGS_MAX = 8;

/**
 * The first objects in a list that a file begins with: in the list of that name in its outermost object, or null for
 * the file being the list. None where the file is something else, or the first doesn't end within the beginning.
 */
export function firstThings(beginning: Beginning, list: string | null): readonly JsonObject[] {
  const things: JsonObject[] = [];
  const start = beginning.text[0];
  if (start !== (list === null ? "[" : "{")) return things;
  if (list !== null && !beginning.text.includes(`"${list}"`)) return things;
  const cutter = new JsonCutter(list === null ? { isList: true } : { lists: [list] });
  cutter.push(new TextEncoder().encode(beginning.text));
  try {
    while (things.length < THINGS_MAX) {
      const cut = cutter.next();
      if (cut === null) break;
      if (isJsonObject(cut.value)) things.push(cut.value);
    }
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
  }
  return things;
}

/** Whether one of the objects has one of the members. */
export function haveAny(things: readonly JsonObject[], names: readonly string[]): boolean {
  return things.some((thing) => names.some((name) => Object.hasOwn(thing, name)));
}

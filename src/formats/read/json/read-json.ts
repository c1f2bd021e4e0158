import { isJsonObject, type JsonObject } from "../../../clients/reading/values.ts";
import type { PointSink } from "../file-point.ts";
import { type Beginning, type Content, FormatError, type FormatReader } from "../format.ts";
import { type Cut, JsonCutter, type JsonSelection } from "./json-cutter.ts";
import { RecordCutter } from "./record-cutter.ts";

/** Turns the values of a file into points. */
export interface CutReader {
  readonly selection: JsonSelection;
  /** Runs before the first value. */
  prepare?(): Promise<void>;
  /** Reads a valid value, in steps if it may have very many points. */
  read(cut: Cut): Iterable<void>;
  /** Called at the end of a complete text. */
  end?(): Iterable<void>;
}

/** Reads a file with one JSON text, value by value; skips faulty values. */
export function readCuts(content: Content, sink: PointSink, reader: CutReader): FormatReader {
  const cutter = new JsonCutter(reader.selection);
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

/** Like `readCuts`, for formats whose values are objects with few points each. */
export function readObjects(
  content: Content,
  sink: PointSink,
  selection: JsonSelection,
  read: (object: JsonObject, member: string | null) => void,
): FormatReader {
  return readCuts(content, sink, {
    selection,
    read({ value, member }) {
      if (isJsonObject(value)) read(value, member);
      else sink.skip("unreadable");
      return NO_STEPS;
    },
  });
}

const NO_STEPS: readonly never[] = [];

/** Reads a file with a JSON text per record; skips faulty records. */
export function readRecords(
  content: Content,
  sink: PointSink,
  /** Reads a record, in steps if it may have very many points. */
  readRecord: (record: JsonObject) => Iterable<void>,
): FormatReader {
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

/** Enough to include a typical one. */
const THINGS_MAX = 8;

/**
 * The first objects of a list near the start of a file: the list of that name in its outermost object, or, for null,
 * the file itself. Empty if the file is something else, or the first object is longer than the beginning.
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

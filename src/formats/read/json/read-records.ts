import { isMembers, type Members } from "../../../clients/reading/values.ts";
import type { PointSink } from "../file-point.ts";
import type { Content, Reading } from "../format.ts";
import { RecordCutter } from "./record-cutter.ts";

/** Reads a file of JSON texts, record by record; those with a fault are skipped here. */
export function readRecords(
  content: Content,
  sink: PointSink,
  /** What a record tells, in steps where that may be very many points. */
  readRecord: (record: Members) => Iterable<void>,
): Reading {
  const cutter = new RecordCutter();
  let place = 1;

  function* readNext(find: () => ReturnType<RecordCutter["next"]>): Generator<void> {
    for (let record = find(); record !== null; record = find()) {
      place = record.number;
      if (record.fault !== null) sink.skip(record.fault);
      else if (isMembers(record.value)) yield* readRecord(record.value);
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

import {
  type Format,
  FormatError,
  type FormatReader,
  HeaderError,
  OptionNeededError,
  type ReadOptions,
} from "../../formats/read/format.ts";
import type { OwnFormat } from "../../formats/read/own-formats.ts";
import { readPieces } from "../../formats/read/push-reader.ts";
import { textPieces } from "../../formats/read/text-pieces.ts";
import type { AcceptedTimes } from "../../model/report.ts";
import { createCsvReports } from "../reports/csv.ts";
import { createNdjsonReports } from "../reports/ndjson.ts";
import type { Source } from "../sources/source.ts";
import { BatchQueue } from "./batch-queue.ts";
import { baseName, FilePoints } from "./file-points.ts";
import type { ImportBatch, ImportPosition } from "./import-batch.ts";
import type { ImportRules } from "./import-rules.ts";

/** A file to import, with its format and its position among all files. */
export interface ImportSource {
  readonly source: Source;
  readonly format: Format | OwnFormat;
  /** The index of its group of files. */
  readonly group: number;
  /** From 0, in the order of the walk. */
  readonly index: number;
  /** Compressed bytes of all files before it. */
  readonly bytesBefore: number;
}

export interface ReadSourcesOptions {
  /** The files with positions, the same in the same order each time. */
  walk(): AsyncIterable<ImportSource>;
  readonly rules: ImportRules;
  readonly readOptions: ReadOptions;
  /** Times that can be stored; evaluated for every batch, because imports take long. */
  acceptedTimes(): AcceptedTimes;
  /** What is added to the times of a source, by its index. */
  shiftMsOf(source: number): number;
  readonly start: ImportPosition;
  /** Aborts reading, even in a file that has nothing to deliver. */
  readonly signal: AbortSignal;
  /** Called with the compressed bytes that were read of all files. */
  onRead(packedBytesRead: number): void;
  onIgnoredColumns(label: string, names: readonly string[]): void;
}

/** A file can't be read without an option; says where in the file that showed. */
export class SourceNeedsOption extends Error {
  override readonly name = "SourceNeedsOption";
}

/** Reads files into batches. Throws a `SourceNeedsOption` if a file needs an option first. */
export async function* readSources(options: ReadSourcesOptions): AsyncGenerator<ImportBatch> {
  const { walk, start, signal } = options;
  const queue = new BatchQueue();
  for await (const each of walk()) {
    if (each.index < start.source) continue;
    const { source, format, group, index } = each;
    const origin = {
      source: index,
      label: source.label,
      placeUnit: typeof format === "string" ? "line" : format.placeUnit,
    };
    queue.begin(group, origin, { source: index, things: index === start.source ? start.things : 0 });
    yield* untilItsEnd(openReading(each, queue, options), queue, source, signal);
    if (signal.aborted) return; // The file is not finished.
    queue.end();
  }
  queue.flush();
  yield* ready(queue);
}

async function* untilItsEnd(
  reading: FormatReader,
  queue: BatchQueue,
  { label, isNamed }: Source,
  signal: AbortSignal,
): AsyncGenerator<ImportBatch> {
  try {
    for await (const _ of reading) {
      if (signal.aborted) return;
      yield* ready(queue);
    }
  } catch (error) {
    // A folder may contain any kind of table.
    if (error instanceof HeaderError && !isNamed) {
      if (queue.next()) queue.skip("no_location", reading.place, error.message);
      return;
    }
    if (error instanceof OptionNeededError)
      throw new SourceNeedsOption(`${label}: ${error.message}.`, { cause: error });
    if (!(error instanceof FormatError)) throw error;
    queue.fault(reading.place, error.message); // Everything that was read before is good.
  }
  yield* ready(queue);
}

function* ready(queue: BatchQueue): Generator<ImportBatch> {
  for (let batch = queue.take(); batch !== null; batch = queue.take()) yield batch;
}

/** Starts reading a file into the queue. */
function openReading(
  { source, format, index, bytesBefore }: ImportSource,
  queue: BatchQueue,
  { rules, readOptions, acceptedTimes, shiftMsOf, onRead, onIgnoredColumns }: ReadSourcesOptions,
): FormatReader {
  const shiftMs = shiftMsOf(index);
  const moment = () => ({ times: acceptedTimes(), shiftMs });
  const pieces = () => textPieces(source.pieces((bytesRead) => onRead(bytesBefore + bytesRead)));
  const content = { ...source, pieces };
  const onIgnored = (names: readonly string[]) => onIgnoredColumns(source.label, names);
  if (format === "csv") return readPieces(content, createCsvReports({ queue, rules, moment }, onIgnored));
  if (format === "ndjson") return readPieces(content, createNdjsonReports({ queue, rules, moment }));
  const sink = new FilePoints(queue, rules, moment, baseName(source.name), () => reading.place);
  const reading = format.read(content, sink, readOptions);
  return reading;
}

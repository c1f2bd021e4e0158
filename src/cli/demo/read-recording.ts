import { NO_READ_OPTIONS } from "../../formats/read/format.ts";
import { type Look, lookAt, recogniseSource } from "../../import/look.ts";
import { IMPORT_START } from "../../import/reading/import-batch.ts";
import { readSources, SourceNeedsOption } from "../../import/reading/read-sources.ts";
import { createSources } from "../../import/sources/sources.ts";
import { UNPACKED_BYTES_MAX } from "../../import/sources/unpacked-file.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import type { Inputs } from "../../runtime/inputs.ts";
import { collectRecording, type Recording, RecordingError } from "./recording.ts";

/* Reads recordings with the importer's readers. */

export interface ReadRecordingOptions {
  readonly inputs: Inputs;
  /** A file, folder or archive that the importer reads. */
  readonly path: string;
  readonly spoolDirectory: string;
  readonly signal: AbortSignal;
}

/** Reads all positions at a path, like the importer. */
export async function readRecording(options: ReadRecordingOptions): Promise<Recording> {
  const { inputs, path, spoolDirectory, signal } = options;
  const unpackedBytesMax = UNPACKED_BYTES_MAX;
  const sources = createSources({ inputs, paths: [path], unpackedBytesMax, spoolDirectory, signal });
  try {
    const look = await lookAt({
      sources,
      recognise: (source) => recogniseSource(source, null),
      signal,
      onLooked: () => undefined,
    });
    const [failed] = look.unread.failed;
    if (failed !== undefined) throw new RecordingError(`${failed.label}: ${failed.reason}.`);
    const [wrong] = look.unread.wrong;
    if (wrong !== undefined) throw new RecordingError(`${wrong.label}: ${wrong.answer}`);
    return await collectRecording(batchesOf(look, signal));
  } finally {
    await sources.close();
  }
}

async function* batchesOf({ walk, beside }: Look, signal: AbortSignal): AsyncGenerator<ReportBatch> {
  const always = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
  const batches = readSources({
    walk,
    rules: { deviceId: null, userId: null, range: always },
    readOptions: { ...NO_READ_OPTIONS, beside },
    acceptedTimes: () => ({ oldestMs: always.startMs, newestMs: always.endMs }),
    shiftMsOf: () => 0,
    start: IMPORT_START,
    signal,
    onRead: () => undefined,
    onIgnoredColumns: () => undefined,
  });
  try {
    for await (const { batch, faults } of batches) {
      for (const { origin, message } of faults) throw new RecordingError(`${origin.label}: ${message}.`);
      yield batch;
    }
  } catch (error) {
    if (!(error instanceof SourceNeedsOption)) throw error;
    throw new RecordingError(`${error.message} Import the file with that option, and export it as CSV.`);
  }
}

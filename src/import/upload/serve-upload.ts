import { readBeginning } from "../../formats/read/beginning.ts";
import { readFences } from "../../formats/read/fences/fence-file.ts";
import type { FenceExtents } from "../../formats/read/fences/fence-sink.ts";
import { FormatError, NO_READ_OPTIONS, ZoneNeededError } from "../../formats/read/format.ts";
import { assert } from "../../lib/assert.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import { parseZone } from "../../model/time/zone.ts";
import type { WatchDraft } from "../../model/watches/watch-rules.ts";
import type { HelperPort } from "../../runtime/helper/helper.ts";
import { IMPORT_START, type ImportBatch } from "../reading/import-batch.ts";
import { readSources, SourceNeedsOption } from "../reading/read-sources.ts";
import type { Source } from "../sources/source.ts";
import { Tally } from "../tally/tally.ts";
import {
  BATCH_FORMAT,
  type FromUploadReader,
  type ToUploadReader,
  type UploadSettings,
  type UploadSurvey,
} from "./messages.ts";
import { PreviewLines } from "./preview-lines.ts";
import { type RecognisedUpload, recogniseUpload } from "./upload-formats.ts";

/*
 * The process that reads one uploaded file. It never writes, opens no file and no connection, and is ended when its
 * answer is late.
 */

/** What the process may occupy: itself, the file, and what a reader holds of it. */
export const READER_MEMORY_MIB = 256;

/** Geofences in a message, some tenths of a millisecond of work. */
const MESSAGE_FENCES = 32;

export interface UploadPort extends Pick<HelperPort, "send" | "onMessage"> {
  residentBytes(): number;
}

/** Serves the one upload of this process. */
export function serveUpload(port: UploadPort): void {
  const send = (message: FromUploadReader) => port.send(message);
  const pieces: Uint8Array[] = [];
  let settings: UploadSettings | null = null;
  let batches: AsyncIterator<ImportBatch> | null = null;
  let recognised: RecognisedUpload | null = null;

  const isTooLarge = () => port.residentBytes() > READER_MEMORY_MIB * 1024 * 1024;

  async function survey(): Promise<Result<UploadSurvey, ServiceError>> {
    assert(settings !== null, "the file was opened");
    const file = sourceOf(pieces);
    try {
      const recognition = recogniseUpload(await readBeginning(file), settings.format);
      if (!recognition.ok) return fail(unreadable(recognition.error));
      recognised = recognition.value;
      return await surveyFile(file, recognised, settings, isTooLarge);
    } catch (error) {
      if (error instanceof FormatError) return fail(unreadable(error.message));
      throw error;
    }
  }

  async function next(): Promise<FromUploadReader> {
    assert(settings !== null && recognised !== null, "the file was surveyed");
    batches ??= readFile(sourceOf(pieces), recognised, settings)[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await batches.next();
      if (done === true) return { kind: "batch", batch: null };
      if (value.batch.count > 0) return { kind: "batch", batch: value.batch };
    }
  }

  const fences: WatchDraft[] = [];
  let sentFences = 0;

  async function readAllFences(extents: FenceExtents): Promise<Result<number, ServiceError>> {
    const count = await readFences(sourceOf(pieces).pieces(), extents, (draft) => fences.push(draft));
    if (isTooLarge()) return fail(TOO_LARGE);
    return count;
  }

  port.onMessage((message) => {
    const request = message as ToUploadReader;
    switch (request.kind) {
      case "read_fences":
        void readAllFences(request.extents).then((result) => send({ kind: "fences_read", result }));
        return;
      case "next_fences":
        send({ kind: "fences", drafts: fences.slice(sentFences, sentFences + MESSAGE_FENCES) });
        sentFences += MESSAGE_FENCES;
        return;
      case "open":
        settings = request.settings;
        return;
      case "piece":
        pieces.push(request.bytes);
        return;
      case "survey":
        void survey().then((result) => send({ kind: "surveyed", result }));
        return;
      case "next":
        void next().then(send);
    }
  });
  send({ kind: "ready", format: BATCH_FORMAT });
}

async function surveyFile(
  file: Source,
  recognised: RecognisedUpload,
  settings: UploadSettings,
  isTooLarge: () => boolean,
): Promise<Result<UploadSurvey, ServiceError>> {
  const tally = new Tally();
  const lines = new PreviewLines();
  let fault: string | null = null;
  try {
    for await (const each of readFile(file, recognised, settings)) {
      if (isTooLarge()) return fail(TOO_LARGE);
      tally.addBatch(each);
      lines.add(each.batch);
      fault ??= each.faults[0]?.message ?? null;
    }
  } catch (error) {
    if (!(error instanceof SourceNeedsOption)) throw error;
    const { cause } = error;
    return fail({
      kind: "invalid_parameter",
      message:
        cause instanceof ZoneNeededError
          ? `"${cause.time}" has no time zone: name it, as with timezone=Europe/Berlin`
          : error.message,
    });
  }
  if (isTooLarge()) return fail(TOO_LARGE);
  if (fault !== null && tally.points === 0) return fail(unreadable(`the file can't be read: ${fault}`));
  const { name, reason } = recognised;
  return ok({ format: name, reason, tally: tally.soFar(), fault, lines: lines.lines() });
}

/** Reads the file from its start. */
function readFile(
  source: Source,
  { format }: RecognisedUpload,
  { deviceId, userId, zone, times }: UploadSettings,
): AsyncIterable<ImportBatch> {
  return readSources({
    async *walk() {
      yield { source, format, group: 0, index: 0, bytesBefore: 0 };
    },
    rules: {
      deviceId,
      userId,
      range: { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY },
    },
    readOptions: { ...NO_READ_OPTIONS, zone: zone === null ? null : parseZone(zone) },
    acceptedTimes: () => times,
    shiftMsOf: () => 0,
    start: IMPORT_START,
    signal: NEVER_ABORTED,
    onRead: () => {},
    onIgnoredColumns: () => {},
  });
}

const NEVER_ABORTED = new AbortController().signal;

/** The bytes that arrived, as a file without a name, which no point can take as its device. */
function sourceOf(bytes: readonly Uint8Array[]): Source {
  return {
    key: "",
    label: "",
    name: "",
    folders: [],
    isNamed: true,
    packedBytes: null,
    identity: async () => null,
    async *pieces() {
      yield* bytes;
    },
    openRandom() {
      throw new Error("Uploaded files have no path");
    },
  };
}

const TOO_LARGE: ServiceError = {
  kind: "body_too_large",
  message: `the file needs more than ${READER_MEMORY_MIB} MiB of memory to be read; the import command reads it`,
};

function unreadable(message: string): ServiceError {
  return { kind: "body_unreadable", message };
}

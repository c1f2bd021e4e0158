import { joinBytes } from "../../../lib/bytes/growing-bytes.ts";
import type { PointSink } from "../file-point.ts";
import type { Content, Format, Reading, ReadOptions } from "../format.ts";
import { FormatError } from "../format-error.ts";
import { isFit, type Outline, outlineFit } from "./outline.ts";
import { parseRecords, pointOfRecord } from "./records.ts";

/** FIT, what watches and bicycle computers record. */
export const fit: Format = {
  name: "fit",
  title: "FIT",
  extensions: [".fit"],
  placeUnit: "record",
  recognise: ({ bytes }) => (isFit(bytes, 0) ? 'its header says ".FIT"' : null),
  read: readFit,
};

/** A file is read whole. A watch writes some 200 KB an hour, and with sensors around it a few times that. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;
/** Four days and a half at one a second. Each takes some hundred bytes of memory, and one of the file may be enough. */
const MESSAGES_MAX = 400_000;

const POINTS_A_STEP = 1000;

function readFit(content: Content, sink: PointSink, options: ReadOptions): Reading {
  let place = 0;

  function* readOne(bytes: Uint8Array<ArrayBuffer>, at: number, { start, end, isDoubtful }: Outline) {
    new DataView(bytes.buffer).setUint32(at + 4, end - start, true);
    const { records, device } = parseRecords(bytes.subarray(at, end));
    for (const record of records) {
      place++;
      if (isDoubtful) sink.note("wrong_checksum");
      sink.add(pointOfRecord(record, device, options.speedUnit ?? "mps"));
      if (place % POINTS_A_STEP === 0) yield;
    }
  }

  async function* read(): AsyncGenerator<void> {
    const bytes = await wholeFile(content);
    // Some programs join files of one day by writing them behind each other.
    for (let at = 0; at < bytes.length; ) {
      if (!isFit(bytes, at)) throw new FormatError(`no FIT file begins at byte ${at}`);
      const outline = outlineFit(bytes, at);
      if (outline.messageCount > MESSAGES_MAX)
        throw new FormatError(`it holds more than ${MESSAGES_MAX} messages, which no watch records at once`);
      yield* readOne(bytes, at, outline);
      if (outline.fault !== null) throw new FormatError(`it is ${outline.fault} from byte ${outline.end} on`);
      at = outline.fileEnd;
      yield;
    }
  }

  return {
    get place() {
      return place;
    },
    [Symbol.asyncIterator]: read,
  };
}

async function wholeFile(content: Content): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of content.pieces()) {
    size += piece.length;
    if (size > FILE_BYTES_MAX)
      throw new FormatError(`it is larger than ${FILE_BYTES_MAX / 1024 / 1024} MiB, which no recording is`);
    pieces.push(piece);
  }
  return joinBytes(pieces);
}

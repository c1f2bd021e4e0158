import { type Format, FormatError, ZoneNeededError } from "../../../../src/formats/read/format.ts";
import type { OwnFormat } from "../../../../src/formats/read/own-formats.ts";
import { readPieces } from "../../../../src/formats/read/push-reader.ts";
import type { Deliver } from "../../../../src/import/deliver.ts";
import { type Look, lookAt } from "../../../../src/import/look.ts";
import type { ImportRules } from "../../../../src/import/reading/import-rules.ts";
import type { ImportRunEvents } from "../../../../src/import/run.ts";
import type { Source, Sources } from "../../../../src/import/sources/source.ts";
import { placeText } from "../../../../src/import/tally/skip-counts.ts";
import type { Delivered } from "../../../../src/import/tally/tally.ts";
import { fail, ok } from "../../../../src/lib/result.ts";
import { createLineReader } from "../../../../src/lib/text/lines.ts";
import { FileError } from "../../../../src/runtime/files.ts";
import { contentOf } from "../../../support/formats/read-file.ts";

/** A file of these bytes, in pieces of this size; it fails after them where that is said. */
export interface TestFile {
  readonly name: string;
  readonly format: Format | OwnFormat;
  readonly content: string | Uint8Array;
  readonly pieceBytes?: number;
  readonly failure?: string;
  /** Whether it lies in a folder rather than being named. */
  readonly isFound?: boolean;
}

function sourceOf({ name, content, pieceBytes = 64 * 1024, failure, isFound = false }: TestFile): Source {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return {
    name,
    folders: [],
    key: name,
    label: name,
    isNamed: !isFound,
    packedBytes: bytes.length,
    identity: async () => `${name} ${Bun.hash(bytes)}`,
    async *pieces(onRead = () => {}) {
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        onRead(Math.min(bytes.length, at + pieceBytes));
        yield bytes.subarray(at, at + pieceBytes);
      }
      if (failure !== undefined) throw new FormatError(failure);
    },
    openRandom: () => contentOf(bytes).openRandom(),
  };
}

export function lookAtFiles(files: readonly TestFile[]): Promise<Look> {
  const formats = new Map(files.map(({ name, format }) => [name, format]));
  const sources: Sources = {
    async *walk() {
      for (const file of files) yield { kind: "file", source: sourceOf(file) };
    },
    close: async () => {},
  };
  return lookAt({
    sources,
    recognise: async ({ name }) => ({ kind: "history", format: formats.get(name)!, reason: "the test" }),
    signal: new AbortController().signal,
    onLooked() {},
  });
}

export const ALL_RULES: ImportRules = {
  deviceId: null,
  userId: null,
  range: { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY },
};

/**
 * A format of points: JSON of a point a line. A line that begins with `skip` or `note` does that for the reason after
 * it, `end` breaks off, and `zone` asks for one.
 */
export const POINT_LINES: Format = {
  name: "point-lines",
  title: "Lines of points",
  extensions: [".points"],
  placeUnit: "line",
  recognise: () => null,
  read(content, sink) {
    const lines = createLineReader();
    function readLine(text: string): void {
      const [word, argument] = text.split(" ");
      if (word === "end") throw new FormatError("the file breaks off");
      if (word === "zone") throw new ZoneNeededError("2026-01-01 12:00");
      if (word === "note") sink.note(argument as "spread");
      if (word === "skip") sink.skip(argument as "no_time");
      if (!text.startsWith("{")) return;
      const { latitude = 1, longitude = 2, timestampMs = null, ...rest } = JSON.parse(text);
      sink.add({ latitude, longitude, timestampMs, device: null, user: null, details: {}, ...rest });
    }
    function readAll(): void {
      while (lines.next()) readLine(lines.text()!);
    }
    return readPieces(content, {
      get place() {
        return lines.line;
      },
      push(piece) {
        lines.push(piece);
        readAll();
      },
      end() {
        lines.end();
        readAll();
      },
    });
  },
};

/** A CSV file of a fleet of seven, a report a second; `row` is in the altitude, so that rows tell themselves apart. */
export function fleetCsv(rows: number, startMs: number): string {
  const lines = Array.from(
    { length: rows },
    (_, row) => `d${row % 7},${startMs + row * 1000},42.36,-71.05,${row}`,
  );
  return `device_id,timestamp_ms,latitude,longitude,altitude\n${lines.join("\n")}\n`;
}

/** Keeps what is delivered, as the service does: a report of a known device and time is a duplicate. */
export interface Destination {
  readonly deliver: Deliver;
  readonly timestamps: ReadonlyMap<string, number>;
  rowsDelivered: number;
}

/** `onBatch` runs before a batch is taken; a text that it returns is why the batch is refused. */
export function createDestination(onBatch: (index: number) => string | null = () => null): Destination {
  const timestamps = new Map<string, number>();
  let batches = 0;
  const destination: Destination = {
    timestamps,
    rowsDelivered: 0,
    async deliver(batch) {
      const refusal = onBatch(batches++);
      await new Promise((resolve) => setImmediate(resolve)); // Answers come later, as from a disk.
      if (refusal !== null) return fail(refusal);
      const before = timestamps.size;
      for (let row = 0; row < batch.count; row++) {
        const timestampMs = batch.timestampMs[row]!;
        timestamps.set(`${batch.texts[batch.device[row]!]} ${timestampMs}`, timestampMs);
      }
      destination.rowsDelivered += batch.count;
      const created = timestamps.size - before;
      return ok<Delivered>({
        created,
        sameTime: 0,
        alreadyThere: batch.count - created,
        resent: 0,
        rejected: [],
      });
    },
  };
  return destination;
}

/** What an import said, in words. */
export function createEventLog(): ImportRunEvents & { readonly said: string[] } {
  const said: string[] = [];
  return {
    said,
    onResumed: ({ position }) => void said.push(`resumed in file ${position.source}`),
    onShift: (file, shiftMs) => void said.push(`${file} shift ${shiftMs / 86_400_000} days`),
    onRead() {},
    onSurveying() {},
    onSurveyed() {},
    onDelivering() {},
    onIgnoredColumns: (file, names) => void said.push(`${file} ignores ${names.join(",")}`),
    async onFault({ origin, place, message }) {
      said.push(`${placeText({ origin, place: place ?? 0 })} unreadable: ${message}`);
    },
    onProgress() {},
  };
}

/** Small files in memory, for records. */
export function createMemoryFiles() {
  const contents = new Map<string, Uint8Array>();
  return {
    contents,
    async read(path: string) {
      const bytes = contents.get(path);
      if (bytes === undefined) throw new FileError("read", path, "ENOENT");
      return bytes;
    },
    exists: async (path: string) => contents.has(path),
    async replace(path: string, bytes: Uint8Array) {
      contents.set(path, bytes);
    },
    async remove(path: string) {
      contents.delete(path);
    },
    async makeDirectory() {},
  };
}

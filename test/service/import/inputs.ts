import { fail, ok } from "../../../src/lib/result.ts";
import { FileError } from "../../../src/runtime/files.ts";
import type { Deliver, Delivered } from "../../../src/service/import/import.ts";
import type { ImportInput } from "../../../src/service/import/input.ts";
import type { ImportRunEvents } from "../../../src/service/import/run.ts";

/** An input of these bytes, in pieces of this size. */
export function inputOf(name: string, bytes: Uint8Array | string, pieceBytes = 64 * 1024): ImportInput {
  const content = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
  return {
    name,
    sizeBytes: content.length,
    async *pieces() {
      for (let at = 0; at < content.length; at += pieceBytes) yield content.subarray(at, at + pieceBytes);
    },
  };
}

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
      const accepted = timestamps.size - before;
      return ok<Delivered>({ accepted, duplicates: batch.count - accepted, rejected: [] });
    },
  };
  return destination;
}

/** What an import said, in words. */
export function createEventLog(): ImportRunEvents & { readonly said: string[] } {
  const said: string[] = [];
  return {
    said,
    onResumed: ({ progress }) => void said.push(`resumed in file ${progress.fileIndex}`),
    onScanned() {},
    onShift: (file, shiftMs) => void said.push(`${file} shift ${shiftMs / 86_400_000} days`),
    onRead() {},
    onIgnoredColumns: (file, names) => void said.push(`${file} ignores ${names.join(",")}`),
    onRejected: (file, { line, message }) => void said.push(`${file}:${line} ${message}`),
    onUnreadable: (file, reason) => void said.push(`${file} unreadable: ${reason}`),
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

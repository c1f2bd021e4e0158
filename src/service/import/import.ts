import type { Result } from "../../lib/result.ts";
import type { TextPosition } from "../../lib/text/text-position.ts";
import type { UserId } from "../../model/ids.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import type { Clock } from "../../time/clock.ts";
import { FUTURE_MAX_MS, retentionStartMs } from "../../time/retention.ts";
import { type ImportBatch, readBatches } from "./batches.ts";
import { type ImportFormat, type ImportInput, InputError } from "./input.ts";
import type { RejectedRow } from "./reader.ts";
import { type ImportCounts, type ImportProgress, NO_ROWS } from "./state.ts";

/** What became of a batch, once it is on disk. */
export interface Delivered {
  readonly accepted: number;
  readonly duplicates: number;
  /** Rows that only the receiver refused. */
  readonly rejected: readonly { readonly index: number; readonly message: string }[];
}

/** Takes batches to where they are kept, in the order of the calls. Fails with what a person should know. */
export type Deliver = (batch: ReportBatch) => Promise<Result<Delivered, string>>;

export interface ImportFile {
  readonly input: ImportInput;
  readonly format: ImportFormat;
}

export interface ImportJob {
  readonly files: readonly ImportFile[];
  /** The user of reports that name none; null leaves them without. */
  readonly userId: UserId | null;
  /** By file, added to every timestamp. */
  readonly shiftsMs: readonly number[];
  readonly progress: ImportProgress;
}

/** What happens on the way. */
export interface ImportEvents {
  /** Bytes of the file, compressed as it is. */
  onRead(fileIndex: number, bytesRead: number): void;
  onIgnoredColumns(fileIndex: number, names: readonly string[]): void;
  onRejected(fileIndex: number, row: RejectedRow): void;
  /** The file can't be read further; the import goes on with the next one. */
  onUnreadable(fileIndex: number, reason: string): void;
  /** More is acknowledged. The import waits for the answer. */
  onProgress(progress: ImportProgress): Promise<void>;
}

export type ImportEnd =
  | { readonly kind: "finished" }
  /** The signal came; everything up to `progress` is acknowledged. */
  | { readonly kind: "interrupted" }
  | { readonly kind: "failed"; readonly reason: string };

export interface ImportOutcome {
  readonly end: ImportEnd;
  readonly progress: ImportProgress;
}

export interface ImportDependencies {
  readonly deliver: Deliver;
  readonly clock: Clock;
  readonly events: ImportEvents;
  /** Ends the import after the batches under way. */
  readonly signal: AbortSignal;
}

export function startOfImport(fileCount: number): ImportProgress {
  return { fileIndex: 0, position: null, counts: Array.from({ length: fileCount }, () => NO_ROWS) };
}

/** Batches between reading and acknowledgement: one on the disk, one waiting for it, one being applied. */
const IN_FLIGHT_MAX = 3;

/** Reads files in order and delivers their reports, a few batches ahead of what is acknowledged. */
export function createImport({ deliver, clock, events, signal }: ImportDependencies) {
  return async function importFiles(job: ImportJob): Promise<ImportOutcome> {
    let { progress } = job;
    let failure: string | null = null;
    const inFlight: { fileIndex: number; read: ImportBatch; answer: ReturnType<Deliver> }[] = [];

    /** Waits for the oldest batch; nothing counts after one that failed. */
    async function settleOldest(): Promise<void> {
      const { fileIndex, read, answer } = inFlight.shift()!;
      const delivered = await answer;
      if (failure !== null) return;
      if (!delivered.ok) {
        failure = delivered.error;
        return;
      }
      const { accepted, duplicates, rejected } = delivered.value;
      for (const row of read.rejected) events.onRejected(fileIndex, row);
      for (const { index, message } of rejected) {
        events.onRejected(fileIndex, { line: read.lines[index]!, message });
      }
      const counts = { accepted, duplicates, rejected: read.rejected.length + rejected.length };
      progress = advanced(progress, fileIndex, read.end, counts);
      await events.onProgress(progress);
    }

    async function settleDownTo(count: number): Promise<void> {
      while (inFlight.length > count) await settleOldest();
    }

    async function importFile(fileIndex: number, from: TextPosition | null): Promise<void> {
      const { input, format } = job.files[fileIndex]!;
      const batches = readBatches({
        input,
        format,
        userId: job.userId,
        shiftMs: job.shiftsMs[fileIndex]!,
        from,
        acceptedTimes: () => acceptedTimes(clock.nowMs()),
        onRead: (bytesRead) => events.onRead(fileIndex, bytesRead),
        onIgnoredColumns: (names) => events.onIgnoredColumns(fileIndex, names),
      });
      for await (const read of batches) {
        if (signal.aborted || failure !== null) return;
        const answer = deliver(read.batch);
        answer.catch(() => undefined); // It throws again where it is awaited.
        inFlight.push({ fileIndex, read, answer });
        await settleDownTo(IN_FLIGHT_MAX - 1);
      }
    }

    for (let fileIndex = progress.fileIndex; fileIndex < job.files.length; fileIndex++) {
      try {
        await importFile(fileIndex, progress.position);
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        await settleDownTo(0); // So that what came before is known to whoever hears of it.
        events.onUnreadable(fileIndex, error.message);
      }
      await settleDownTo(0);
      if (signal.aborted) return { end: { kind: "interrupted" }, progress };
      if (failure !== null) return { end: { kind: "failed", reason: failure }, progress };
      progress = { ...progress, fileIndex: fileIndex + 1, position: null };
    }
    return { end: { kind: "finished" }, progress };
  };
}

function acceptedTimes(nowMs: number) {
  return { oldestMs: retentionStartMs(nowMs), newestMs: nowMs + FUTURE_MAX_MS };
}

function advanced(
  { counts }: ImportProgress,
  fileIndex: number,
  position: TextPosition,
  more: ImportCounts,
): ImportProgress {
  const { accepted, duplicates, rejected } = counts[fileIndex]!;
  const sum = {
    accepted: accepted + more.accepted,
    duplicates: duplicates + more.duplicates,
    rejected: rejected + more.rejected,
  };
  return { fileIndex, position, counts: counts.with(fileIndex, sum) };
}

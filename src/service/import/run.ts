import { fail, ok, type Result } from "../../lib/result.ts";
import type { UserId } from "../../model/ids.ts";
import {
  createImport,
  type ImportDependencies,
  type ImportEvents,
  type ImportFile,
  type ImportOutcome,
  startOfImport,
} from "./import.ts";
import { findNewestMs, planShiftMs } from "./shift.ts";
import type { ImportState } from "./state.ts";
import type { ImportStateStore } from "./state-store.ts";

/*
 * Imports files once, however often it is interrupted on the way. Fails before anything was imported.
 */

export interface ImportRunEvents extends Omit<ImportEvents, "onProgress"> {
  /** An import that was interrupted goes on. */
  onResumed(state: ImportState): void;
  /** A first reading, for the newest timestamp. */
  onScanned(fileIndex: number, bytesRead: number): void;
  onShift(fileIndex: number, shiftMs: number): void;
  onProgress(progress: ImportState["progress"]): void;
}

export interface ImportRunDependencies extends Omit<ImportDependencies, "events"> {
  /** Null where the import can't be resumed: a pipe can't be read again. */
  readonly store: ImportStateStore | null;
  readonly events: ImportRunEvents;
}

export interface ImportRequest {
  readonly files: readonly ImportFile[];
  readonly userId: UserId | null;
  readonly shiftToNow: boolean;
}

const SAVE_MS = 1000; // What a crash makes us read again; it costs an fsync each time.

export function createImportRun({ store, deliver, clock, events, signal }: ImportRunDependencies) {
  return async function runImport(request: ImportRequest): Promise<Result<ImportOutcome, string>> {
    const started = await startOrResume(request);
    if (!started.ok) return started;
    const state = started.value;
    // The shift must be known to a later run before the first report is stored with it.
    await store?.replace(state);

    let savedMs = performance.now();
    const importFiles = createImport({
      deliver,
      clock,
      signal,
      events: {
        ...events,
        async onProgress(progress) {
          events.onProgress(progress);
          if (performance.now() - savedMs < SAVE_MS) return;
          await store?.replace({ ...state, progress });
          savedMs = performance.now();
        },
      },
    });
    const { files, userId } = request;
    const outcome = await importFiles({
      files,
      userId,
      shiftsMs: state.shiftsMs,
      progress: state.progress,
    });
    if (outcome.end.kind === "finished") await store?.remove();
    else await store?.replace({ ...state, progress: outcome.progress });
    return ok(outcome);
  };

  async function startOrResume({ files, shiftToNow }: ImportRequest): Promise<Result<ImportState, string>> {
    const found = store === null ? ok(null) : await store.find();
    if (!found.ok) return found;
    if (found.value !== null) {
      events.onResumed(found.value);
      return ok(found.value);
    }
    let shiftsMs: readonly number[] = files.map(() => 0);
    if (shiftToNow) {
      const newest = await findNewestMs(files, events.onScanned, signal);
      if (!newest.ok) return newest;
      if (signal.aborted) return fail("Interrupted before anything was imported.");
      const nowMs = clock.nowMs();
      shiftsMs = newest.value.map((newestMs) => (newestMs === null ? 0 : planShiftMs(newestMs, nowMs)));
      for (const [fileIndex, shiftMs] of shiftsMs.entries()) events.onShift(fileIndex, shiftMs);
    }
    return ok({
      startedMs: clock.nowMs(),
      files: files.map(({ input }) => input.name),
      shiftsMs,
      progress: startOfImport(files.length),
    });
  }
}

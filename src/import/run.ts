import { createHash } from "node:crypto";
import type { ReadOptions } from "../formats/read/format.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import type { AcceptedTimes } from "../model/report.ts";
import type { Clock } from "../model/time/clock.ts";
import { FUTURE_MAX_MS, isForever, type Retention } from "../model/time/retention.ts";
import { MS_PER_DAY } from "../model/time/units.ts";
import { createDelivery, type Deliver, type DeliveryEvents, type ImportEnd } from "./deliver.ts";
import type { Look } from "./look.ts";
import { IMPORT_START, type ImportBatch } from "./reading/import-batch.ts";
import type { ImportRules } from "./reading/import-rules.ts";
import { type ReadSourcesOptions, readSources } from "./reading/read-sources.ts";
import type { SkipReport } from "./skip-report.ts";
import type { ImportState, ImportStateStore } from "./state.ts";
import { type Survey, survey } from "./survey.ts";
import { SpeedCheck, type WrongSpeeds } from "./tally/speed-check.ts";
import { Tally, type TallySoFar } from "./tally/tally.ts";

/*
 * Imports files once, however often it is interrupted. If something could be lost, it reads everything before it writes
 * anything.
 */

export interface ImportRequest {
  readonly look: Look;
  readonly rules: ImportRules;
  readonly readOptions: ReadOptions;
  /**
   * Added to all times; `to_now` moves each file by whole days, so that its newest point is within the last 24 hours.
   */
  readonly shift: number | "to_now";
  /** Skips points before the retention; else such a point fails the import. */
  readonly skipOld: boolean;
}

export interface ImportRunEvents extends Pick<DeliveryEvents, "onFault"> {
  /** An interrupted import continues. */
  onResumed(state: ImportState): void;
  onRead: ReadSourcesOptions["onRead"];
  onIgnoredColumns: ReadSourcesOptions["onIgnoredColumns"];
  /** The first pass has read this many points and skips. */
  onSurveying(things: number): void;
  onSurveyed(survey: Survey): void;
  /** The second pass begins, which reads from the start and writes. */
  onDelivering(): void;
  onShift(label: string, shiftMs: number): void;
  onProgress(tallies: readonly Tally[]): void;
}

interface ImportDependencies {
  readonly retention: Retention;
  readonly clock: Clock;
  readonly events: ImportRunEvents;
  readonly signal: AbortSignal;
}

interface ImportRunDependencies extends ImportDependencies {
  /** Called once no reason is left that could prevent writing. Fails with a sentence for the operator. */
  openTarget(): Promise<Result<Deliver, string>>;
  /** Null if the import can't be resumed, because a pipe can't be read again. */
  readonly store: ImportStateStore | null;
  openReport(bytesBefore: number): Promise<SkipReport>;
}

export interface ImportOutcome {
  readonly id: string;
  readonly startedMs: number;
  readonly end: ImportEnd;
  readonly tallies: readonly TallySoFar[];
  /** Devices with wrong speeds among the delivered points. */
  readonly wrongSpeeds: readonly WrongSpeeds[];
}

/** Why an import wrote nothing. */
export type ImportStop =
  | { readonly kind: "too_old"; readonly survey: Survey; readonly edgeMs: number }
  | { readonly kind: "option_needed"; readonly reason: string }
  | { readonly kind: "interrupted" }
  | { readonly kind: "failed"; readonly reason: string };

const SAVE_MS = 1000; // After a crash this much is read again; each save costs an fsync.

export function createImportRun(dependencies: ImportRunDependencies) {
  const { openTarget, openReport, store, events, signal } = dependencies;

  return async function runImport(request: ImportRequest): Promise<Result<ImportOutcome, ImportStop>> {
    const started = await startOrResume(request, dependencies);
    if (!started.ok) return started;
    const target = await openTarget();
    if (!target.ok) return fail({ kind: "failed", reason: target.error });
    const before = started.value;
    const report = await openReport(before.reportBytes);
    let state = { ...before, reportBytes: await report.sync() };
    // A later run must know the shift before the first report with it is stored.
    await store?.replace(state);

    const tallies = request.look.groups.map((_, group) => new Tally(before.tallies[group]));
    let savedMs = performance.now();
    const deliverAll = createDelivery({
      deliver: target.value,
      signal,
      events: {
        onSkips: (skips) => report.add(skips),
        onFault: events.onFault,
        async onAcknowledged(position) {
          events.onProgress(tallies);
          state = { ...state, position };
          if (performance.now() - savedMs < SAVE_MS) return;
          await save();
        },
      },
    });

    async function save(): Promise<void> {
      if (store === null) return;
      state = { ...state, tallies: tallies.map((tally) => tally.soFar()), reportBytes: await report.sync() };
      await store.replace(state);
      savedMs = performance.now();
    }

    try {
      events.onDelivering();
      const speeds = new SpeedCheck();
      const batches = checkedForSpeed(readAll(request, state, dependencies), speeds);
      const end = await deliverAll(batches, tallies);
      if (end.kind === "finished") await store?.remove();
      else await save();
      const { id, startedMs } = state;
      const wrongSpeeds = speeds.verdicts();
      return ok({ id, startedMs, end, tallies: tallies.map((tally) => tally.soFar()), wrongSpeeds });
    } finally {
      await report.close();
    }
  };
}

function readAll(
  { look, rules, readOptions }: ImportRequest,
  state: ImportState,
  { clock, retention, events, signal }: ImportDependencies,
): AsyncIterable<ImportBatch> {
  const { onRead, onIgnoredColumns } = events;
  return readSources({
    walk: look.walk,
    rules,
    readOptions,
    acceptedTimes() {
      const nowMs = clock.nowMs();
      return { oldestMs: retention.startMs(nowMs), newestMs: nowMs + FUTURE_MAX_MS };
    },
    shiftMsOf: (source) => state.shiftsMs[source] ?? state.shiftsMs[0] ?? 0,
    start: state.position,
    signal,
    onRead,
    onIgnoredColumns,
  });
}

async function* checkedForSpeed(
  batches: AsyncIterable<ImportBatch>,
  speeds: SpeedCheck,
): AsyncGenerator<ImportBatch> {
  for await (const each of batches) {
    speeds.add(each.batch);
    yield each;
  }
}

/** The state at which an earlier run of the same import ended, or a new one if this run may write. */
async function startOrResume(
  request: ImportRequest,
  dependencies: ImportRunDependencies,
): Promise<Result<ImportState, ImportStop>> {
  const { store, clock, retention, events } = dependencies;
  const former = store === null ? ok(null) : await store.find();
  if (!former.ok) return fail({ kind: "failed", reason: former.error });
  if (former.value !== null) {
    const isComparedAgain = former.value.retention !== retention.text && request.shift !== "to_now";
    const shifts = isComparedAgain ? await planShifts(request, dependencies) : null;
    if (shifts !== null && !shifts.ok) return shifts; // The retention was shortened meanwhile.
    events.onResumed(former.value);
    return ok({ ...former.value, retention: retention.text });
  }
  const shiftsMs = await planShifts(request, dependencies);
  if (!shiftsMs.ok) return shiftsMs;
  const startedMs = clock.nowMs();
  const id = idOf(request.look.identity, startedMs);
  return ok({
    id,
    startedMs,
    retention: retention.text,
    shiftsMs: shiftsMs.value,
    position: IMPORT_START,
    tallies: [],
    reportBytes: 0,
  });
}

/** The id of an import in the log of imports. */
function idOf(identity: string | null, startedMs: number): string {
  return createHash("sha256").update(`${identity} ${startedMs}`).digest("hex").slice(0, 12);
}

/** How far to move each file. Surveys all files if the shift or the permission to write depends on them. */
async function planShifts(
  request: ImportRequest,
  dependencies: ImportDependencies,
): Promise<Result<readonly number[], ImportStop>> {
  const { clock, retention, events } = dependencies;
  const { shift, skipOld, rules } = request;
  const edgeMs = retention.startMs(clock.nowMs());
  const losesNothing = skipOld || isForever(retention) || rules.range.startMs >= edgeMs;
  if (losesNothing && shift !== "to_now") return ok([shift]);
  const surveyed = await surveyAll(request, dependencies);
  if (!surveyed.ok) return surveyed;
  const { pointsBeforeEdge, newest, faults } = surveyed.value;
  events.onSurveyed(surveyed.value);
  if (shift !== "to_now") {
    if (pointsBeforeEdge > 0) return fail({ kind: "too_old", survey: surveyed.value, edgeMs });
    return ok([shift]);
  }
  // The unread part may have the newest point.
  if (faults.length > 0) {
    return fail({
      kind: "failed",
      reason: `Nothing was imported, since a file can't be read. ${faults[0]}.`,
    });
  }
  const shiftsMs: number[] = [0];
  for (const [source, { label, timestampMs }] of newest) {
    while (shiftsMs.length <= source) shiftsMs.push(0);
    shiftsMs[source] = planShiftMs(timestampMs, clock.nowMs());
    events.onShift(label, shiftsMs[source]);
  }
  return ok(shiftsMs);
}

/** Every time; `addReport` still refuses those that look like seconds. */
const ANY_TIME: AcceptedTimes = { oldestMs: Number.MIN_SAFE_INTEGER, newestMs: Number.MAX_SAFE_INTEGER };

export async function surveyAll(
  { look, rules, readOptions, shift }: ImportRequest,
  { clock, retention, events, signal }: ImportDependencies,
): Promise<Result<Survey, ImportStop>> {
  const nowMs = clock.nowMs();
  const { onRead, onIgnoredColumns, onSurveying } = events;
  const batches = readSources({
    walk: look.walk,
    rules,
    readOptions,
    acceptedTimes: () => (shift === "to_now" ? ANY_TIME : { ...ANY_TIME, newestMs: nowMs + FUTURE_MAX_MS }),
    shiftMsOf: () => (shift === "to_now" ? 0 : shift),
    start: IMPORT_START,
    signal,
    onRead,
    onIgnoredColumns,
  });
  const groupCount = look.groups.length;
  const edgeMs = retention.startMs(nowMs);
  const surveyed = await survey(batches, { groupCount, edgeMs, signal, onProgress: onSurveying });
  if (!surveyed.ok) return fail({ kind: "option_needed", reason: surveyed.error });
  return signal.aborted ? fail({ kind: "interrupted" }) : surveyed;
}

/** The shift by whole days, which keeps the time of day, that puts the newest report within the last 24 hours. */
export function planShiftMs(newestMs: number, nowMs: number): number {
  return Math.floor((nowMs - newestMs) / MS_PER_DAY) * MS_PER_DAY;
}

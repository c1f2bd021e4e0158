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
 * Imports files once, however often it is interrupted on the way. Where something could be lost, everything is read
 * before anything is written.
 */

export interface ImportRequest {
  readonly look: Look;
  readonly rules: ImportRules;
  readonly readOptions: ReadOptions;
  /** What is added to all times; `to_now` moves each file by whole days, so that it ends within the last 24 hours. */
  readonly shift: number | "to_now";
  /** Points before the retention are left out; else there must be none. */
  readonly skipOld: boolean;
}

export interface ImportRunEvents extends Pick<DeliveryEvents, "onFault"> {
  /** An import that was interrupted goes on. */
  onResumed(state: ImportState): void;
  onRead: ReadSourcesOptions["onRead"];
  onIgnoredColumns: ReadSourcesOptions["onIgnoredColumns"];
  /** The first pass has found so many things. */
  onSurveying(things: number): void;
  onSurveyed(survey: Survey): void;
  /** What is written from here on was read from the start once more. */
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
  /** Asked once everything is known that could keep the import from writing. Fails with what a person should know. */
  openTarget(): Promise<Result<Deliver, string>>;
  /** Null where the import can't be resumed: a pipe can't be read again. */
  readonly store: ImportStateStore | null;
  openReport(bytesBefore: number): Promise<SkipReport>;
}

export interface ImportOutcome {
  readonly id: string;
  readonly startedMs: number;
  readonly end: ImportEnd;
  /** By group of files. */
  readonly tallies: readonly TallySoFar[];
  /** Of what this run delivered. */
  readonly wrongSpeeds: readonly WrongSpeeds[];
}

/** Why an import wrote nothing. */
export type ImportStop =
  | { readonly kind: "too_old"; readonly survey: Survey; readonly edgeMs: number }
  | { readonly kind: "option_needed"; readonly reason: string }
  | { readonly kind: "interrupted" }
  | { readonly kind: "failed"; readonly reason: string };

const SAVE_MS = 1000; // What a crash makes us read again; it costs an fsync each time.

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
    // The shift must be known to a later run before the first report is stored with it.
    await store?.replace(state);

    const tallies = request.look.groups.map((_, group) => new Tally(before.tallies[group]));
    let savedMs = performance.now();
    const deliverAll = createDelivery({
      deliver: target.value,
      signal,
      events: {
        onSkips: (skips) => report.add(skips),
        onFault: events.onFault,
        async onSettled(position) {
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

/** Where an earlier run of the same import ended, or the start of one that may write. */
async function startOrResume(
  request: ImportRequest,
  dependencies: ImportRunDependencies,
): Promise<Result<ImportState, ImportStop>> {
  const { store, clock, retention, events } = dependencies;
  const found = store === null ? ok(null) : await store.find();
  if (!found.ok) return fail({ kind: "failed", reason: found.error });
  if (found.value !== null) {
    const isComparedAgain = found.value.retention !== retention.text && request.shift !== "to_now";
    const kept = isComparedAgain ? await planShifts(request, dependencies) : null;
    if (kept !== null && !kept.ok) return kept; // It was shortened meanwhile.
    events.onResumed(found.value);
    return ok({ ...found.value, retention: retention.text });
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

/** What the log of imports calls one. */
function idOf(identity: string | null, startedMs: number): string {
  return createHash("sha256").update(`${identity} ${startedMs}`).digest("hex").slice(0, 12);
}

/** How far to move each file; all are surveyed where that decides it, or whether anything may be written. */
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
  // Its newest point might be one that was not seen.
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

/** Any time that is one; what looks like seconds is refused all the same. */
const ANY_TIME: AcceptedTimes = { oldestMs: Number.MIN_SAFE_INTEGER, newestMs: Number.MAX_SAFE_INTEGER };

/** Reads everything and writes nothing. */
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

/**
 * How far to move reports so that the newest lies within the last 24 hours: by whole days, which keeps the time
 * of day. Exactly one shift does.
 */
export function planShiftMs(newestMs: number, nowMs: number): number {
  return Math.floor((nowMs - newestMs) / MS_PER_DAY) * MS_PER_DAY;
}

import {
  devicesOf,
  type HeldCorrection,
  sourceIndex,
  targetIndex,
} from "../../hot/hidden/held-correction.ts";
import type { ReportWatch, WatchedRange, WatchedReport } from "../../hot/hidden/report-watch.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Correction } from "../../model/correction.ts";
import type { CorrectionEntry } from "../../model/correction-entry.ts";
import { correctionEntries, undoEntry } from "../../model/correction-pieces.ts";
import { type ServiceError, unavailable } from "../../model/errors.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import { createReportBatchBuilder } from "../../model/report-batch.ts";
import { type Ingest, refusalError } from "../ingest/ingest.ts";
import { appendAll, type StandingAppend } from "../ingest/standing-append.ts";
import type { Caller } from "../queries/find-device.ts";
import { applyTarget } from "./apply-target.ts";
import { createCorrectionId } from "./correction-id.ts";
import { findLater } from "./later-corrections.ts";
import type { NewCorrection } from "./new-correction.ts";
import { findNewestAfterUndo, findNewestWithout, type NewestDependencies } from "./newest-record.ts";
import { planAssignment, previewAssignment } from "./plan-assignment.ts";
import { type Preview, planCorrection, previewCorrection } from "./plan-correction.ts";
import { copyRow } from "./read-records.ts";
import { Turns } from "./turns.ts";
import { findLaterOfAlias, findNewestApart } from "./undo-assignment.ts";

/** Who asks, and which request it is. */
export interface CorrectionRequest {
  readonly keyId: string;
  readonly nowMs: number;
  /** Identifies the request among its repetitions; null if the client does not. */
  readonly repetition: { readonly key: string; readonly hash: string } | null;
}

/** A correction that took effect, and the entry of the log up to which it has. */
export interface Corrected {
  readonly item: HeldCorrection;
  readonly sequence: number;
}

/**
 * Makes and undoes corrections. What it answers is on disk and visible; an entry holds the whole effect, so that every
 * node and every start has the same. Those of an app are made one at a time.
 */
export interface Correct {
  create(
    appId: AppId,
    wanted: NewCorrection,
    request: CorrectionRequest,
    caller: Caller,
  ): Promise<Result<Corrected, ServiceError>>;
  preview(appId: AppId, wanted: NewCorrection, caller: Caller): Promise<Result<Preview, ServiceError>>;
  /** `keyId` names who asks. */
  undo(appId: AppId, id: string, keyId: string, caller: Caller): Promise<Result<Corrected, ServiceError>>;
}

export interface CorrectDependencies extends NewestDependencies {
  readonly append: StandingAppend;
  readonly ingest: Ingest;
  /** Defaults to the turns of a server. */
  readonly turns?: Turns;
}

/** Other nodes may make corrections of the app meanwhile. */
const ATTEMPTS_MAX = 8;

export function createCorrect(dependencies: CorrectDependencies): Correct {
  const { hot, turns = new Turns() } = dependencies;
  const corrector = new Corrector(dependencies);
  return {
    create: (appId, wanted, request, caller) =>
      turns.run({ appId, keyId: request.keyId, signal: caller.signal }, async () => {
        const repeated = findRepeated(hot, appId, request);
        if (!repeated.ok) return repeated;
        if (repeated.value !== null) return ok(repeated.value);
        return wanted.isOfDevice
          ? corrector.assignDevice(appId, wanted, request, caller)
          : corrector.make(appId, wanted, request, caller);
      }),
    preview: (appId, wanted, caller) =>
      wanted.isOfDevice
        ? previewAssignment(dependencies, appId, wanted, caller)
        : previewCorrection(dependencies, appId, wanted, caller),
    undo: (appId, id, keyId, caller) =>
      turns.run({ appId, keyId, signal: caller.signal }, () => corrector.undo(appId, id, caller)),
  };
}

/** Gives the entries of a correction or undoing, which name the number of the correction before. */
type Attempt = (previous: number) => Promise<Result<readonly CorrectionEntry[], ServiceError>>;

/** Makes one correction of an app at a time. */
class Corrector {
  readonly #dependencies: CorrectDependencies;

  constructor(dependencies: CorrectDependencies) {
    this.#dependencies = dependencies;
  }

  async make(
    appId: AppId,
    wanted: NewCorrection,
    { keyId, nowMs, repetition }: CorrectionRequest,
    caller: Caller,
  ): Promise<Result<Corrected, ServiceError>> {
    const id = createCorrectionId(nowMs);
    const { action, deviceId, selection, target, note } = wanted;
    const ranges = [...watchedRanges(wanted), { deviceId, ...ALWAYS }];
    return this.#watching(appId, ranges, id, true, async (previous) => {
      const planned = await planCorrection(this.#dependencies, appId, wanted, caller);
      if (!planned.ok) return planned;
      const { timestampMs, before } = planned.value;
      const newest = await findNewestWithout(this.#dependencies, appId, deviceId, timestampMs, caller);
      if (!newest.ok) return newest;
      const correction: Correction = {
        ...{ id, action, deviceId, target, note, createdMs: nowMs, createdBy: keyId, repetition },
        selection: selection.members,
        records: timestampMs.length,
        firstMs: timestampMs[0]!,
        lastMs: timestampMs.at(-1)!,
      };
      const rows = before === null ? null : before.map((piece) => applyTarget(piece, target!));
      const newestAfter = { newest: newest.value, newestOfTarget: null };
      return ok(correctionEntries(appId, previous, { correction, timestampMs, rows, ...newestAfter }));
    });
  }

  /** Like `#takeEffect()`, for entries that are made of records, which reports change meanwhile. */
  async #watching(
    appId: AppId,
    ranges: readonly WatchedRange[],
    id: string,
    isActive: boolean,
    attempt: Attempt,
  ): Promise<Result<Corrected, ServiceError>> {
    const watch = this.#dependencies.hot.watchReports(appId, ranges);
    try {
      const corrected = await this.#takeEffect(appId, id, isActive, attempt);
      return corrected.ok ? await this.#repeatMissed(appId, corrected.value, watch) : corrected;
    } finally {
      watch.end();
    }
  }

  /**
   * Sends reports once more that came between the reading of the records and the entry of their correction: they are
   * in the records, but perhaps not in what shows instead, into which a report that comes now is merged. Nor does
   * the entry name them as a device's newest: a node that archived them meanwhile would not know. A report that is
   * sent once more must not outrank one that came after it, so those that come meanwhile for the same instants are
   * sent again, too.
   */
  async #repeatMissed(
    appId: AppId,
    { item, sequence }: Corrected,
    { reports }: ReportWatch,
  ): Promise<Result<Corrected, ServiceError>> {
    const own = new Set<number>();
    let last = sequence;
    let missed = reports.filter((report) => {
      const { batch, row, shownId, sequence: at } = report;
      if (at >= sequence) return false;
      const timeMs = batch.timestampMs[row]!;
      const { target } = item.correction;
      const isTouched = sourceIndex(item, shownId, timeMs) >= 0 || targetIndex(item, shownId, timeMs) >= 0;
      return isTouched ? target !== null : this.#isNewest(appId, report);
    });
    while (missed.length > 0) {
      const before = last;
      for (let from = 0; from < missed.length; from += REPEATED_ROWS_MAX) {
        const some = missed.slice(from, from + REPEATED_ROWS_MAX);
        const rows = createReportBatchBuilder(some.length);
        for (const { batch, row } of some) copyRow(rows, batch, row);
        const stored = await this.#dependencies.ingest(appId, rows.build());
        if (!stored.ok) return stored;
        last = stored.value.sequence;
        own.add(last);
      }
      const repeated = new Set(missed.map(instantOf));
      missed = reports.filter(
        (report) =>
          report.sequence > before &&
          report.sequence < last &&
          !own.has(report.sequence) &&
          repeated.has(instantOf(report)),
      );
    }
    return ok({ item, sequence: last });
  }

  /** Whether no newer record shows of the device that a report shows as by now. */
  #isNewest(appId: AppId, { batch, row }: WatchedReport): boolean {
    const { hot } = this.#dependencies;
    const deviceId = batch.texts[batch.device[row]!]! as DeviceId;
    const timeMs = batch.timestampMs[row]!;
    const ofApp = hot.corrections.find(appId)!;
    const shownId = ofApp.aliases.of(deviceId)?.shownId ?? deviceId;
    const newestMs = hot.findApp(appId)?.find(shownId)?.newestMs ?? Number.NEGATIVE_INFINITY;
    return timeMs >= newestMs && !ofApp.isHidden(ofApp.stageFor(shownId), timeMs);
  }

  /** Makes all that a device reports show as another's. */
  async assignDevice(
    appId: AppId,
    wanted: NewCorrection,
    { keyId, nowMs, repetition }: CorrectionRequest,
    caller: Caller,
  ): Promise<Result<Corrected, ServiceError>> {
    const id = createCorrectionId(nowMs);
    const { action, deviceId, target, note } = wanted;
    return this.#takeEffect(appId, id, true, async (previous) => {
      const planned = await planAssignment(this.#dependencies, appId, wanted, caller);
      if (!planned.ok) return planned;
      const { records, firstMs, lastMs } = planned.value;
      if (firstMs === null || lastMs === null)
        return fail({ kind: "invalid_parameter", message: "no record matches the selection" });
      const correction: Correction = {
        ...{ id, action, deviceId, target, note, createdMs: nowMs, createdBy: keyId, repetition },
        ...{ selection: {}, isOfDevice: true, records, firstMs, lastMs },
      };
      return ok([{ kind: "correction", appId, previous, change: { type: "assign", id, correction } }]);
    });
  }

  async undo(appId: AppId, id: string, caller: Caller): Promise<Result<Corrected, ServiceError>> {
    const { hot } = this.#dependencies;
    const known = hot.corrections.find(appId)?.byId.get(id);
    if (known === undefined) return fail({ kind: "correction_not_found" });
    if (!known.isActive) return ok({ item: known, sequence: hot.visibleSequence });
    const ranges = devicesOf(known.correction).map((deviceId) => ({ deviceId, ...ALWAYS }));
    return this.#watching(appId, ranges, id, false, async (previous) => {
      const app = hot.corrections.find(appId)!;
      const item = app.byId.get(id)!;
      const isOfDevice = item.correction.isOfDevice === true;
      const later = isOfDevice
        ? await findLaterOfAlias(this.#dependencies, appId, app, item, caller)
        : ok(findLater(app, item));
      if (!later.ok) return later;
      if (later.value.length > 0) return fail({ kind: "corrected_later", ids: later.value });
      const after = isOfDevice
        ? await findNewestApart(this.#dependencies, appId, item, caller)
        : await findNewestAfterUndo(this.#dependencies, appId, item, caller);
      return after.ok ? ok([undoEntry(appId, previous, id, after.value)]) : after;
    });
  }

  /** Tries until the correction took effect. */
  async #takeEffect(
    appId: AppId,
    id: string,
    isActive: boolean,
    attempt: Attempt,
  ): Promise<Result<Corrected, ServiceError>> {
    const { hot } = this.#dependencies;
    for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
      const entries = await attempt(hot.corrections.find(appId)?.number ?? 0);
      if (!entries.ok) return entries;
      const sequence = await appendAll(this.#dependencies.append, entries.value);
      if (!sequence.ok) return fail(refusalError(sequence.error));
      const item = hot.corrections.find(appId)?.byId.get(id);
      if (item !== undefined && item.isActive === isActive) return ok({ item, sequence: sequence.value });
    }
    return fail(unavailable("other nodes correct this app at the same time; send again", 1));
  }
}

function instantOf({ batch, row }: WatchedReport): string {
  return `${batch.timestampMs[row]} ${batch.texts[batch.device[row]!]}`;
}

/** Reports that are sent once more in one entry of the log: to merge them takes some milliseconds. */
const REPEATED_ROWS_MAX = 1000;

const ALWAYS = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };

/** What a correction reads, and where it shows that; nothing if it shows nothing. */
function watchedRanges({ deviceId, selection: { range }, target }: NewCorrection): readonly WatchedRange[] {
  if (target === null) return [];
  const [startMs, endMs] = [range.startMs + target.byMs, range.endMs + target.byMs];
  return [
    { deviceId, ...range },
    { deviceId: target.deviceId, startMs, endMs },
  ];
}

/** The correction that an earlier request of the same key made; null if there is none. */
function findRepeated(
  hot: Pick<HotStore, "corrections" | "visibleSequence">,
  appId: AppId,
  { nowMs, repetition }: CorrectionRequest,
): Result<Corrected | null, ServiceError> {
  if (repetition === null) return ok(null);
  for (const item of hot.corrections.find(appId)?.byId.values() ?? []) {
    const { createdMs, repetition: first } = item.correction;
    if (first?.key !== repetition.key || nowMs - createdMs > REPETITION_MS_MAX) continue;
    if (first.hash !== repetition.hash) return fail({ kind: "idempotency_key_used" });
    return ok({ item: { ...item, isActive: true }, sequence: hot.visibleSequence });
  }
  return ok(null);
}

/** How long a repetition of a request is recognised. */
const REPETITION_MS_MAX = 24 * 3_600_000;

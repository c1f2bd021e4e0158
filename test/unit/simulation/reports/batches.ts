import type { AppId } from "../../../../src/model/ids.ts";
import { laidOver } from "../../../reference/records.ts";
import { batchOf } from "../../../support/reports/batches.ts";
import { possibleValues, type SentBatch } from "../check/model.ts";
import { findFrames, type LogFrame } from "../disk/log-frames.ts";
import type { RunContext } from "../run/context.ts";
import { BATCH_MARK, createReportSource } from "./reports.ts";

/** Sends batches, and keeps what became of them in the model. */
export interface RunBatches {
  /** Resolves when the batch has its answer. */
  send(): Promise<void>;
  /** Sends one on its way, for `settled` to wait for. */
  sendAside(): void;
  /** Resolves when none is on its way any more. */
  settled(): Promise<void>;
  /** Every choice of an app's open batches, that of the log's frames first: where answers can't tell, it counts. */
  guesses(appId: string): Generator<readonly SentBatch[]>;
  /** The service shows these of the open batches; `isFinal` where they can't be lost any more, nor the others come. */
  noteShown(shown: readonly SentBatch[], isFinal: boolean): void;
  /** Whether anything ever left bytes in the log that no answer tells of. */
  readonly hadOpen: boolean;
}

/** How long a batch may take from the door to the log. */
const LET_IN_BEFORE_MS = 10 * 60_000;

export function createRunBatches(run: RunContext): RunBatches {
  const { plan, draws, clock, retention, disk, model, totals } = run;
  const source = createReportSource(plan, draws);
  let pending: Promise<void>[] = [];
  let sequenceMax = 0;
  /** Open batches that the service shows, while it may lose them yet. */
  let shown: readonly SentBatch[] = [];
  let hadOpen = false;

  function draw(lastSequence: number): SentBatch {
    const appId = draws.pick(plan.apps);
    // Reports may be let in right before midnight, and taken in after it.
    const nowMs = clock.nowMs() - (draws.chance(0.2) ? LET_IN_BEFORE_MS : 0);
    const forgedBefore = source.forged;
    const edgeMs = retention.startMs(nowMs);
    const reports = source.draw(appId, { nowMs, edgeMs, days: run.sealedDays(), sequence: lastSequence });
    totals.forgeries += source.forged - forgedBefore;
    totals.batches++;
    return { appId, reports, sequence: null };
  }

  async function send(): Promise<void> {
    const { log, ingest } = run.service.directory;
    const batch = draw(log.lastSequence);
    const { appId } = batch;
    const { state } = log;
    const outcome = await ingest(appId as AppId, batchOf(batch.reports));
    if (!outcome.ok) {
      const { error } = outcome;
      noteRefusal(batch, error.kind === "unavailable" ? error.message : error.kind, state === "failed");
      return;
    }
    const { accepted, duplicates, sequence } = outcome.value;
    if (accepted + duplicates !== batch.reports.length)
      run.fail(`${nameOf(batch)}: ${accepted} accepted, ${duplicates} duplicates`);
    totals.acknowledged += batch.reports.length;
    if (accepted === 0 && !isLogged(batch, sequence)) noteRepeat(batch);
    else noteTaken(batch, sequence);
  }

  /** What changes nothing may be logged all the same, while others are under way or a part of the log can't be read. */
  function isLogged(batch: SentBatch, sequence: number): boolean {
    const isThis = (frame: LogFrame) => frame.sequence === sequence && isOf(frame, batch);
    return sequence > sequenceMax && findFrames(disk.contents()).some(isThis);
  }

  function noteTaken(batch: SentBatch, sequence: number): void {
    run.tell(`${nameOf(batch)} is taken as entry ${sequence}`);
    if (sequence <= sequenceMax) run.fail(`entry ${sequence} after entry ${sequenceMax}`);
    sequenceMax = sequence;
    batch.sequence = sequence;
    model.take(batch);
  }

  /**
   * Only a log that fails on the way leaves it open what is on the disk: all other refusals promise that nothing is.
   */
  function noteRefusal(batch: SentBatch, message: string, hadFailed: boolean): void {
    totals.refused++;
    run.tell(`${nameOf(batch)} is refused: ${message}`);
    if (hadFailed || !message.startsWith("the log failed")) return;
    hadOpen = true;
    model.leaveOpen(batch);
  }

  /** What is answered as known already must be there, and be what was sent. */
  function noteRepeat(batch: SentBatch): void {
    run.tell(`${nameOf(batch)} is known already`);
    settle(
      shown.filter(({ appId }) => appId === batch.appId),
      [],
    );
    const histories = [...model.histories(batch.appId, [])];
    for (const report of batch.reports) {
      const record = histories.find(
        (each) => each.deviceId === report.device_id && each.timestampMs === report.timestamp,
      );
      const values = record === undefined ? [] : possibleValues(record, () => false);
      const isKnown = values.some(
        (value) => value !== null && Bun.deepEquals(laidOver(value, report), value),
      );
      if (!isKnown) run.fail(`${nameOf(batch)} was called known, and ${JSON.stringify(report)} is not`);
    }
  }

  function settle(found: readonly SentBatch[], gone: readonly SentBatch[]): void {
    for (const { sequence } of withFrames(found)) sequenceMax = Math.max(sequenceMax, sequence!);
    model.settle(found, gone);
    shown = shown.filter((batch) => model.open.includes(batch));
  }

  /** Those of the open batches that the log has, if in a segment that can't be read for now; with their sequences. */
  function withFrames(open: readonly SentBatch[]): readonly SentBatch[] {
    let after = sequenceMax; // They come after all that were acknowledged before, each after the one before.
    const frames = open.length > 0 ? findFrames(disk.contents()) : [];
    return open.filter((batch) => {
      const frame = frames.find((each) => isOf(each, batch) && each.sequence > after);
      if (frame === undefined) return false;
      batch.sequence = frame.sequence;
      after = frame.sequence;
      return true;
    });
  }

  return {
    send,
    sendAside() {
      const sent = send();
      sent.catch(() => undefined); // Told to who waits in `settled`.
      pending.push(sent);
    },
    async settled() {
      while (pending.length > 0) {
        const waiting = pending;
        pending = []; // Operations of these may begin others.
        await Promise.all(waiting);
      }
    },
    *guesses(appId) {
      const open = model.open.filter((batch) => batch.appId === appId);
      if (open.length > 0) yield withFrames(open);
      for (let mask = 0; mask < 2 ** open.length; mask++)
        yield open.filter((_, i) => ((mask >> i) & 1) === 1);
    },
    noteShown(visible, isFinal) {
      shown = visible;
      if (!isFinal) return;
      settle(
        visible,
        model.open.filter((batch) => !visible.includes(batch)),
      );
    },
    get hadOpen() {
      return hadOpen;
    },
  };
}

function isOf({ appId, mark }: LogFrame, batch: SentBatch): boolean {
  return appId === batch.appId && mark === markOf(batch);
}

function markOf({ reports }: SentBatch): number {
  return Number(reports[0]![BATCH_MARK]);
}

export function nameOf(batch: SentBatch): string {
  const devices = [...new Set(batch.reports.map(({ device_id }) => device_id))].join(", ");
  return `batch ${markOf(batch)} of ${batch.appId} (${batch.reports.length} of ${devices})`;
}

import type { Steps } from "../../lib/schedule/steps.ts";
import type { CorrectionEntry } from "../../model/correction-entry.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { BatchWriter, CorrectedView } from "../batch-writer.ts";
import type { AliasMover } from "./alias-mover.ts";
import { type Corrections, type Effect, isAliasEffect } from "./corrections.ts";
import { targetTimes } from "./held-correction.ts";
import { STEP_ROWS } from "./place.ts";
import type { ChangedPlace, RowMover } from "./row-mover.ts";

/** What a correction changes in memory. */
export interface CorrectedMemory {
  readonly batches: BatchWriter;
  readonly corrections: Corrections;
  readonly mover: RowMover;
  readonly aliasMover: AliasMover;
}

/** Applies a correction. Returns whether viewers are to be told. */
export function* applyCorrection(
  memory: CorrectedMemory,
  entry: CorrectionEntry,
  sequence: number,
): Steps<boolean> {
  const { batches, corrections } = memory;
  const effect = corrections.apply(entry, sequence);
  if (effect === null) return false;
  const places = performEffect(memory, effect, sequence);
  return yield* showInSteps(batches, places, sequence, earliestMs(effect));
}

/**
 * Publishes devices whose records from an instant on come or go, in steps, which end at null, too. Returns whether
 * viewers are to be told.
 */
export function* showInSteps(
  batches: BatchWriter,
  places: Iterable<ChangedPlace | null>,
  sequence: number,
  fromMs: number,
): Steps<boolean> {
  const views = new Map<DeviceId, CorrectedView>();
  const last = new Map<DeviceId, ChangedPlace>();
  let rows = 0;
  for (const place of places) {
    if (place === null) {
      yield;
      continue;
    }
    const { deviceId } = place;
    const view = views.get(deviceId) ?? { sequence, fromMs, beforeMs: null, isChanged: false };
    batches.showCorrected(place, view);
    views.set(deviceId, view);
    last.set(deviceId, place);
    rows += place.rows;
    if (rows < STEP_ROWS) continue;
    rows = 0;
    yield;
  }
  let isChanged = false;
  for (const [deviceId, place] of last) {
    isChanged = batches.noteCorrected(place, views.get(deviceId)!) || isChanged;
    if (++rows % STEP_ROWS === 0) yield;
  }
  return isChanged;
}

/** The earliest instant of the records that an effect changes. */
function earliestMs(effect: Effect): number {
  if (isAliasEffect(effect)) return Number.NEGATIVE_INFINITY;
  const { item, hidden, covered } = effect;
  const times = [covered, targetTimes(item), ...hidden.map(({ timestampMs }) => timestampMs)];
  return Math.min(...times.map((sorted) => sorted?.[0] ?? Infinity));
}

/** Performs a correction in steps, after each of which a device is to be published. */
export function* performEffect(
  memory: CorrectedMemory,
  effect: Effect,
  sequence: number,
): Iterable<ChangedPlace> {
  for (const place of changesOf(memory, effect, sequence)) {
    memory.corrections.noteMove(effect.appId);
    yield place;
  }
}

function* changesOf(
  { corrections, mover, aliasMover }: CorrectedMemory,
  effect: Effect,
  sequence: number,
): Iterable<ChangedPlace> {
  if (isAliasEffect(effect)) {
    yield* aliasMover.perform(effect, () => corrections.link(effect));
    corrections.commit(effect, sequence);
    return;
  }
  yield* mover.perform(effect);
  corrections.commit(effect, sequence);
  yield* mover.followAliases(effect);
}

/** Empties corrections all of whose records have expired. Viewers are told nothing, since answers don't change. */
export function* forgetCorrected(
  { batches, corrections, mover }: Omit<CorrectedMemory, "aliasMover">,
  beforeMs: number,
  sequence: number,
): Iterable<void> {
  for (const [appId, item] of corrections.expired(beforeMs)) {
    const effect = corrections.empty(appId, item);
    if (effect === null) continue;
    for (const place of mover.perform(effect)) {
      corrections.noteMove(appId);
      batches.showCorrected(place, { sequence, fromMs: beforeMs, beforeMs: null, isChanged: true });
      yield;
    }
  }
}

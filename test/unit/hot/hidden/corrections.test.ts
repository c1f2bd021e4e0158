import { expect, test } from "bun:test";
import { type CorrectionEffect, Corrections, isAliasEffect } from "../../../../src/hot/hidden/corrections.ts";
import { viewsOf } from "../../../../src/lib/frames/views.ts";
import type { Correction } from "../../../../src/model/correction.ts";
import type { CorrectionEntry } from "../../../../src/model/correction-entry.ts";
import { correctionEntries, undoEntry } from "../../../../src/model/correction-pieces.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { decodeStandingEntry, encodeStandingEntry } from "../../../../src/model/standing-entry.ts";
import * as fc from "../../../support/fast-check.ts";

const APP = "app" as AppId;
const NEWEST = { timestamp: 1_700_000_000_000, latitude: 1, longitude: -2.5, type: "MOVING", is_mock: false };

/** The entry as a log or a file gives it back. */
function written(entry: CorrectionEntry): CorrectionEntry {
  const bytes = encodeStandingEntry(entry, 0);
  return decodeStandingEntry(viewsOf(bytes), 0, bytes.length, "a file") as CorrectionEntry;
}

function hide(id: string, deviceId: string, times: readonly number[], previous: number): CorrectionEntry[] {
  const timestampMs = Float64Array.from(times);
  const correction: Correction = {
    ...{ id, action: "hide", deviceId: deviceId as DeviceId, selection: { start: 1 }, note: null },
    ...{ createdMs: 5, createdBy: "key", repetition: null, target: null },
    ...{ records: times.length, firstMs: times[0]!, lastMs: times.at(-1)! },
  };
  const whole = { correction, timestampMs, rows: null, newest: NEWEST, newestOfTarget: null };
  return correctionEntries(APP, previous, whole).map(written);
}

function undo(id: string, previous: number): CorrectionEntry {
  return written(undoEntry(APP, previous, id));
}

function stateOf(corrections: Corrections) {
  const app = corrections.find(APP);
  if (app === null) return null;
  const { number, active, records, byId, hidden, pending } = app;
  return {
    ...{ number, active, records, pending: [...pending.keys()] },
    corrections: [...byId.values()],
    hidden: Object.fromEntries([...hidden].map(([deviceId, { times }]) => [deviceId, times])),
  };
}

/** A correction hides instants of its own; the last choice of each step says how far behind its maker was. */
const steps = fc.array(
  fc.record({
    undoes: fc.boolean(),
    which: fc.nat(5),
    device: fc.constantFrom("a", "b"),
    count: fc.constantFrom(1, 3, 2500),
    behind: fc.constantFrom(0, 0, 0, 1),
    isCut: fc.constantFrom(false, false, false, true),
  }),
  { minLength: 1, maxLength: 12 },
);

/** Applies an entry with its effect. */
function apply(corrections: Corrections, entry: CorrectionEntry, sequence: number): CorrectionEffect | null {
  const effect = corrections.apply(entry, sequence);
  if (effect !== null) corrections.commit(effect, sequence);
  return effect !== null && isAliasEffect(effect) ? null : effect;
}

function logOf(story: readonly StoryStep[]): CorrectionEntry[] {
  const log: CorrectionEntry[] = [];
  const reference = new Corrections();
  story.forEach(({ undoes, which, device, count, behind, isCut }, index) => {
    const number = reference.find(APP)?.number ?? 0;
    const previous = Math.max(0, number - behind);
    const times = Array.from({ length: count }, (_, i) => 1_000_000 * (index + 1) + i);
    const entries = undoes ? [undo(`c${which}`, previous)] : hide(`c${index}`, device, times, previous);
    for (const entry of isCut ? entries.slice(0, -1) : entries) {
      log.push(entry);
      apply(reference, entry, log.length);
    }
  });
  return log;
}

interface StoryStep {
  readonly undoes: boolean;
  readonly which: number;
  readonly device: string;
  readonly count: number;
  readonly behind: number;
  readonly isCut: boolean;
}

test("a start from a seal's file and the rest of the log has what the whole log gives, wherever the file was written", () => {
  fc.assert(
    fc.property(steps, fc.nat(), fc.nat(), (story, atAny, coveredAny) => {
      const log = logOf(story);
      const live = new Corrections();
      const at = atAny % (log.length + 1);
      const covered = coveredAny % (at + 1); // The file may have more than it says.
      log.slice(0, at).forEach((entry, index) => {
        apply(live, entry, index + 1);
      });
      const file = [...live.entries(() => null)].map(written);
      const started = new Corrections();
      for (const entry of file) started.restore(entry);
      started.endRestore(covered);
      log.slice(covered).forEach((entry, index) => {
        apply(started, entry, covered + index + 1);
      });
      log.slice(at).forEach((entry, index) => {
        apply(live, entry, at + index + 1);
      });
      expect(stateOf(started)).toEqual(stateOf(live));
    }),
  );
});

test("an entry that names another number than that of the correction before it has no effect", () => {
  const corrections = new Corrections();
  expect(apply(corrections, hide("x", "a", [1, 2], 0)[0]!, 1)).toMatchObject({
    type: "make",
    hidden: [{ deviceId: "a" }],
  });
  expect(apply(corrections, hide("y", "a", [3], 0)[0]!, 2)).toBeNull();
  expect(apply(corrections, undo("x", 0), 3)).toBeNull();
  expect(corrections.hiddenOf(APP, "a" as DeviceId)?.times).toEqual(Float64Array.of(1, 2));
  expect(apply(corrections, undo("x", 1), 4)).toMatchObject({ type: "undo" });
  expect(corrections.hiddenOf(APP, "a" as DeviceId)).toBeNull();
});

test("a correction takes effect with its last piece, and not if one before it is missing", () => {
  const times = Array.from({ length: 2500 }, (_, i) => i);
  const corrections = new Corrections();
  const [first, second, last] = hide("x", "a", times, 0);
  expect([apply(corrections, first!, 1), apply(corrections, second!, 2)]).toEqual([null, null]);
  expect(corrections.hiddenOf(APP, "a" as DeviceId)).toBeNull();
  expect(apply(corrections, last!, 3)?.item.timestampMs).toEqual(Float64Array.from(times));
  const others = new Corrections();
  apply(others, first!, 1);
  expect(apply(others, last!, 2)).toBeNull();
});

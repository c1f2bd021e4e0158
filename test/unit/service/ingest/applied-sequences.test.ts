import { describe, expect, test } from "bun:test";
import { DeviceProfiles } from "../../../../src/hot/device-profiles.ts";
import type { HotStore } from "../../../../src/hot/hot-store.ts";
import { createAppliedSequences } from "../../../../src/service/ingest/applied-sequences.ts";
import * as fc from "../../../support/fast-check.ts";
import { turns } from "../../../support/turns.ts";

/** Memory that has entries laid over it as it is told. */
function createMemory() {
  let onApplied = (_sequence: number) => {};
  let visibleSequence = 0;
  const hot: Pick<HotStore, "findApp" | "profiles" | "visibleSequence" | "watchApplied"> = {
    findApp: () => null,
    profiles: new DeviceProfiles(),
    get visibleSequence() {
      return visibleSequence;
    },
    watchApplied(listener) {
      onApplied = listener;
    },
  };
  const sequences = createAppliedSequences(hot);
  const apply = (sequence: number) => {
    visibleSequence = sequence;
    onApplied(sequence);
  };
  return { sequences, apply };
}

const NOBODY = new AbortController().signal;

/** What has been resolved so far. */
async function settled(waits: readonly Promise<boolean>[]): Promise<(boolean | null)[]> {
  const states: (boolean | null)[] = waits.map(() => null);
  for (const [i, wait] of waits.entries()) {
    void wait.then((value) => {
      states[i] = value;
    });
  }
  await turns();
  return states;
}

describe("waitFor()", () => {
  test("resolves at once with what memory has, and later with what comes", async () => {
    const { sequences, apply } = createMemory();
    apply(3);
    const waits = [3, 4, 6, 5].map((sequence) => sequences.waitFor(sequence, NOBODY));
    expect(await settled(waits)).toEqual([true, null, null, null]);
    apply(4);
    expect(await settled(waits)).toEqual([true, true, null, null]);
    apply(9); // Numbers of entries leave some out.
    expect(await settled(waits)).toEqual([true, true, true, true]);
    expect(sequences.current).toBe(9);
  });

  test("is true for whoever waits for no more than what came, in any order", async () => {
    const entries = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(entries, fc.array(fc.nat(60), { maxLength: 20 }), async (steps, asked) => {
        const { sequences, apply } = createMemory();
        const waits = asked.map((sequence) => sequences.waitFor(sequence, NOBODY));
        let last = 0;
        for (const step of steps) {
          last += step;
          apply(last);
        }
        expect(await settled(waits)).toEqual(asked.map((sequence) => (sequence <= last ? true : null)));
      }),
    );
  });

  test("resolves with false for whoever leaves, and for everybody at the end", async () => {
    const { sequences, apply } = createMemory();
    const client = new AbortController();
    const waits = [sequences.waitFor(2, client.signal), sequences.waitFor(3, NOBODY)];
    client.abort();
    expect(await settled(waits)).toEqual([false, null]);
    apply(2); // The least that was waited for is not waited for any more.
    expect(await settled(waits)).toEqual([false, null]);
    sequences.close();
    expect(await settled(waits)).toEqual([false, false]);
    expect(await sequences.waitFor(4, NOBODY)).toBe(false);
    expect(await sequences.waitFor(2, NOBODY)).toBe(true);
    expect(await sequences.waitFor(4, client.signal)).toBe(false);
  });
});

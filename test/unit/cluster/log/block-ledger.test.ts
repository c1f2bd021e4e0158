import { expect, test } from "bun:test";
import { BlockLedger } from "../../../../src/cluster/log/block-ledger.ts";
import type { PendingErasure } from "../../../../src/model/erasure.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import type { UtcDay } from "../../../../src/model/time/utc-day.ts";
import * as fc from "../../../support/fast-check.ts";

/*
 * The ledger against the obvious way: all messages in a list, each with the number of its block.
 */

interface NotedMessage {
  readonly message: number;
  readonly lastSequence: number;
  readonly days: readonly number[];
  readonly bytes: number;
  readonly block: number;
}

type Step =
  | {
      readonly kind: "note";
      readonly gap: number;
      readonly entries: number;
      readonly days: readonly number[];
    }
  | { readonly kind: "end" }
  | { readonly kind: "trim"; readonly covered: readonly (readonly [number, number])[] };

const day = fc.nat(3);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant("note" as const),
        gap: fc.constantFrom(0, 0, 0, 1, 5000),
        entries: fc.constantFrom(1, 2, 1024),
        days: fc.array(day, { maxLength: 3 }),
      }),
    },
    { weight: 2, arbitrary: fc.constant({ kind: "end" as const }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("trim" as const),
        // By day how many of the last messages are not covered.
        covered: fc.array(fc.tuple(day, fc.nat(4))),
      }),
    },
  ),
  { maxLength: 60 },
);

test("BlockLedger says what a list of all messages says", () => {
  fc.assert(
    fc.property(steps, (story) => {
      const ledger = new BlockLedger();
      let list: NotedMessage[] = [];
      let next = 10;
      let block = 0;
      for (const step of story) {
        if (step.kind === "note") {
          const message = next + step.gap;
          const first = list.find((other) => other.block === block)?.message ?? message;
          if (message - first >= 4096) block++;
          const lastSequence = message * 1024 + step.entries - 1;
          const bytes = 8 * (1 + step.days.length);
          list.push({ message, lastSequence, days: step.days, bytes, block });
          const reports = new Map(step.days.map((each) => [each as UtcDay, 1]));
          ledger.note(
            message,
            lastSequence,
            { reports, standingSequence: 0, erasureSequence: 0, refusedBytes: 0 },
            bytes,
          );
          next = message + 1;
        } else if (step.kind === "end") {
          if (list.some((other) => other.block === block)) block++;
          ledger.endBlock();
        } else {
          const edges = new Map(
            step.covered.map(([covered, left]) => [covered, list.at(-1 - left)?.lastSequence ?? 0]),
          );
          const isCovered = (each: number, sequence: number) => sequence <= (edges.get(each) ?? 0);
          const needed = list.find(
            (any) =>
              any.block === block ||
              list.some(
                ({ block: other, days }) =>
                  other === any.block && days.some((each) => !isCovered(each, lastOf(list, other))),
              ),
          );
          list = list.filter(({ message }) => needed !== undefined && message >= needed.message);
          ledger.trim({ isCovered, isExpired: () => false, standingSequence: 0, erasures: [] });
        }
        expectSame(ledger, list, block, next);
      }
    }),
    { numRuns: 300 },
  );
});

function lastOf(list: readonly NotedMessage[], block: number): number {
  return list.findLast((other) => other.block === block)!.lastSequence;
}

function lastDayOf(list: readonly NotedMessage[]): number | null {
  const last = Math.max(...list.flatMap(({ days }) => days));
  return Number.isFinite(last) ? last : null;
}

function expectSame(ledger: BlockLedger, list: readonly NotedMessage[], block: number, next: number): void {
  expect(ledger.floor(next)).toBe(list[0]?.message ?? next);
  expect(ledger.bytes).toBe(list.reduce((sum, { bytes }) => sum + bytes, 0));
  const days = (messages: readonly NotedMessage[]) => new Set(messages.flatMap((message) => message.days));
  expect(new Set<number>(ledger.currentDays)).toEqual(
    days(list.filter((message) => message.block === block)),
  );
  expect<number | null>(ledger.lastDay).toBe(lastDayOf(list));
  for (let each = 0; each < 4; each++) expect(ledger.mayHold(each as UtcDay)).toBe(days(list).has(each));
}

test("trim() gives up a block that is covered up to its last entry, though its message has room for more", () => {
  const ledger = new BlockLedger();
  ledger.note(
    5,
    5 * 1024 + 2,
    { reports: new Map([[7 as UtcDay, 1]]), standingSequence: 0, erasureSequence: 0, refusedBytes: 0 },
    100,
  );
  ledger.endBlock();
  const coveredTo = (sequence: number) => ({
    isCovered: (_: UtcDay, last: number) => last <= sequence,
    isExpired: () => false,
    standingSequence: 0,
    erasures: [],
  });
  ledger.trim(coveredTo(5 * 1024 + 1));
  expect(ledger.floor(6)).toBe(5);
  ledger.trim(coveredTo(5 * 1024 + 2));
  expect(ledger.floor(6)).toBe(6);
});

test("trim() retains a block until the archive has its standing entries", () => {
  const ledger = new BlockLedger();
  ledger.note(
    5,
    5120,
    { reports: new Map(), standingSequence: 5120, erasureSequence: 0, refusedBytes: 0 },
    100,
  );
  ledger.endBlock();
  ledger.note(6, 6144, { reports: new Map(), standingSequence: 0, erasureSequence: 0, refusedBytes: 0 }, 100);
  const coveredTo = (standingSequence: number) => ({
    isCovered: () => true,
    isExpired: () => false,
    standingSequence,
    erasures: [],
  });
  ledger.trim(coveredTo(5119));
  expect(ledger.floor(7)).toBe(5);
  ledger.trim(coveredTo(5120));
  expect(ledger.floor(7)).toBe(6);
});

test("trim() gives up nothing from the block of a pending erasure on", () => {
  const ledger = new BlockLedger();
  for (const message of [5, 6, 7]) {
    const reports = new Map([[3 as UtcDay, 1]]);
    ledger.note(
      message,
      message * 1024,
      { reports, standingSequence: 0, erasureSequence: 0, refusedBytes: 0 },
      100,
    );
    ledger.endBlock();
  }
  const range = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
  const pending = {
    appId: "app" as AppId,
    deviceIds: ["bus" as DeviceId],
    userId: null,
    range,
    sequence: 6 * 1024,
  };
  const covers = (erasures: readonly PendingErasure[]) => ({
    isCovered: () => true,
    isExpired: () => false,
    standingSequence: 7 * 1024,
    erasures,
  });
  ledger.trim(covers([pending]));
  expect(ledger.floor(8)).toBe(6);
  ledger.trim(covers([]));
  expect(ledger.floor(8)).toBe(8);
});

import { describe, expect, test } from "bun:test";
import { type Put, REPORT_MS, type Read, type Row, UNIT_MS, UNIT_REPORTS, unitsOf } from "./history.ts";
import { findReadFaults } from "./reads.ts";
import { findReceiptFaults } from "./receipts.ts";
import { checkRound } from "./rounds.ts";

/*
 * Goal: every kind of fault that a cluster may have is found, and what is right, however unlikely, is not called one.
 * Method: histories by hand, right ones and wrong ones, of one device.
 */

const FIRST_MS = 1_000_000;

/** A batch that took 10 ms from `startMs`, and was new. */
function put(sequence: number, value: number, rest: Partial<Put> = {}): Put {
  const startMs = rest.startMs ?? sequence * 100;
  return {
    kind: "put",
    device: "d",
    unit: 0,
    value,
    node: 0,
    startMs,
    endMs: startMs + 10,
    outcome: "ok",
    accepted: UNIT_REPORTS,
    duplicates: 0,
    sequence,
    ...rest,
  };
}

const REPEAT = { accepted: 0, duplicates: UNIT_REPORTS };

function lostSight(startMs: number, value: number): Put {
  return put(0, value, { startMs, endMs: null, outcome: "unknown", accepted: 0 });
}

/** All reports of a unit. */
function rows(value: number, unit = 0): Row[] {
  const startMs = FIRST_MS + unit * UNIT_MS;
  return Array.from({ length: UNIT_REPORTS }, (_, index) => ({
    timestamp: startMs + index * REPORT_MS,
    value,
  }));
}

function read(minSequence: number, found: readonly Row[], rest: Partial<Read> = {}): Read {
  const times = { startMs: 10_000, endMs: 10_010 };
  const asked = { node: 1, device: "d", minSequence, sequence: minSequence, isRetry: false };
  return { kind: "read", outcome: "ok", rows: found, ...times, ...asked, ...rest };
}

describe("findReceiptFaults()", () => {
  const faultsOf = (puts: readonly Put[], final: number | null) => findReceiptFaults("d", puts, final, false);

  test("finds nothing wrong with values in order, repeats of the last one, and the last one in the end", () => {
    expect(faultsOf([put(1, 7), put(2, 7, REPEAT), put(3, 8), put(4, 7)], 7)).toEqual([]);
    expect(faultsOf([], null)).toEqual([]);
  });

  test("lets what nobody saw the end of have happened, late, or not at all", () => {
    expect(faultsOf([put(1, 7), lostSight(150, 8)], 7)).toEqual([]);
    expect(faultsOf([put(1, 7), lostSight(150, 8)], 8)).toEqual([]);
    expect(faultsOf([put(1, 7), lostSight(150, 8), put(2, 8, REPEAT)], 8)).toEqual([]);
    expect(faultsOf([lostSight(1, 8), put(1, 7), put(9, 7)], 7)).toEqual([]); // The 8 came between them.
    expect(faultsOf([lostSight(1, 8)], 8)).toEqual([]);
  });

  test("finds an acknowledged batch that is not there in the end, nor anything later", () => {
    expect(faultsOf([put(1, 7)], null)).toEqual(["d: the end found nothing, though the value 7 was there"]);
    expect(faultsOf([put(1, 7), put(2, 8)], 7)).toHaveLength(1);
  });

  test("finds a repeat that was counted as new, and a new one that was counted as a repeat", () => {
    expect(faultsOf([put(1, 7), put(2, 7)], 7)).toEqual([
      "d: entry 2 changed something, though the value 7 was there, the same",
    ]);
    expect(faultsOf([put(1, 7, REPEAT)], 7)).toEqual(["d: entry 1 found 7, though nothing was there"]);
  });

  test("lets a repeat count as new where its day may be archived, and nothing else", () => {
    const ofOld = (puts: readonly Put[], final: number | null) => findReceiptFaults("d", puts, final, true);
    expect(ofOld([put(1, 7), put(2, 7)], 7)).toEqual([]);
    expect(ofOld([put(1, 7, REPEAT)], 7)).toHaveLength(1);
    expect(ofOld([put(1, 7), put(2, 7)], null)).toHaveLength(1);
  });

  test("lets each batch that nobody saw the end of explain one receipt, where it was sent before", () => {
    const twoRepeats = [put(1, 7), put(2, 8, REPEAT), put(3, 7), put(4, 8, REPEAT)];
    expect(faultsOf([...twoRepeats, lostSight(1, 8), lostSight(1, 8)], 8)).toEqual([]);
    expect(faultsOf([...twoRepeats, lostSight(1, 8)], 8)).toHaveLength(1);
    expect(faultsOf([put(1, 7), put(2, 8, REPEAT), lostSight(211, 8)], 8)).toHaveLength(1);
    // The first may take either, and leaves the second the only one that it can have.
    const either = [put(1, 7), put(2, 7), put(3, 9, REPEAT)];
    expect(faultsOf([...either, lostSight(1, 9), lostSight(1, 8)], 9)).toEqual([]);
  });

  test("finds an entry of the log that comes after one which was sent once it was acknowledged", () => {
    expect(faultsOf([put(2, 7, { startMs: 100 }), put(1, 8, { startMs: 200 })], 7)).toEqual([
      "d: entry 2 was acknowledged before entry 1 was sent, which comes first",
    ]);
    expect(faultsOf([put(2, 7, { startMs: 100 }), put(1, 8, { startMs: 105 })], 7)).toEqual([]);
  });

  test("finds two batches at one place, and a batch that was taken in part", () => {
    expect(faultsOf([put(1, 7), put(1, 8, { startMs: 101 })], 8)).toHaveLength(1);
    expect(faultsOf([put(1, 7, { accepted: 1, duplicates: UNIT_REPORTS - 1 })], 7)).toHaveLength(1);
    expect(faultsOf([put(1, 7, { accepted: UNIT_REPORTS - 1 })], 7)).toHaveLength(1);
  });
});

describe("findReadFaults()", () => {
  const puts = [put(1, 7), put(2, 8)];
  const faultsOf = (answer: Read, sent = puts) => findReadFaults(answer, FIRST_MS, new Map([[0, sent]]));

  test("finds nothing wrong with an answer as new as it was asked for, or newer", () => {
    expect(faultsOf(read(2, rows(8)))).toEqual([]);
    expect(faultsOf(read(1, rows(7)))).toEqual([]);
    expect(faultsOf(read(1, rows(8)))).toEqual([]);
    expect(faultsOf(read(0, []))).toEqual([]);
    expect(faultsOf(read(2, rows(9)), [...puts, lostSight(1, 9)])).toEqual([]);
  });

  test("finds an answer that is older than it was asked for, or than it says itself", () => {
    expect(faultsOf(read(2, rows(7)))).toEqual([
      "node 2 on d, unit 0: the answer has 7 and says that it knows entry 2",
    ]);
    expect(faultsOf(read(1, []))).toHaveLength(1);
    expect(faultsOf(read(0, rows(7), { sequence: 2 }))).toHaveLength(1);
    expect(faultsOf(read(2, rows(8), { sequence: 1 }))).toEqual([
      "node 2 on d was asked for entry 2 and says 1",
    ]);
    expect(faultsOf(read(2, rows(8), { sequence: Number.NaN }))).not.toEqual([]);
  });

  test("finds what nobody had sent by then", () => {
    expect(faultsOf(read(2, rows(9)))).toHaveLength(1);
    expect(faultsOf(read(2, rows(9)), [...puts, lostSight(20_000, 9)])).toHaveLength(1);
    expect(faultsOf(read(2, [...rows(8), ...rows(1, 5)]))).toEqual(["node 2 on d: unit 5 was never sent"]);
  });

  test("finds a batch that is there in part, as two, or twice", () => {
    expect(faultsOf(read(2, rows(8).slice(1)))).toHaveLength(1);
    expect(faultsOf(read(2, [...rows(7).slice(0, 1), ...rows(8).slice(1)]))).not.toEqual([]);
    expect(faultsOf(read(2, [...rows(8), ...rows(8).slice(0, 1)]))).toHaveLength(1);
  });

  test("asks nothing of an answer that failed", () => {
    expect(faultsOf(read(2, [], { outcome: "unknown" }))).toEqual([]);
  });
});

describe("checkRound()", () => {
  const verdictOf = (...copies: (readonly Row[])[]) =>
    checkRound({
      puts: [put(1, 7), put(2, 8), put(3, 9, { unit: 1 }), lostSight(5, 4)],
      reads: [read(3, [...rows(8), ...rows(9, 1)])],
      firstMs: FIRST_MS,
      mayBeArchived: false,
      copies: copies.map((found) => new Map([["d", found]])),
    });
  const whole = [...rows(8), ...rows(9, 1)];

  test("counts what was acknowledged, once for all of its repeats, and finds it on every node", () => {
    const expected = { acknowledged: 8, found: [8, 8, 8], lost: 0, twice: 0, faults: [] };
    expect(verdictOf(whole, whole, whole)).toEqual(expected);
  });

  test("finds what one node lacks", () => {
    const verdict = verdictOf(whole, rows(8), whole);
    expect(verdict).toMatchObject({
      found: [8, 4, 8],
      lost: 4,
      faults: ["d, unit 1: the nodes have 9, nothing, 9"],
    });
  });

  test("finds what all of them lack", () => {
    const verdict = verdictOf(rows(8), rows(8), rows(8));
    expect(verdict).toMatchObject({ found: [4, 4, 4], lost: 4 });
    expect(verdict.faults).toHaveLength(1);
  });

  test("finds nodes that differ, though each could be right", () => {
    const other = [...rows(4), ...rows(9, 1)];
    expect(verdictOf(other, other, other).faults).toEqual([]);
    expect(verdictOf(whole, other, whole).faults).toEqual(["d, unit 0: the nodes have 8, 4, 8"]);
  });

  test("finds what a node has twice", () => {
    const verdict = verdictOf(whole, [...whole, ...rows(8)], whole);
    expect(verdict).toMatchObject({ found: [8, 8, 8], lost: 0, twice: 4 });
    expect(verdict.faults).toHaveLength(4);
  });
});

test("unitsOf() tells units apart by time", () => {
  const { values, faults, twice } = unitsOf("d", FIRST_MS, [...rows(3), ...rows(4, 2)]);
  expect([[...values], faults, twice]).toEqual([
    [
      [0, 3],
      [2, 4],
    ],
    [],
    0,
  ]);
});

import { type Put, type Read, type Row, UNIT_REPORTS, unitsOf } from "./history.ts";
import { findReadFaults } from "./reads.ts";
import { findReceiptFaults } from "./receipts.ts";

/** What clients did in a round, and what each node has of it once it has caught up. */
export interface RoundHistory {
  readonly puts: readonly Put[];
  readonly reads: readonly Read[];
  /** When the first report of every device was. */
  readonly firstMs: number;
  /** Whether that is longer ago than what memory keeps. */
  readonly mayBeArchived: boolean;
  /** Of each node: the rows of every device. */
  readonly copies: readonly ReadonlyMap<string, readonly Row[]>[];
}

export interface RoundVerdict {
  /** Distinct reports that were acknowledged. */
  readonly acknowledged: number;
  /** Of these, how many each node has. */
  readonly found: readonly number[];
  readonly lost: number;
  readonly twice: number;
  readonly faults: readonly string[];
}

/** The checker: receipts, answers, and that nothing which was acknowledged is missing on any node. */
export function checkRound(history: RoundHistory): RoundVerdict {
  const { puts, reads, firstMs, mayBeArchived, copies } = history;
  const devices = byUnit(puts);
  const finals = copies.map((copy) => finalOf(copy, firstMs));
  const faults = finals.flatMap((final, node) => final.faults.map((fault) => `node ${node + 1}: ${fault}`));
  const found = copies.map(() => 0);
  let acknowledged = 0;
  for (const [device, units] of devices) {
    for (const [unit, unitPuts] of units) {
      const name = `${device}, unit ${unit}`;
      const values = finals.map(({ values }) => values.get(device)?.get(unit) ?? null);
      if (new Set(values).size > 1)
        faults.push(`${name}: the nodes have ${values.map((value) => value ?? "nothing").join(", ")}`);
      else faults.push(...findReceiptFaults(name, unitPuts, values[0] ?? null, mayBeArchived));
      if (!unitPuts.some(({ outcome }) => outcome === "ok")) continue;
      acknowledged += UNIT_REPORTS;
      copies.forEach((_, node) => {
        found[node]! += Math.min(UNIT_REPORTS, finals[node]!.counts.get(device)?.get(unit) ?? 0);
      });
    }
  }
  for (const read of reads)
    faults.push(...findReadFaults(read, firstMs, devices.get(read.device) ?? new Map()));
  return {
    acknowledged,
    found,
    lost: acknowledged - Math.min(acknowledged, ...found),
    twice: finals.reduce((sum, final) => sum + final.twice, 0),
    faults,
  };
}

function byUnit(puts: readonly Put[]): Map<string, Map<number, Put[]>> {
  const devices = new Map<string, Map<number, Put[]>>();
  for (const put of puts) {
    const units = devices.get(put.device) ?? new Map<number, Put[]>();
    devices.set(put.device, units);
    const unitPuts = units.get(put.unit) ?? [];
    units.set(put.unit, unitPuts);
    unitPuts.push(put);
  }
  return devices;
}

/** What a node has of all devices, by unit. */
function finalOf(copy: ReadonlyMap<string, readonly Row[]>, firstMs: number) {
  const values = new Map<string, ReadonlyMap<number, number>>();
  const counts = new Map<string, ReadonlyMap<number, number>>();
  const faults: string[] = [];
  let twice = 0;
  for (const [device, rows] of copy) {
    const units = unitsOf(device, firstMs, rows);
    values.set(device, units.values);
    counts.set(device, units.counts);
    faults.push(...units.faults);
    twice += units.twice;
  }
  return { values, counts, faults, twice };
}

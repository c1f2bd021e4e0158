import { type Put, type Read, unitsOf } from "./history.ts";

/*
 * Whether an answer knows of everything up to the entry that its question asked for, and up to the one that it names
 * itself, and of nothing that nobody had sent.
 */

/** What is wrong with one answer; `putsOf` are all of the device's, by unit. */
export function findReadFaults(
  read: Read,
  firstMs: number,
  putsOf: ReadonlyMap<number, readonly Put[]>,
): string[] {
  if (read.outcome !== "ok") return [];
  const { device, node, minSequence, sequence } = read;
  const name = `node ${node + 1} on ${device}`;
  const faults: string[] = [];
  if (!(sequence >= minSequence))
    faults.push(`${name} was asked for entry ${minSequence} and says ${sequence}`);
  const units = unitsOf(device, firstMs, read.rows);
  faults.push(...units.faults.map((fault) => `node ${node + 1}: ${fault}`));
  const known = Math.max(minSequence, sequence);
  for (const [unit, puts] of putsOf) {
    const value = units.values.get(unit) ?? null;
    if (!allowed(read, known, puts).includes(value))
      faults.push(
        `${name}, unit ${unit}: the answer has ${value ?? "nothing"} and says that it knows entry ${known}`,
      );
  }
  for (const unit of units.values.keys())
    if (!putsOf.has(unit)) faults.push(`${name}: unit ${unit} was never sent`);
  return faults;
}

/** The values that a unit may have: of the last entry that must be known, or of what may come after it. */
function allowed(read: Read, known: number, puts: readonly Put[]): (number | null)[] {
  let base: Put | null = null;
  for (const put of puts) {
    if (put.outcome === "ok" && put.sequence <= known && put.sequence > (base?.sequence ?? -1)) base = put;
  }
  const later = puts.filter(
    ({ outcome, sequence, startMs }) =>
      startMs <= read.endMs! && (outcome === "unknown" || (outcome === "ok" && sequence > known)),
  );
  return [base?.value ?? null, ...later.map(({ value }) => value)];
}

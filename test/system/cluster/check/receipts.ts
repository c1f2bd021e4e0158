import { type Put, UNIT_REPORTS } from "./history.ts";

/*
 * Whether receipts are those of a single order that respects time. Answers name their places in it; what nobody knows
 * the end of may be at any place after its beginning, or nowhere. A receipt says whether the unit had another value
 * before, so each either follows from the receipt before it or needs one of the unknown between them; that these
 * suffice, each for one, is a matching.
 */

/**
 * What is wrong with the receipts of one unit; `final` is its value in the end, null where there is none. Where its day
 * `mayBeArchived` a repeat may count as new: a node does not compare reports with its archive.
 */
export function findReceiptFaults(
  name: string,
  puts: readonly Put[],
  final: number | null,
  mayBeArchived: boolean,
): string[] {
  const receipts = puts.filter(({ outcome }) => outcome === "ok").sort((a, b) => a.sequence - b.sequence);
  const unknown = puts.filter(({ outcome }) => outcome === "unknown");
  const faults = [...findMixed(name, receipts), ...findDisorder(name, receipts)];
  if (faults.length > 0) return faults;
  const places = placesOf(receipts, final);
  const needs = places.filter((place) => !follows(place, mayBeArchived));
  const unmet = unmatched(needs, unknown);
  return unmet.map(({ value, isChange, before, what }) => {
    const was = before === null ? "nothing" : `the value ${before}`;
    return isChange
      ? `${name}: ${what} changed something, though ${was} was there, the same`
      : `${name}: ${what} ${value === null ? "found nothing" : `found ${value}`}, though ${was} was there`;
  });
}

function findMixed(name: string, receipts: readonly Put[]): string[] {
  return receipts
    .filter(({ accepted, duplicates }) => {
      const isWhole = accepted === 0 || duplicates === 0;
      return !isWhole || accepted + duplicates !== UNIT_REPORTS;
    })
    .map(
      ({ accepted, duplicates, value }) =>
        `${name}: the batch with ${value} was answered with ${accepted} accepted and ${duplicates} duplicates`,
    );
}

function findDisorder(name: string, receipts: readonly Put[]): string[] {
  const faults: string[] = [];
  let latest: Put | null = null;
  receipts.forEach((put, index) => {
    const before = receipts[index - 1];
    if (before?.sequence === put.sequence)
      faults.push(`${name}: two batches have the same place in the log, ${put.sequence}`);
    if (latest !== null && put.endMs! < latest.startMs)
      faults.push(
        `${name}: entry ${put.sequence} was acknowledged before entry ${latest.sequence} was sent, which comes first`,
      );
    if (latest === null || put.startMs > latest.startMs) latest = put;
  });
  return faults;
}

/** A moment in the order: what was there before, as receipts tell, and what was found. */
interface Place {
  readonly before: number | null;
  readonly value: number | null;
  readonly isChange: boolean;
  /** Whatever comes before it was sent before that. */
  readonly endMs: number;
  readonly what: string;
}

function placesOf(receipts: readonly Put[], final: number | null): Place[] {
  const last = receipts.at(-1)?.value ?? null;
  const places: Place[] = [
    { before: last, value: final, isChange: false, endMs: Number.POSITIVE_INFINITY, what: "the end" },
  ];
  let endMs = Number.POSITIVE_INFINITY;
  for (let index = receipts.length - 1; index >= 0; index--) {
    const { value, accepted, sequence, endMs: ownEndMs } = receipts[index]!;
    endMs = Math.min(endMs, ownEndMs!);
    const before = receipts[index - 1]?.value ?? null;
    places.unshift({ before, value, isChange: accepted > 0, endMs, what: `entry ${sequence}` });
  }
  return places;
}

function follows({ before, value, isChange }: Place, mayBeArchived: boolean): boolean {
  return isChange ? mayBeArchived || before !== value : before === value;
}

/** Places that none of the unknown can explain, where each explains one at most. */
function unmatched(needs: readonly Place[], unknown: readonly Put[]): Place[] {
  const takenBy = new Map<Put, Place>();

  function explain(place: Place, tried: Set<Put>): boolean {
    for (const put of unknown) {
      const explains = place.isChange ? put.value !== place.value : put.value === place.value;
      if (!explains || put.startMs > place.endMs || tried.has(put)) continue;
      tried.add(put);
      const other = takenBy.get(put);
      if (other !== undefined && !explain(other, tried)) continue;
      takenBy.set(put, place);
      return true;
    }
    return false;
  }

  return needs.filter((place) => !explain(place, new Set()));
}

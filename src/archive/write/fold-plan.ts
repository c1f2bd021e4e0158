import type { Part } from "../manifest.ts";

/*
 * Which new parts take the place of a day's, once rows are laid over it. A part is rewritten only where a record
 * changes. Each fold may add a small part; when there are too many, the smallest become one.
 */

/** About 6 to 10 MB of file, and what DuckDB sorts within 256 MB with the help of a disk. */
export const PART_ROWS_MAX = 500_000;

/** Small parts, of less than half of the most rows, a day: a query opens every part of its day. */
export const PARTS_PER_DAY_SMALL_MAX = 4;

/** A part of the day, and whether laying the rows over it changes any record. */
export interface FoundPart {
  readonly part: Part;
  /** Its number among the day's parts. */
  readonly index: number;
  readonly isChanged: boolean;
}

/** A range of the rows that no part has, counted from 0. */
export interface NewRows {
  readonly start: number;
  readonly end: number;
}

/** One part to write, of the records of old ones and of new ones. */
export interface FoldOutput {
  readonly sources: readonly FoundPart[];
  readonly newRows: NewRows | null;
}

/** The parts to write; none if nothing changes. */
export function planFold(
  found: readonly FoundPart[],
  newRowCount: number,
  partRowsMax: number,
): FoldOutput[] {
  const changed = found.filter(({ isChanged }) => isChanged);
  if (changed.length === 0 && newRowCount === 0) return [];

  const fresh = newOutputs(newRowCount, partRowsMax);
  const isSmall = (output: FoldOutput) => rowsOf(output) < partRowsMax / 2;
  const small = [...found.map(outputOf), ...fresh].filter(isSmall);
  const merged = mergeSmall(small, partRowsMax);
  const isMerged = new Set(merged.flatMap(({ sources }) => sources));
  const mergesNew = merged.some(({ newRows }) => newRows !== null); // Small new rows are all new rows.
  return [
    ...changed.filter((source) => !isMerged.has(source)).map(outputOf),
    ...merged,
    ...(mergesNew ? [] : fresh),
  ];
}

/** Ranges as equal as can be: if there is more than one, none is small. */
function newOutputs(rows: number, partRowsMax: number): FoldOutput[] {
  const count = Math.ceil(rows / partRowsMax);
  const startOf = (index: number) => Math.floor((index * rows) / count);
  return Array.from({ length: count }, (_, index) => ({
    sources: [],
    newRows: { start: startOf(index), end: startOf(index + 1) },
  }));
}

/**
 * The smallest together as long as they fit, until few enough are left. Two always fit; and where the next does
 * not, what is merged is small no more.
 */
function mergeSmall(small: readonly FoldOutput[], partRowsMax: number): FoldOutput[] {
  const left = [...small].sort((a, b) => rowsOf(a) - rowsOf(b));
  const merged: FoldOutput[] = [];
  while (left.length > PARTS_PER_DAY_SMALL_MAX) {
    let output = left.shift()!;
    while (left.length > 0 && rowsOf(output) + rowsOf(left[0]!) <= partRowsMax) {
      output = joined(output, left.shift()!);
    }
    merged.push(output);
  }
  return merged;
}

function joined(a: FoldOutput, b: FoldOutput): FoldOutput {
  return { sources: [...a.sources, ...b.sources], newRows: a.newRows ?? b.newRows };
}

function outputOf(source: FoundPart): FoldOutput {
  return { sources: [source], newRows: null };
}

function rowsOf({ sources, newRows }: FoldOutput): number {
  const added = newRows === null ? 0 : newRows.end - newRows.start;
  return sources.reduce((sum, { part }) => sum + part.rows, added);
}

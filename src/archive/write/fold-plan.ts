import type { Part } from "../manifest.ts";

// Plans which new parts replace those of a day when rows are merged into it. A part is rewritten only if a record
// changes. Each seal may add a small part; when there are too many small parts, the smallest are merged into one.

/** About 6 to 10 MB of file, and what DuckDB sorts with 256 MB of memory and a disk. */
export const PART_ROWS_MAX = 500_000;

/** The most parts per day with less than half of `PART_ROWS_MAX` rows. A query opens every part of its day. */
export const PARTS_PER_DAY_SMALL_MAX = 4;

/** A part of the day, and whether merging the rows, or erasing some, changes any of its records. */
export interface ComparedPart {
  readonly part: Part;
  /** How many records are left of it. */
  readonly rows: number;
  /** Its index among the day's parts. */
  readonly index: number;
  readonly isChanged: boolean;
}

/** A range of the rows without a record in any part, counted from 0. */
export interface NewRows {
  readonly start: number;
  readonly end: number;
}

/** One part to write, from the records of old parts and new rows. Without any row there is nothing to write. */
export interface FoldOutput {
  readonly sources: readonly ComparedPart[];
  readonly newRows: NewRows | null;
}

/**
 * The parts to write; empty if nothing changes. Parts of which nothing is left join the last one, whose file tells what
 * it replaces: if the manifest is lost, it is rebuilt without them.
 */
export function planFold(
  parts: readonly ComparedPart[],
  newRowCount: number,
  partRowsMax: number,
): FoldOutput[] {
  const left = parts.filter(({ rows }) => rows > 0);
  const outputs = planOutputs(left, newRowCount, partRowsMax);
  const emptied = parts.filter(({ rows }) => rows === 0);
  if (emptied.length === 0) return outputs;
  const [smallest] = left.toSorted((a, b) => a.rows - b.rows);
  const last = outputs.pop() ?? { sources: smallest === undefined ? [] : [smallest], newRows: null };
  return [...outputs, { ...last, sources: [...last.sources, ...emptied] }];
}

function planOutputs(parts: readonly ComparedPart[], newRowCount: number, partRowsMax: number): FoldOutput[] {
  const changed = parts.filter(({ isChanged }) => isChanged);
  if (changed.length === 0 && newRowCount === 0) return [];

  const fresh = newOutputs(newRowCount, partRowsMax);
  const isSmall = (output: FoldOutput) => rowsOf(output) < partRowsMax / 2;
  const small = [...parts.map(outputOf), ...fresh].filter(isSmall);
  const merged = mergeSmall(small, partRowsMax);
  const isMerged = new Set(merged.flatMap(({ sources }) => sources));
  const mergesNew = merged.some(({ newRows }) => newRows !== null); // New rows that are small are in one output.
  return [
    ...changed.filter((source) => !isMerged.has(source)).map(outputOf),
    ...merged,
    ...(mergesNew ? [] : fresh),
  ];
}

/** Divides new rows into ranges as equal as possible: if there is more than one, none is small. */
function newOutputs(rows: number, partRowsMax: number): FoldOutput[] {
  const count = Math.ceil(rows / partRowsMax);
  const startOf = (index: number) => Math.floor((index * rows) / count);
  return Array.from({ length: count }, (_, index) => ({
    sources: [],
    newRows: { start: startOf(index), end: startOf(index + 1) },
  }));
}

/**
 * Merges the smallest outputs as long as they fit, until few enough small ones are left. Two always fit; and if the
 * next one does not, the merged output is not small any more.
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

function outputOf(source: ComparedPart): FoldOutput {
  return { sources: [source], newRows: null };
}

export function rowsOf({ sources, newRows }: FoldOutput): number {
  const added = newRows === null ? 0 : newRows.end - newRows.start;
  return sources.reduce((sum, { rows }) => sum + rows, added);
}

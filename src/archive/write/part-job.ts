import { crc32 } from "node:zlib";
import type { AppId } from "../../model/ids.ts";
import type { Files } from "../../runtime/files.ts";
import type { Part } from "../manifest.ts";
import type { PartConnection, PartEngine } from "./engine/part-engine.ts";
import { type FoldOutput, type FoundPart, type NewRows, PART_ROWS_MAX } from "./fold-plan.ts";
import {
  COUNT_NEW,
  CREATE_SHARED,
  columnsSql,
  copySql,
  countAppsSql,
  createFixesSql,
  createStagedSql,
  FIX_TABLE,
  insertSharedSql,
  newRecordsSql,
  overlaidRecordsSql,
  type PartMetadata,
  partRecordsSql,
  SELECT_CHANGED_PARTS,
  selectNewRowSql,
  sortedSql,
} from "./part-sql.ts";
import { type DayRows, type StagedPath, splitFixes, stageRows } from "./row-stager.ts";
import { readStagedSql } from "./staged-rows.ts";

/** A part that was made, and is nowhere yet. */
export interface MadePart {
  readonly bytes: Uint8Array;
  readonly rows: number;
  readonly apps: ReadonlyMap<AppId, number>;
  /** Parts whose records are all in this one. */
  readonly replaces: readonly Part[];
}

/** Puts a part in place; the next is made after it resolves, so that one part is in memory at a time. */
export type KeepPart = (made: MadePart) => Promise<void>;

/** What a part is made with: its metadata, and the parts it replaces. */
export interface PartOrigin extends PartMetadata {
  readonly replaces: readonly Part[];
}

export interface PartJobOptions {
  /** The scratch disk, and that of the parts. */
  readonly files: Files;
  /** Where a part lies. */
  pathOf(part: Part): string;
  /** May read the parts, and read and write the scratch directory. */
  readonly engine: PartEngine;
  readonly partRowsMax?: number;
}

/** Makes parts over one connection, with scratch files whose names begin with a path of its own. */
export interface PartJob {
  readonly partRowsMax: number;
  /** Rows that lie over nothing become parts as they come. */
  writeStaged(
    rows: AsyncIterable<DayRows>,
    asRecords: boolean,
    originOf: (isLast: boolean) => PartOrigin,
    keep: KeepPart,
  ): Promise<void>;
  /** Makes the table `staged`, and `fixes` if rows have several; false if there are no rows. */
  loadStaged(rows: AsyncIterable<DayRows>): Promise<boolean>;
  /** What laying the staged rows over these parts would do. */
  compare(parts: readonly Part[]): Promise<{ found: FoundPart[]; newRowCount: number }>;
  writeOutput(output: FoldOutput, origin: PartOrigin, keep: KeepPart): Promise<void>;
}

export function createPartJob(
  { files, pathOf, engine, partRowsMax = PART_ROWS_MAX }: PartJobOptions,
  scratchPath: string,
  connection: PartConnection,
): PartJob {
  let scratchFiles = 0;
  /** The table of fixes, once rows with several are staged. */
  let fixTable: string | null = null;

  function newPath(extension: string): string {
    return `${scratchPath}${++scratchFiles}.${extension}`;
  }

  function stage(rows: AsyncIterable<DayRows>): AsyncGenerator<StagedPath> {
    return stageRows(rows, { engine, rowsMax: partRowsMax, newPath: () => newPath("csv") });
  }

  async function writePart(query: string, origin: PartOrigin, keep: KeepPart): Promise<void> {
    const path = newPath("parquet");
    await connection.run(copySql(query, path, origin));
    const apps = (await connection.counts(countAppsSql(path))) as ReadonlyMap<AppId, number>;
    const bytes = await files.read(path);
    await files.remove(path);
    const rows = apps.values().reduce((sum, count) => sum + count, 0);
    await keep({ bytes, rows, apps, replaces: origin.replaces });
  }

  /**
   * DuckDB reads over most flipped bits without a word, and a new part would carry on what it read under a good
   * checksum.
   */
  async function checkPart(part: Part): Promise<void> {
    const path = pathOf(part);
    const crc = crc32(await files.read(path));
    if (crc !== part.crc)
      throw new Error(`Part "${path}" is damaged: expected CRC ${part.crc}, found ${crc}`);
  }

  async function newRecords({ start, end }: NewRows): Promise<string> {
    return newRecordsSql(await numberOf(selectNewRowSql(start)), await numberOf(selectNewRowSql(end - 1)));
  }

  async function numberOf(sql: string): Promise<number> {
    return (await connection.numbers(sql))[0]!;
  }

  return {
    partRowsMax,

    async writeStaged(rows, asRecords, originOf, keep) {
      for await (const { path, isLast } of stage(rows)) {
        const query = `SELECT ${columnsSql(asRecords)} FROM ${readStagedSql([path])}`;
        await writePart(query, originOf(isLast), keep);
        await files.remove(path);
      }
    },

    async loadStaged(rows) {
      const split = splitFixes(rows, { engine, newPath: () => newPath("csv") });
      const paths = await Array.fromAsync(stage(split.rows), ({ path }) => path);
      if (paths.length === 0) return false;
      await connection.run(createStagedSql(paths));
      const fixPath = split.path();
      if (fixPath !== null) {
        fixTable = FIX_TABLE;
        await connection.run(createFixesSql(fixPath));
        paths.push(fixPath);
      }
      for (const path of paths) await files.remove(path);
      return true;
    },

    async compare(parts) {
      await connection.run(CREATE_SHARED);
      for (const [index, part] of parts.entries()) {
        await checkPart(part);
        await connection.run(insertSharedSql(index, pathOf(part), fixTable));
      }
      const changed = new Set(await connection.numbers(SELECT_CHANGED_PARTS));
      const found = parts.map((part, index) => ({ part, index, isChanged: changed.has(index) }));
      return { found, newRowCount: await numberOf(COUNT_NEW) };
    },

    async writeOutput({ sources, newRows }, origin, keep) {
      const queries = sources.map(({ part, index, isChanged }) =>
        isChanged ? overlaidRecordsSql(index, pathOf(part), fixTable) : partRecordsSql(pathOf(part)),
      );
      if (newRows !== null) queries.push(await newRecords(newRows));
      await writePart(sortedSql(queries), origin, keep);
    },
  };
}

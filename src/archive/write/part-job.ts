import { crc32 } from "node:zlib";
import type { AppId } from "../../model/ids.ts";
import type { Files } from "../../runtime/files.ts";
import type { Part } from "../manifest.ts";
import type { PartConnection, PartEngine } from "./engine/part-engine.ts";
import { type ComparedPart, type FoldOutput, type NewRows, PART_ROWS_MAX } from "./fold-plan.ts";
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

/** A new part that is not stored yet. */
export interface NewPart {
  readonly bytes: Uint8Array;
  readonly rows: number;
  readonly apps: ReadonlyMap<AppId, number>;
  /** Parts whose records are all in this one. */
  readonly replaces: readonly Part[];
}

/** Stores a part. The next one is made after it resolves, so that one part at a time is in memory. */
export type StorePart = (part: NewPart) => Promise<void>;

/** The metadata of a part, and the parts it replaces. */
export interface PartOrigin extends PartMetadata {
  readonly replaces: readonly Part[];
}

export interface PartJobOptions {
  /** The disk of the scratch directory and the parts. */
  readonly files: Files;
  pathOf(part: Part): string;
  /** Must be allowed to read the parts, and to read and write the scratch directory. */
  readonly engine: PartEngine;
  readonly partRowsMax?: number;
}

/** Makes parts over one connection, with scratch files whose paths begin with the job's prefix. */
export interface PartJob {
  readonly partRowsMax: number;
  /** Writes rows of a day without parts as new parts, or, unless `asRecords`, rows as they are. */
  writeStaged(
    rows: AsyncIterable<DayRows>,
    asRecords: boolean,
    originOf: (isLast: boolean) => PartOrigin,
    store: StorePart,
  ): Promise<void>;
  /** Creates the table `staged`, and `fixes` if a row has several fixes. False if there are no rows. */
  loadStaged(rows: AsyncIterable<DayRows>): Promise<boolean>;
  /** Compares the staged rows with these parts. */
  compare(parts: readonly Part[]): Promise<{ compared: ComparedPart[]; newRowCount: number }>;
  writeOutput(output: FoldOutput, origin: PartOrigin, store: StorePart): Promise<void>;
}

export function createPartJob(
  { files, pathOf, engine, partRowsMax = PART_ROWS_MAX }: PartJobOptions,
  scratchPath: string,
  connection: PartConnection,
): PartJob {
  let scratchFiles = 0;
  /** Set once there is a table of fixes. */
  let fixTable: string | null = null;

  function newPath(extension: string): string {
    return `${scratchPath}${++scratchFiles}.${extension}`;
  }

  function stage(rows: AsyncIterable<DayRows>): AsyncGenerator<StagedPath> {
    return stageRows(rows, { engine, rowsMax: partRowsMax, newPath: () => newPath("csv") });
  }

  async function writePart(query: string, origin: PartOrigin, store: StorePart): Promise<void> {
    const path = newPath("parquet");
    await connection.run(copySql(query, path, origin));
    const apps = (await connection.counts(countAppsSql(path))) as ReadonlyMap<AppId, number>;
    const bytes = await files.read(path);
    await files.remove(path);
    const rows = apps.values().reduce((sum, count) => sum + count, 0);
    await store({ bytes, rows, apps, replaces: origin.replaces });
  }

  /** DuckDB does not notice most flipped bits, and the new part would get a valid checksum over them. */
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

    async writeStaged(rows, asRecords, originOf, store) {
      for await (const { path, isLast } of stage(rows)) {
        const query = `SELECT ${columnsSql(asRecords)} FROM ${readStagedSql([path])}`;
        await writePart(query, originOf(isLast), store);
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
      const compared = parts.map((part, index) => ({ part, index, isChanged: changed.has(index) }));
      return { compared, newRowCount: await numberOf(COUNT_NEW) };
    },

    async writeOutput({ sources, newRows }, origin, store) {
      const queries = sources.map(({ part, index, isChanged }) =>
        isChanged ? overlaidRecordsSql(index, pathOf(part), fixTable) : partRecordsSql(pathOf(part)),
      );
      if (newRows !== null) queries.push(await newRecords(newRows));
      await writePart(sortedSql(queries), origin, store);
    },
  };
}

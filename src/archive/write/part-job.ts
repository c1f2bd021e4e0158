import { crc32 } from "node:zlib";
import type { PendingErasure } from "../../model/erasure.ts";
import type { AppId } from "../../model/ids.ts";
import type { Files } from "../../runtime/files.ts";
import type { Part } from "../manifest.ts";
import type { PartConnection, PartEngine } from "./engine/part-engine.ts";
import { type ComparedPart, type FoldOutput, type NewRows, PART_ROWS_MAX } from "./fold-plan.ts";
import {
  COUNT_NEW,
  CREATE_ERASED,
  CREATE_SHARED,
  columnsSql,
  copySql,
  countAppsSql,
  countErasedSql,
  createFixesSql,
  createStagedSql,
  erasedValues,
  FIX_TABLE,
  insertSharedSql,
  newRecordsSql,
  overlaidRecordsSql,
  type PartMetadata,
  partRecordsSql,
  partTable,
  SELECT_CHANGED_PARTS,
  selectNewRowSql,
  sortedSql,
  withoutErased,
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

/** How many records of parts are erased, by the sequence of the erasure. Parts without any are absent. */
export type ErasedCounts = ReadonlyMap<Part, ReadonlyMap<number, number>>;

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
  /** Erases records of these parts from what follows. Resolves with how many of which, by erasure. */
  erase(parts: readonly Part[], erasures: readonly PendingErasure[]): Promise<ErasedCounts>;
  /** Creates the table `staged`, and `fixes` if a row has several fixes. False if there are no rows. */
  loadStaged(rows: AsyncIterable<DayRows>): Promise<boolean>;
  /** Compares the staged rows, if there are any, with these parts. */
  compare(parts: readonly Part[]): Promise<{ compared: ComparedPart[]; newRowCount: number }>;
  writeOutput(output: FoldOutput, origin: PartOrigin, store: StorePart): Promise<void>;
}

export function createPartJob(
  options: PartJobOptions,
  scratchPath: string,
  connection: PartConnection,
): PartJob {
  return new Job(options, scratchPath, connection);
}

class Job implements PartJob {
  readonly partRowsMax: number;
  readonly #options: PartJobOptions;
  readonly #scratchPath: string;
  readonly #connection: PartConnection;
  #scratchFiles = 0;
  /** Set once there is a table of fixes. */
  #fixTable: string | null = null;
  #isStaged = false;
  /** Indexes of parts that staged rows change. */
  #overlaid: ReadonlySet<number> = new Set();
  readonly #checked = new Set<Part>();
  readonly #erased = new Map<Part, ReadonlyMap<number, number>>();

  constructor(options: PartJobOptions, scratchPath: string, connection: PartConnection) {
    this.partRowsMax = options.partRowsMax ?? PART_ROWS_MAX;
    this.#options = options;
    this.#scratchPath = scratchPath;
    this.#connection = connection;
  }

  async writeStaged(
    rows: AsyncIterable<DayRows>,
    asRecords: boolean,
    originOf: (isLast: boolean) => PartOrigin,
    store: StorePart,
  ): Promise<void> {
    for await (const { path, isLast, isSorted } of this.#stage(rows)) {
      const query = `SELECT ${columnsSql(asRecords)} FROM ${readStagedSql([path])}`;
      await this.#writePart(isSorted ? query : sortedSql([query]), originOf(isLast), store);
      await this.#options.files.remove(path);
    }
  }

  async erase(parts: readonly Part[], erasures: readonly PendingErasure[]): Promise<ErasedCounts> {
    await this.#connection.run(CREATE_ERASED, erasedValues(erasures));
    for (const part of parts) {
      if (!erasures.some(({ appId }) => part.apps.has(appId))) continue;
      await this.#checkPart(part);
      const counts = await this.#connection.counts(countErasedSql(this.#options.pathOf(part)));
      if (counts.size > 0)
        this.#erased.set(part, new Map([...counts].map(([erasure, count]) => [Number(erasure), count])));
    }
    return this.#erased;
  }

  async loadStaged(rows: AsyncIterable<DayRows>): Promise<boolean> {
    const { files, engine } = this.#options;
    const split = splitFixes(rows, { engine, newPath: () => this.#newPath("csv") });
    const paths = await Array.fromAsync(this.#stage(split.rows), ({ path }) => path);
    if (paths.length === 0) return false;
    await this.#connection.run(createStagedSql(paths));
    const fixPath = split.path();
    if (fixPath !== null) {
      this.#fixTable = FIX_TABLE;
      await this.#connection.run(createFixesSql(fixPath));
      paths.push(fixPath);
    }
    for (const path of paths) await files.remove(path);
    this.#isStaged = true;
    return true;
  }

  async compare(parts: readonly Part[]): Promise<{ compared: ComparedPart[]; newRowCount: number }> {
    if (this.#isStaged) {
      await this.#connection.run(CREATE_SHARED);
      for (const [index, part] of parts.entries()) {
        await this.#checkPart(part);
        await this.#connection.run(insertSharedSql(index, this.#tableOf(part), this.#fixTable));
      }
      this.#overlaid = new Set(await this.#connection.numbers(SELECT_CHANGED_PARTS));
    }
    const compared = parts.map((part, index) => {
      const isChanged = this.#overlaid.has(index) || this.#erased.has(part);
      return { part, index, isChanged, rows: this.#rowsLeft(part) };
    });
    return { compared, newRowCount: this.#isStaged ? await this.#numberOf(COUNT_NEW) : 0 };
  }

  async writeOutput({ sources, newRows }: FoldOutput, origin: PartOrigin, store: StorePart): Promise<void> {
    const queries: string[] = [];
    for (const { part, index, rows } of sources) {
      if (rows === 0) continue;
      await this.#checkPart(part);
      const table = this.#tableOf(part);
      const isOverlaid = this.#overlaid.has(index);
      queries.push(isOverlaid ? overlaidRecordsSql(index, table, this.#fixTable) : partRecordsSql(table));
    }
    if (newRows !== null) queries.push(await this.#newRecords(newRows));
    await this.#writePart(sortedSql(queries), origin, store);
  }

  #newPath(extension: string): string {
    return `${this.#scratchPath}${++this.#scratchFiles}.${extension}`;
  }

  #stage(rows: AsyncIterable<DayRows>): AsyncGenerator<StagedPath> {
    const { engine } = this.#options;
    return stageRows(rows, { engine, rowsMax: this.partRowsMax, newPath: () => this.#newPath("csv") });
  }

  async #writePart(query: string, origin: PartOrigin, store: StorePart): Promise<void> {
    const { files } = this.#options;
    const path = this.#newPath("parquet");
    await this.#connection.run(copySql(query, path, origin));
    const apps = (await this.#connection.counts(countAppsSql(path))) as ReadonlyMap<AppId, number>;
    const bytes = await files.read(path);
    await files.remove(path);
    const rows = apps.values().reduce((sum, count) => sum + count, 0);
    await store({ bytes, rows, apps, replaces: origin.replaces });
  }

  /** DuckDB does not notice most flipped bits, and the new part would get a valid checksum over them. */
  async #checkPart(part: Part): Promise<void> {
    if (this.#checked.has(part)) return;
    const path = this.#options.pathOf(part);
    const crc = crc32(await this.#options.files.read(path));
    if (crc !== part.crc)
      throw new Error(`Part "${path}" is damaged: expected CRC ${part.crc}, found ${crc}`);
    this.#checked.add(part);
  }

  /** A part as a table, without what is erased. */
  #tableOf(part: Part): string {
    const table = partTable(this.#options.pathOf(part));
    return this.#erased.has(part) ? withoutErased(table) : table;
  }

  #rowsLeft(part: Part): number {
    let rows = part.rows;
    for (const count of this.#erased.get(part)?.values() ?? []) rows -= count;
    return rows;
  }

  async #newRecords({ start, end }: NewRows): Promise<string> {
    const [first, last] = [
      await this.#numberOf(selectNewRowSql(start)),
      await this.#numberOf(selectNewRowSql(end - 1)),
    ];
    return newRecordsSql(first, last);
  }

  async #numberOf(sql: string): Promise<number> {
    return (await this.#connection.numbers(sql))[0]!;
  }
}

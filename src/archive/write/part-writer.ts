import { join } from "node:path";
import { crc32 } from "node:zlib";
import { assert } from "../../lib/assert.ts";
import type { AppId } from "../../model/ids.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import type { AppendFile, Files } from "../../runtime/files.ts";
import type { UtcDay } from "../../time/utc-day.ts";
import type { Connection, Database, Rows } from "../database/duckdb.ts";
import type { Part } from "../files/manifest.ts";
import { type FoldOutput, type FoundPart, type NewRows, PART_ROWS_MAX, planFold } from "./fold-plan.ts";
import {
  COUNT_NEW,
  CREATE_SHARED,
  columnsSql,
  copySql,
  countAppsSql,
  insertSharedSql,
  newRecordsSql,
  overlaidRecordsSql,
  type PartMetadata,
  partRecordsSql,
  SELECT_CHANGED_PARTS,
  selectNewRowSql,
  sortedSql,
} from "./part-sql.ts";
import type { RowEncoder } from "./row-encoder.ts";
import { readStagedSql } from "./staged-rows.ts";

/*
 * Makes the archive's Parquet files. Rows become CSV on a scratch disk, DuckDB sorts and merges, and each new
 * part is handed over as bytes: what puts it in place, and when it counts, is decided elsewhere.
 */

/**
 * Rows of an app, at most as many as a part's. All rows come in order of app and device (by their UTF-8 bytes) and
 * time, no (app, device, time) twice.
 */
export interface DayRows {
  readonly appId: AppId;
  readonly batch: ReportBatch;
}

export interface MadePart {
  readonly bytes: Uint8Array;
  readonly rows: number;
  readonly apps: ReadonlyMap<AppId, number>;
  /** Parts whose records are all in this one. */
  readonly replaces: readonly Part[];
}

/** Puts a part in place; the next is made after it resolves, so that one part is in memory at a time. */
export type KeepPart = (made: MadePart) => Promise<void>;

export interface FoldRequest {
  readonly day: UtcDay;
  /** The entry of the log up to which the day is covered by its new parts together, and without them. */
  readonly sequence: number;
  readonly sequenceBefore: number;
  /** What is sealed of the day already. */
  readonly parts: readonly Part[];
  /** What memory holds of the day: laid over what is sealed. */
  readonly rows: AsyncIterable<DayRows>;
}

/** Rejects with the disk's or DuckDB's own error, or one that names a damaged part. */
export interface PartWriter {
  /**
   * Makes the day's new parts; resolves with the parts that nobody needs any more. Only the last says that the day is
   * covered up to the new entry: where a crash leaves some of them and the manifest is lost, the log has the rest.
   */
  fold(request: FoldRequest, keep: KeepPart): Promise<{ readonly replaced: readonly Part[] }>;
  /** The checkpoint: the newest sealed record of each device. Rows are written as they are, without a place too. */
  writeLatest(sequence: number, rows: AsyncIterable<DayRows>, keep: KeepPart): Promise<void>;
  readonly isClosed: boolean;
  /** Closes the encoder and the database too. What is under way is broken off, and rejects. */
  close(): void;
}

export interface PartWriterOptions {
  /** The scratch disk, and that of the parts. */
  readonly files: Files;
  readonly scratchDirectory: string;
  /** Where a part lies. */
  pathOf(part: Part): string;
  readonly encoder: RowEncoder;
  /** May read the parts, and read and write the scratch directory. */
  readonly database: Database;
  readonly partRowsMax?: number;
}

/** Counts on from writer to writer: rows must never be appended to what one before could not remove. */
let jobs = 0;

export function createPartWriter(options: PartWriterOptions): PartWriter {
  const closing = new AbortController();

  /** Runs a job on a connection and scratch files of its own; both are gone when it ends, however it ends. */
  async function runJob(work: (job: PartJob) => Promise<void>): Promise<void> {
    const { files, scratchDirectory, database } = options;
    const prefix = `parts-${++jobs}-`;
    await files.makeDirectory(scratchDirectory);
    const connection = await database.connect();
    try {
      await work(createPartJob(options, join(scratchDirectory, prefix), connection, closing.signal));
    } finally {
      connection.close();
      await removeAll(files, scratchDirectory, prefix);
    }
  }

  return {
    async fold({ day, sequence, sequenceBefore, parts, rows }, keep) {
      const replaced: Part[] = [];
      const sequenceOf = (isLast: boolean) => (isLast ? sequence : sequenceBefore);
      await runJob(async (job) => {
        if (parts.length === 0) {
          const originOf = (isLast: boolean) => ({ day, sequence: sequenceOf(isLast), replaces: [] });
          await job.writeStaged(rows, true, originOf, keep);
          return;
        }
        if (!(await job.loadStaged(rows))) return;
        const { found, newRowCount } = await job.compare(parts);
        const outputs = planFold(found, newRowCount, job.partRowsMax);
        for (const output of outputs) {
          const replaces = output.sources.map(({ part }) => part);
          const origin = { day, sequence: sequenceOf(output === outputs.at(-1)), replaces };
          await job.writeOutput(output, origin, keep);
          replaced.push(...replaces);
        }
      });
      return { replaced };
    },
    writeLatest: (sequence, rows, keep) =>
      runJob((job) => job.writeStaged(rows, false, () => ({ day: null, sequence, replaces: [] }), keep)),
    get isClosed() {
      return closing.signal.aborted;
    },
    close() {
      if (closing.signal.aborted) return;
      closing.abort();
      options.encoder.close();
      options.database.close();
    },
  };
}

/** A start empties the scratch directory, so what can't be removed now hides no other failure. */
async function removeAll(files: Files, directory: string, prefix: string): Promise<void> {
  const names = await files.list(directory).catch(() => []);
  for (const name of names.filter((name) => name.startsWith(prefix))) {
    await files.remove(join(directory, name)).catch(() => undefined);
  }
}

/** What a part is made with: its metadata, and the parts it replaces. */
interface PartOrigin extends PartMetadata {
  readonly replaces: readonly Part[];
}

/** A file of rows that is being written. */
interface StagedFile {
  readonly path: string;
  readonly file: AppendFile;
  rows: number;
}

type PartJob = ReturnType<typeof createPartJob>;

function createPartJob(
  { files, pathOf, encoder, partRowsMax = PART_ROWS_MAX }: PartWriterOptions,
  scratchPath: string,
  connection: Connection,
  signal: AbortSignal,
) {
  let scratchFiles = 0;

  function newPath(extension: string): string {
    return `${scratchPath}${++scratchFiles}.${extension}`;
  }

  function run(sql: string): Promise<Rows> {
    return connection.run(sql, undefined, signal);
  }

  /** CSV files, each complete when it is given, of no more rows than a part has. */
  async function* stage(rows: AsyncIterable<DayRows>): AsyncGenerator<{ path: string; isLast: boolean }> {
    let staged: StagedFile | null = null;
    try {
      for await (const { appId, batch } of rows) {
        assert(batch.count <= partRowsMax, "a batch fits into a part");
        if (batch.count === 0) continue;
        if (staged !== null && staged.rows + batch.count > partRowsMax) {
          await staged.file.close();
          const { path }: StagedFile = staged;
          staged = null;
          yield { path, isLast: false };
        }
        staged ??= await openStaged();
        staged.rows += batch.count;
        await staged.file.append([await encoder.encode(appId, batch)]);
      }
    } finally {
      await staged?.file.close();
    }
    if (staged !== null) yield { path: staged.path, isLast: true };
  }

  async function openStaged(): Promise<StagedFile> {
    const path = newPath("csv");
    return { path, file: await files.openAppend(path), rows: 0 };
  }

  async function writePart(query: string, origin: PartOrigin, keep: KeepPart): Promise<void> {
    const path = newPath("parquet");
    await run(copySql(query, path, origin));
    const counts = await run(countAppsSql(path));
    const rowsOfApp = counts.numbers(1);
    const apps = new Map(counts.texts(0).map((app, i) => [app as AppId, rowsOfApp[i]!]));
    const bytes = await files.read(path);
    await files.remove(path);
    const rows = rowsOfApp.reduce((sum, count) => sum + count, 0);
    await keep({ bytes, rows, apps, replaces: origin.replaces });
  }

  /** DuckDB reads over most flipped bits without a word, and a new part would vouch for what it read. */
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
    return (await run(sql)).numbers(0)[0]!;
  }

  return {
    partRowsMax,

    /** Rows that lie over nothing become parts as they come. */
    async writeStaged(
      rows: AsyncIterable<DayRows>,
      asRecords: boolean,
      originOf: (isLast: boolean) => PartOrigin,
      keep: KeepPart,
    ) {
      for await (const { path, isLast } of stage(rows)) {
        const query = `SELECT ${columnsSql(asRecords)} FROM ${readStagedSql([path])}`;
        await writePart(query, originOf(isLast), keep);
        await files.remove(path);
      }
    },

    /** Makes the table `staged`; false where there are no rows. */
    async loadStaged(rows: AsyncIterable<DayRows>): Promise<boolean> {
      const paths = await Array.fromAsync(stage(rows), ({ path }) => path);
      if (paths.length === 0) return false;
      await run(`CREATE TEMP TABLE staged AS SELECT ${columnsSql(false)} FROM ${readStagedSql(paths)}`);
      for (const path of paths) await files.remove(path);
      return true;
    },

    /** What laying the staged rows over these parts would do. */
    async compare(parts: readonly Part[]): Promise<{ found: FoundPart[]; newRowCount: number }> {
      await run(CREATE_SHARED);
      for (const [index, part] of parts.entries()) {
        await checkPart(part);
        await run(insertSharedSql(index, pathOf(part)));
      }
      const changed = new Set((await run(SELECT_CHANGED_PARTS)).numbers(0));
      const found = parts.map((part, index) => ({ part, index, isChanged: changed.has(index) }));
      return { found, newRowCount: await numberOf(COUNT_NEW) };
    },

    async writeOutput({ sources, newRows }: FoldOutput, origin: PartOrigin, keep: KeepPart): Promise<void> {
      const queries = sources.map(({ part, index, isChanged }) =>
        isChanged ? overlaidRecordsSql(index, pathOf(part)) : partRecordsSql(pathOf(part)),
      );
      if (newRows !== null) queries.push(await newRecords(newRows));
      await writePart(sortedSql(queries), origin, keep);
    },
  };
}

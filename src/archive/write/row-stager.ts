import { assert } from "../../lib/assert.ts";
import type { AppId } from "../../model/ids.ts";
import type { RowBatch } from "../../model/report-batch.ts";
import type { PartEngine, RowsFile } from "./engine/part-engine.ts";

/**
 * Rows of one app, at most as many as a part has, in order of device (UTF-8 bytes) and time. Apps come in order, and
 * each (app, device, time) once.
 */
export interface DayRows {
  readonly appId: AppId;
  readonly batch: RowBatch;
  /** Whether they may belong before rows of an earlier batch. */
  readonly isOutOfOrder: boolean;
}

/** A file of rows that is being written. */
interface StagedFile {
  readonly path: string;
  readonly file: RowsFile;
  rows: number;
  isSorted: boolean;
}

/** A complete file of rows. */
export interface StagedPath {
  readonly path: string;
  /** Whether it is the last file. */
  readonly isLast: boolean;
  readonly isSorted: boolean;
}

export interface RowStagerOptions {
  readonly engine: PartEngine;
  /** The most rows per file. */
  readonly rowsMax: number;
  /** A path that does not exist yet. */
  newPath(): string;
}

/** Writes rows to CSV files of at most `rowsMax` rows. Yields each file once it is complete. */
export async function* stageRows(
  rows: AsyncIterable<DayRows>,
  { engine, rowsMax, newPath }: RowStagerOptions,
): AsyncGenerator<StagedPath> {
  let staged: StagedFile | null = null;
  try {
    for await (const { appId, batch, isOutOfOrder } of rows) {
      assert(batch.count <= rowsMax, "a batch fits into a part");
      if (batch.count === 0) continue;
      if (staged !== null && staged.rows + batch.count > rowsMax) {
        await staged.file.close();
        const { path, isSorted }: StagedFile = staged;
        staged = null;
        yield { path, isLast: false, isSorted };
      }
      staged ??= await openStaged(engine, newPath());
      staged.rows += batch.count;
      if (isOutOfOrder) staged.isSorted = false;
      await staged.file.append(appId, batch);
    }
  } finally {
    await staged?.file.close();
  }
  if (staged !== null) yield { path: staged.path, isLast: true, isSorted: staged.isSorted };
}

async function openStaged(engine: PartEngine, path: string): Promise<StagedFile> {
  return { path, file: await engine.openRows(path), rows: 0, isSorted: true };
}

/** Passes rows on and writes their fixes to a separate file. `path()` is that file's, or null if there are no fixes. */
export function splitFixes(
  rows: AsyncIterable<DayRows>,
  { engine, newPath }: Pick<RowStagerOptions, "engine" | "newPath">,
): { readonly rows: AsyncIterable<DayRows>; path(): string | null } {
  let file: RowsFile | null = null;
  let path: string | null = null;

  async function* passOn(): AsyncGenerator<DayRows> {
    try {
      for await (const row of rows) {
        if (row.batch.fixes !== null) {
          path ??= newPath();
          file ??= await engine.openRows(path);
          await file.append(row.appId, row.batch.fixes);
        }
        yield row;
      }
    } finally {
      await file?.close();
    }
  }

  return { rows: passOn(), path: () => path };
}

import { assert } from "../../lib/assert.ts";
import type { AppId } from "../../model/ids.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import type { PartEngine, RowsFile } from "./engine/part-engine.ts";

/**
 * Rows of an app, at most as many as a part's. All rows come in order of app and device (by their UTF-8 bytes) and
 * time, no (app, device, time) twice.
 */
export interface DayRows {
  readonly appId: AppId;
  readonly batch: ReportBatch;
}

/** A file of rows that is being written. */
interface StagedFile {
  readonly path: string;
  readonly file: RowsFile;
  rows: number;
}

/** Complete file of rows. */
export interface StagedPath {
  readonly path: string;
  /** Whether no rows are left for another. */
  readonly isLast: boolean;
}

export interface RowStagerOptions {
  readonly engine: PartEngine;
  /** Of a file. */
  readonly rowsMax: number;
  /** Names a file that nobody has. */
  newPath(): string;
}

/** Writes rows as CSV files, each complete when it is given, of no more rows than a part has. */
export async function* stageRows(
  rows: AsyncIterable<DayRows>,
  { engine, rowsMax, newPath }: RowStagerOptions,
): AsyncGenerator<StagedPath> {
  let staged: StagedFile | null = null;
  try {
    for await (const { appId, batch } of rows) {
      assert(batch.count <= rowsMax, "a batch fits into a part");
      if (batch.count === 0) continue;
      if (staged !== null && staged.rows + batch.count > rowsMax) {
        await staged.file.close();
        const { path }: StagedFile = staged;
        staged = null;
        yield { path, isLast: false };
      }
      staged ??= await openStaged(engine, newPath());
      staged.rows += batch.count;
      await staged.file.append(appId, batch);
    }
  } finally {
    await staged?.file.close();
  }
  if (staged !== null) yield { path: staged.path, isLast: true };
}

async function openStaged(engine: PartEngine, path: string): Promise<StagedFile> {
  return { path, file: await engine.openRows(path), rows: 0 };
}

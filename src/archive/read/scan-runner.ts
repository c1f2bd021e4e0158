import type { Connection, Rows, SqlValues } from "../../duckdb/database.ts";
import type { TimeRange } from "../../time/range.ts";
import type { Part } from "../files/manifest.ts";
import type { ArchiveScan } from "./archive-scan.ts";
import type { PageDictionary } from "./page-dictionary.ts";
import type { ScanDay } from "./scan-days.ts";
import type { ScanColumns, ScanShape, ScanStatement } from "./scan-sql.ts";
import { type ChunkSizes, ScannedBytes } from "./scanned-bytes.ts";

/** Some days of a scan, and a range that lies within them. */
export interface Stretch {
  readonly scan: ArchiveScan;
  readonly days: readonly ScanDay[];
  readonly range: TimeRange;
}

/** Runs the statements of one session. */
export interface ScanRunner {
  /** Runs a statement over a stretch, with values that the stretch does not give. */
  run(stretch: Stretch, statement: ScanStatement, values?: SqlValues): Promise<Rows>;
  /** The same, some thousand rows at a time. */
  stream(stretch: Stretch, statement: ScanStatement): AsyncIterable<Rows>;
  readonly scannedBytes: number;
}

/** What the sessions of a reader share. */
export interface SharedResources {
  readonly sizes: ChunkSizes;
  /** For new pages. */
  dictionary: PageDictionary;
  /** Whether files were met that are too old to have every column. */
  hasOldFiles: boolean;
  pathOf(part: Part): string;
}

export function createScanRunner(
  connection: Connection,
  signal: AbortSignal,
  shared: SharedResources,
): ScanRunner {
  const { sizes } = shared;
  const scanned = new ScannedBytes();

  /** A statement that fails may only have met files that lack a column: those take another, slower one. */
  async function runOverOld(shape: ScanShape, { sql }: ScanStatement, values: SqlValues): Promise<Rows> {
    try {
      return await connection.run(sql(shape), values, signal);
    } catch (error) {
      if (!mayBeOld(shape)) throw error;
      const rows = await connection.run(sql({ ...shape, hasOldFiles: true }), values, signal).catch(() => {
        throw error;
      });
      shared.hasOldFiles = true;
      return rows;
    }
  }

  async function* streamOverOld(
    shape: ScanShape,
    { sql }: ScanStatement,
    values: SqlValues,
  ): AsyncIterable<Rows> {
    let isBegun = false;
    let failure: unknown;
    try {
      for await (const rows of connection.stream(sql(shape), values, signal)) {
        isBegun = true;
        yield rows;
      }
      return;
    } catch (error) {
      if (isBegun || !mayBeOld(shape)) throw error;
      failure = error;
    }
    try {
      for await (const rows of connection.stream(sql({ ...shape, hasOldFiles: true }), values, signal)) {
        isBegun = true;
        yield rows;
      }
    } catch (error) {
      throw isBegun ? error : failure;
    }
    shared.hasOldFiles = true;
  }

  function mayBeOld({ hasFiles, hasOldFiles }: ScanShape): boolean {
    return !signal.aborted && hasFiles && !hasOldFiles;
  }

  /** Counts what a statement reads, learning what is not known of its files on a connection of its own meanwhile. */
  function meter({ scan, days, range }: Stretch, { columns }: ScanStatement): () => Promise<void> {
    const paths = pathsOf(days);
    const learned = sizes.learn(paths);
    learned.catch(() => undefined); // Told below, unless the statement fails as well.
    return async () => {
      await learned;
      for (const path of paths) {
        const chunks = sizes.find(path);
        if (chunks !== null) scanned.add(chunks, { ...scan, range }, columns(columnsOf(scan)));
      }
    };
  }

  const pathsOf = (days: readonly ScanDay[]) => days.flatMap(({ parts }) => parts.map(shared.pathOf));

  return {
    async run(stretch, statement, values) {
      const shape = shapeOf(stretch, shared.hasOldFiles);
      const count = meter(stretch, statement);
      const bound = { ...valuesOf(stretch, shape, pathsOf(stretch.days)), ...values };
      const rows = await runOverOld(shape, statement, bound);
      await count();
      return rows;
    },
    async *stream(stretch, statement) {
      const shape = shapeOf(stretch, shared.hasOldFiles);
      const count = meter(stretch, statement);
      yield* streamOverOld(shape, statement, valuesOf(stretch, shape, pathsOf(stretch.days)));
      await count();
    },
    get scannedBytes() {
      return scanned.sum;
    },
  };
}

/** What of a scan decides which columns its statements look at. */
export function columnsOf({ userId, accuracyMetersMax, shownIn }: ArchiveScan): ScanColumns {
  return { ofUser: userId !== null, byAccuracy: accuracyMetersMax !== null, shownIn: shownIn ?? null };
}

function shapeOf({ scan, days }: Stretch, hasOldFiles: boolean): ScanShape {
  return {
    ...columnsOf(scan),
    ofDevice: scan.deviceId !== null,
    hasFiles: days.some(({ parts }) => parts.length > 0),
    hasLate: days.some(({ hasLate }) => hasLate),
    hasOldFiles,
    isSorted: days.every(({ parts, day }, index) => parts.length <= 1 && day > (days[index - 1]?.day ?? -1)),
  };
}

/** DuckDB takes no value that its statement does not name. */
function valuesOf({ scan, range }: Stretch, { hasFiles }: ScanShape, paths: readonly string[]): SqlValues {
  const { appId, deviceId, userId, accuracyMetersMax } = scan;
  return {
    start: BigInt(range.startMs),
    end: BigInt(range.endMs),
    ...(hasFiles ? { files: paths, app: appId } : {}),
    ...(deviceId === null ? {} : { device: deviceId }),
    ...(userId === null ? {} : { user: userId }),
    ...(accuracyMetersMax === null ? {} : { accuracy: accuracyMetersMax }),
  };
}

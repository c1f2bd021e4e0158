import type { TimeRange } from "../time/range.ts";
import type { Connection, Rows, SqlValues } from "./duckdb.ts";
import type { Part } from "./manifest.ts";
import type { PageDictionary } from "./page-dictionary.ts";
import type { ArchiveScan } from "./part-reader.ts";
import type { ScanDay } from "./scan-days.ts";
import type { ScanShape, ScanStatement } from "./scan-sql.ts";
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
      if (signal.aborted || !shape.hasFiles || shape.hasOldFiles) throw error;
      const rows = await connection.run(sql({ ...shape, hasOldFiles: true }), values, signal).catch(() => {
        throw error;
      });
      shared.hasOldFiles = true;
      return rows;
    }
  }

  return {
    async run(stretch, statement, values) {
      const { scan, days, range } = stretch;
      const paths = days.flatMap(({ parts }) => parts.map(shared.pathOf));
      const shape = shapeOf(stretch, shared.hasOldFiles);
      const learned = sizes.learn(paths); // On a connection of its own, meanwhile.
      learned.catch(() => undefined); // Told below, unless the statement fails as well.
      const rows = await runOverOld(shape, statement, { ...valuesOf(stretch, shape, paths), ...values });
      await learned;
      const columns = statement.columns(shape);
      for (const path of paths) {
        const chunks = sizes.find(path);
        if (chunks !== null) scanned.add(chunks, { ...scan, range }, columns);
      }
      return rows;
    },
    get scannedBytes() {
      return scanned.sum;
    },
  };
}

function shapeOf({ scan, days }: Stretch, hasOldFiles: boolean): ScanShape {
  return {
    ofDevice: scan.deviceId !== null,
    ofUser: scan.userId !== null,
    byAccuracy: scan.accuracyMetersMax !== null,
    hasFiles: days.some(({ parts }) => parts.length > 0),
    hasLate: days.some(({ hasLate }) => hasLate),
    hasOldFiles,
    isSorted: days.every(({ parts, day }, index) => parts.length <= 1 && day > (days[index - 1]?.day ?? -1)),
    shownIn: scan.shownIn ?? null,
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

import { assert } from "../../lib/assert.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { Connection, Rows, SqlValues } from "../duckdb/database.ts";
import { hasOldParts, type Part } from "../manifest.ts";
import type { Masks } from "../masks.ts";
import { type UpperRows, withDeciding } from "../overlay-sql.ts";
import { aliasShape, aliasValues } from "./alias-sql.ts";
import { type ArchiveScan, hasAliases, type ScanDay } from "./archive-scan.ts";
import type { LateTables } from "./late-tables.ts";
import type { ScanShape } from "./matching-sql.ts";
import {
  type ChunkIndex,
  type ConstantColumns,
  findConstants,
  NO_CONSTANTS,
  ScannedBytes,
} from "./part-chunks.ts";
import type { PageDictionary } from "./record-rows.ts";
import { constantValues, type ScanColumns, type ScanStatement } from "./scan-sql.ts";

/** Some days of a scan, and a range within them. */
export interface Stretch {
  readonly scan: ArchiveScan;
  readonly days: readonly ScanDay[];
  readonly range: TimeRange;
}

/** Runs the statements of one session. */
export interface ScanRunner {
  /** Runs a statement over a stretch; `values` are parameters besides those of the stretch. */
  run(stretch: Stretch, statement: ScanStatement, values?: SqlValues): Promise<Rows>;
  /** Like `run()`, but yields some thousand rows at a time. */
  stream(stretch: Stretch, statement: ScanStatement, values?: SqlValues): AsyncIterable<Rows>;
  readonly scannedBytes: number;
}

/** Shared by the sessions of a reader. */
export interface SharedResources {
  readonly chunks: ChunkIndex;
  readonly lateTables: LateTables;
  /** Used by new pages. */
  dictionary: PageDictionary;
  pathOf(part: Part): string;
  /** What is masked now. */
  masks(): Masks;
}

/** The most parts whose footers are read before a statement, to find constant columns. A page mostly reads one part. */
const CONSTANT_PARTS_MAX = 8;

export function createScanRunner(
  connection: Connection,
  signal: AbortSignal,
  shared: SharedResources,
): ScanRunner {
  const { chunks } = shared;
  const scanned = new ScannedBytes();

  /** Reads the footers while a statement runs. The returned function then counts the bytes that the statement read. */
  function meter({ scan, days, range }: Stretch, { columns }: ScanStatement): () => Promise<void> {
    const parts = partsOfDays(days);
    const learning = chunks.learn(parts);
    learning.catch(() => undefined); // Thrown below, unless the statement fails too.
    return async () => {
      await learning;
      const shownNames = columns(columnsOf(scan));
      const read = days.some(({ hasLate }) => hasLate) ? withDeciding(shownNames) : shownNames;
      for (const known of chunks.findAll(parts)) scanned.add(known, { ...scan, range }, read);
    };
  }

  const pathsOf = (days: readonly ScanDay[]) => partsOfDays(days).map(shared.pathOf);

  return {
    async run(stretch, statement, values) {
      const count = meter(stretch, statement);
      const shape = shapeOf(stretch, await findConstantsOf(chunks, stretch, statement));
      const bound = { ...valuesOf(stretch, shape, pathsOf(stretch.days)), ...values };
      const rows = await connection.run(statement.sql(shape), bound, signal);
      await count();
      return rows;
    },
    async *stream(stretch, statement, values) {
      const shape = shapeOf(stretch, NO_CONSTANTS);
      const count = meter(stretch, statement);
      const bound = { ...valuesOf(stretch, shape, pathsOf(stretch.days)), ...values };
      yield* connection.stream(statement.sql(shape), bound, signal);
      await count();
    },
    get scannedBytes() {
      return scanned.sum;
    },
  };
}

/** Constant columns that the statement only shows, and so need not read. With many parts, all columns are read. */
async function findConstantsOf(
  chunks: ChunkIndex,
  { scan, days, range }: Stretch,
  { shownColumns }: ScanStatement,
): Promise<ConstantColumns> {
  const parts = partsOfDays(days);
  const isMerged = hasAliases(scan) || days.some(({ hasLate }) => hasLate);
  if (shownColumns === undefined || parts.length > CONSTANT_PARTS_MAX || isMerged) return NO_CONSTANTS;
  await chunks.learn(parts);
  const known = chunks.findAll(parts);
  if (known.length < parts.length) return NO_CONSTANTS;
  return findConstants(known, { ...scan, range }, shownColumns(columnsOf(scan)));
}

function partsOfDays(days: readonly ScanDay[]): Part[] {
  return days.flatMap(({ parts }) => parts);
}

/** The conditions of a scan that decide which columns its statements read. */
export function columnsOf({ userId, accuracyMetersMax, fields }: ArchiveScan): ScanColumns {
  return { ofUser: userId !== null, byAccuracy: accuracyMetersMax !== null, fields: fields ?? null };
}

function shapeOf({ scan, days }: Stretch, constants: ConstantColumns): ScanShape {
  return {
    ...columnsOf(scan),
    ofDevice: scan.deviceId !== null,
    ofOneApp: partsOfDays(days).every(({ apps }) => apps.size === 1 && apps.has(scan.appId)),
    hasFiles: days.some(({ parts }) => parts.length > 0),
    late: days.some(({ hasLate }) => hasLate) ? upperOf(scan) : null,
    hidden: days.some(({ hasHidden }) => hasHidden) ? hiddenTableOf(scan) : null,
    isMasked: days.some(({ isMasked }) => isMasked),
    aliases: aliasShape(scan.aliases ?? [], scan.deviceId),
    hasOldFiles: hasOldParts(partsOfDays(days)),
    constants,
    isSorted:
      !hasAliases(scan) &&
      days.every(
        ({ parts, day, hasHidden, isMasked }, index) =>
          !hasHidden && !isMasked && parts.length <= 1 && day > (days[index - 1]?.day ?? -1),
      ),
  };
}

function upperOf({ upper }: ArchiveScan): UpperRows {
  assert(upper !== undefined && upper !== null, "late rows are in a table before a statement reads them");
  return upper;
}

function hiddenTableOf({ hiddenTable }: ArchiveScan): string {
  assert(
    hiddenTable !== undefined && hiddenTable !== null,
    "keys are in a table before a statement leaves their records out",
  );
  return hiddenTable;
}

/** DuckDB accepts only values that the statement names. */
function valuesOf({ scan, range }: Stretch, shape: ScanShape, paths: readonly string[]): SqlValues {
  const { appId, deviceId, userId, accuracyMetersMax, aliases = [] } = scan;
  const device =
    aliases.length > 0
      ? aliasValues(aliases, deviceId, shape.hidden !== null)
      : deviceId === null
        ? {}
        : { device: deviceId };
  return {
    start: BigInt(range.startMs),
    end: BigInt(range.endMs),
    ...(shape.hasFiles ? { files: paths } : {}),
    ...(shape.hasFiles && !shape.ofOneApp ? { app: appId } : {}),
    ...device,
    ...(userId === null ? {} : { user: userId }),
    ...(accuracyMetersMax === null ? {} : { accuracy: accuracyMetersMax }),
    ...(shape.isMasked ? scan.mask?.values : {}),
    ...constantValues(shape),
  };
}

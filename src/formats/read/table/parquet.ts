import { type Connection, openDatabase } from "../../../archive/duckdb/database.ts";
import { quoteText } from "../../../archive/duckdb/quote-text.ts";
import { messageOf } from "../../../lib/message-of.ts";
import type { PointSink } from "../file-point.ts";
import {
  type Beginning,
  type Content,
  type Format,
  FormatError,
  type FormatReader,
  type OpenContent,
  type ReadOptions,
} from "../format.ts";
import { createTableTimes } from "../time/patterned-times.ts";
import { columnAlias, type ParquetColumn, planParquet } from "./parquet-columns.ts";
import { readRowPoint } from "./row-points.ts";

/** Parquet files of any program, including GeoParquet and our exports, read by DuckDB. */
export const parquet: Format = {
  name: "parquet",
  title: "Parquet",
  extensions: [".parquet", ".geoparquet"],
  placeUnit: "record",
  recognise,
  read: readParquet,
};

const MAGIC = [0x50, 0x41, 0x52, 0x31]; // PAR1

function recognise({ bytes }: Beginning): string | null {
  return MAGIC.every((byte, at) => bytes[at] === byte) ? 'it begins with "PAR1"' : null;
}

/** Row groups are decompressed whole. */
const MEMORY_BYTES = 512_000_000;

const POINTS_A_STEP = 1000;

/** A file with repeated values is small even if it claims billions of rows. */
const ROWS_PER_BYTE_MAX = 40;
const ROWS_FREE = 1_000_000;

function readParquet(content: Content, sink: PointSink, options: ReadOptions): FormatReader {
  let place = 0;

  async function* readRows(connection: Connection, { path, sizeBytes }: OpenContent): AsyncGenerator<void> {
    const table = `read_parquet(${quoteText(path)})`;
    const description = await connection.run(
      `SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM ${table})`,
    );
    const types = description.texts(1);
    const columns = description
      .texts(0)
      .map((name, at): ParquetColumn => ({ name: name ?? "", type: types[at] ?? "" }));
    const { columns: plan, selectSql, rowsOf, isOurs } = planParquet(columns, options.columns);
    const times = createTableTimes(options, sink);
    const rules = { readMs: times.readMs, speedUnit: "mps", givenSpeedUnit: options.speedUnit } as const;
    const rowsMax = ROWS_FREE + sizeBytes * ROWS_PER_BYTE_MAX;
    const aliases = columns.map((_, index) => columnAlias(index)).join(", ");
    for await (const rows of connection.stream(`SELECT ${selectSql} FROM ${table} AS t(${aliases})`, {})) {
      const row = rowsOf(rows);
      for (; row.at < rows.count; row.at++) {
        if (++place > rowsMax) throw new FormatError("it has more rows than a history of its size");
        const point = readRowPoint(row, plan, rules);
        sink.add(isOurs ? { ...point, isRecord: true } : point);
        if (place % POINTS_A_STEP === 0) yield;
      }
      yield;
    }
  }

  async function* read(): AsyncGenerator<void> {
    const file = await content.openRandom();
    try {
      const database = await openDatabase({
        threads: 1,
        memoryBytes: MEMORY_BYTES,
        directories: [],
        files: [file.path],
        spillDirectory: null,
        cachesFiles: false,
      });
      const connection = await database.connect();
      try {
        yield* readRows(connection, file);
      } catch (error) {
        throw error instanceof FormatError
          ? error
          : new FormatError(messageOf(error).split("\n", 1)[0]!, { cause: error });
      } finally {
        connection.close();
        database.close();
      }
    } finally {
      await file.close();
    }
  }

  return {
    get place() {
      return place;
    },
    [Symbol.asyncIterator]: read,
  };
}

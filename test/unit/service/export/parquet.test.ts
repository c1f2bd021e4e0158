import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { VALUE_COLUMNS } from "../../../../src/archive/columns.ts";
import { type Database, openDatabase } from "../../../../src/archive/duckdb/database.ts";
import type { ExportQuery } from "../../../../src/service/export/export-formats.ts";
import { type ArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { begun, bytesOf, linesOf, PLAIN } from "./export-of.ts";
import { at, createFilledApp } from "./filled-app.ts";

/** Goal: Parquet has what NDJSON has, and positions that other programs take for such. */

afterAll(removeArchiveApps);

async function openReader(app: ArchiveApp): Promise<Database> {
  return openDatabase({
    threads: 1,
    memoryBytes: 100_000_000,
    directories: [app.dataDir],
    spillDirectory: app.dataDir,
    cachesFiles: false,
  });
}

/** Rows as objects without what they have not; each with the well-known text of its point. */
async function rowsOf(app: ArchiveApp, query: Partial<ExportQuery>) {
  const path = join(app.dataDir, "made.parquet");
  writeFileSync(path, await bytesOf(await begun(app.directory.exports, { ...query, format: "parquet" })));
  const database = await openReader(app);
  const connection = await database.connect();
  try {
    const rows = await connection.run(
      `SELECT to_json(r)::VARCHAR, st_astext(geometry)
       FROM (SELECT * FROM read_parquet($path)) g, (SELECT * EXCLUDE (geometry) FROM read_parquet($path)) r
       WHERE g.device_id = r.device_id AND g.timestamp = r.timestamp ORDER BY r.timestamp, r.device_id`,
      { path },
    );
    const about = await connection.run(
      "SELECT decode(value) FROM parquet_kv_metadata($path) WHERE decode(key) = 'geo'",
      { path },
    );
    const points = rows.texts(1);
    const lines = rows.texts(0).map((text) => JSON.parse(text!) as Record<string, unknown>);
    return {
      lines: lines.map((line) =>
        Object.fromEntries(Object.entries(line).filter(([, value]) => value !== null)),
      ),
      points,
      geo: about.texts(0).map((text) => JSON.parse(text!)),
    };
  } finally {
    connection.close();
    database.close();
  }
}

test("Parquet has the records of NDJSON, whether one reading or several made it", async () => {
  const app = await createFilledApp();
  for (const endMs of [at(15), 2 ** 52]) {
    const range = { startMs: 0, endMs };
    const { lines, points, geo } = await rowsOf(app, { range });
    const expected = await linesOf(app.directory.exports, { range });
    expect(lines).toEqual(expected.map((line) => ({ ...line })));
    expect(points).toEqual(lines.map(({ longitude, latitude }) => `POINT (${longitude} ${latitude})`));
    expect(geo).toMatchObject([
      { version: "1.0.0", columns: { geometry: { encoding: "WKB", geometry_types: ["Point"] } } },
    ]);
  }
  await app.close();
});

test("Parquet without names numbers devices as texts do, and has no users", async () => {
  const app = await createFilledApp();
  const options = { ...PLAIN, redact: true };
  const { lines } = await rowsOf(app, { options });
  const expected = await linesOf(app.directory.exports, { options });
  expect(lines).toEqual(expected.map((line) => ({ ...line })));
  await app.close();
});

test("Parquet of no records has the columns and the GeoParquet metadata of one with records", async () => {
  const app = await createFilledApp();
  const full = await schemaOf(app, { range: { startMs: 0, endMs: 2 ** 52 } });
  expect(full.columns).toEqual([
    "device_id",
    "timestamp",
    ...VALUE_COLUMNS.map(({ name }) => name),
    "geometry",
  ]);
  expect(full.types.at(-1)).toStartWith("GEOMETRY");
  for (const options of [PLAIN, { ...PLAIN, redact: true }]) {
    for (const range of [
      { startMs: 0, endMs: 1 }, // Before all days.
      { startMs: at(14, 20), endMs: at(14, 21) }, // Within a sealed day.
    ])
      expect(await schemaOf(app, { range, options })).toEqual(full);
  }
  await app.close();
});

/** The columns of the Parquet file, and the members of its `geo` that don't depend on its points. */
async function schemaOf(app: ArchiveApp, query: Partial<ExportQuery>) {
  const path = join(app.dataDir, "made.parquet");
  writeFileSync(path, await bytesOf(await begun(app.directory.exports, { ...query, format: "parquet" })));
  const database = await openReader(app);
  const connection = await database.connect();
  try {
    const about = await connection.run(
      "SELECT decode(value) FROM parquet_kv_metadata($path) WHERE decode(key) = 'geo'",
      { path },
    );
    const columns = await connection.run(
      "SELECT column_name, column_type FROM (DESCRIBE FROM read_parquet($path))",
      { path },
    );
    const geo = about.texts(0).map((text) => {
      const { version, primary_column, columns } = JSON.parse(text!);
      return { version, primary_column, encoding: columns.geometry.encoding };
    });
    return { columns: columns.texts(0), types: columns.texts(1), geo };
  } finally {
    connection.close();
    database.close();
  }
}

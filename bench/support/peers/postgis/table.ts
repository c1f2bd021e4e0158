import type { FullReport } from "../../fleets/fleet.ts";
import type { Metropolis } from "../../fleets/metropolis.ts";
import { devicesOf, type OpenWriter } from "../contender.ts";
import { connectTo } from "./postgres.ts";

/* A table of the newest record of each device, with an index of their positions. */

const BATCH = 5000;

/** Returns false if the server lacks PostGIS. */
export async function fillTable(port: number, metropolis: Metropolis): Promise<boolean> {
  const sql = connectTo(port);
  try {
    const available = await sql`SELECT 1 FROM pg_available_extensions WHERE name = 'postgis'`;
    if (available.length === 0) return false;
    const columns = columnsOf(metropolis.report(0)).map(({ name, type }) => `${name} ${type}`);
    await sql`CREATE EXTENSION postgis`;
    await sql.unsafe(`CREATE TABLE devices (${columns.join(", ")}, place geography(Point) NOT NULL)`);
    for (const batch of devicesOf(metropolis, BATCH)) {
      const reports = JSON.stringify(batch.map(metropolis.report));
      await sql.unsafe(
        `INSERT INTO devices SELECT *, ST_MakePoint(longitude, latitude)
           FROM json_to_recordset($1::text::json) AS reports (${columns.join(", ")})`,
        [reports],
      );
    }
    await sql`ALTER TABLE devices ADD PRIMARY KEY (device_id)`;
    await sql`CREATE INDEX ON devices USING gist (place)`;
    await sql`VACUUM ANALYZE devices`;
    return true;
  } finally {
    await sql.end();
  }
}

/** A batch is one statement with an array per column, which updates the rows of existing devices. */
export const openPostgisWriter: OpenWriter = async ({ port }) => {
  const sql = connectTo(port);
  return {
    async write(reports) {
      const columns = columnsOf(reports[0]!);
      // The client mistakes an array of booleans for a boolean, so those are sent as texts.
      const arrays = columns.map(({ name, type }) =>
        reports.map((report) => (type === "boolean" ? String(report[name]) : report[name]!)),
      );
      await sql.unsafe(upsertOf(columns), arrays, { prepare: true });
    },
    close: () => sql.end(),
  };
};

function upsertOf(columns: readonly Column[]): string {
  const names = columns.map(({ name }) => name);
  const arrays = columns.map(
    ({ type }, index) => `$${index + 1}::${type === "boolean" ? "text[]::boolean" : type}[]`,
  );
  const updates = [...names, "place"].map((name) => `${name} = EXCLUDED.${name}`);
  return `INSERT INTO devices (${names.join(", ")}, place)
    SELECT *, ST_MakePoint(longitude, latitude) FROM unnest(${arrays.join(", ")}) AS reports (${names.join(", ")})
    ON CONFLICT (device_id) DO UPDATE SET ${updates.join(", ")}`;
}

interface Column {
  readonly name: string;
  readonly type: string;
}

function columnsOf(report: FullReport): readonly Column[] {
  return Object.entries(report).map(([name, value]) => ({ name, type: typeOf(name, value) }));
}

function typeOf(name: string, value: FullReport[string]): string {
  if (name === "timestamp") return "bigint";
  return { number: "double precision", boolean: "boolean", string: "text" }[
    typeof value as "number" | "boolean" | "string"
  ];
}

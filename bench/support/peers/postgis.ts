import { chownSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { METERS_PER_MILE } from "../../../src/geo/distance.ts";
import { fail, ok, type Result } from "../../../src/lib/result.ts";
import type { FullReport } from "../fleets/fleet.ts";
import type { Metropolis } from "../fleets/metropolis.ts";
import {
  type Contender,
  devicesOf,
  PAGE,
  type PeerOptions,
  RADIUS_MILES,
  type StartPeer,
} from "./contender.ts";
import { type Daemon, findProgram, makeDirectory, removeDirectory, startDaemon } from "./daemon.ts";

const INSTALL =
  "no postgres with PostGIS; Debian: apt install postgresql-postgis (its programs are found without being in the PATH)";
const INSTALL_SETPRIV = "postgres refuses to run as root, and there is no setpriv to run it as somebody else";
const DEBIAN_PROGRAMS = "/usr/lib/postgresql";
const USERS = ["postgres", "nobody"];
const USER = "bench";
const DATABASE = "postgres";
const BATCH = 5000;

const POSTGIS = "PostGIS KNN";

/** PostgreSQL with a table of full records and an index of their places. */
export const startPostgis: StartPeer = async (options) => {
  const server = findProgram("postgres", debianDirectories());
  const initdb = findProgram("initdb", debianDirectories());
  if (server === null || initdb === null) return fail(INSTALL);
  const directory = makeDirectory("postgis");
  const started = await startPostgres(directory, server, initdb, options.connections);
  if (!started.ok) {
    removeDirectory(directory);
    return started;
  }
  const daemon = started.value;
  try {
    const isLoaded = await load(daemon.port, options.metropolis);
    if (isLoaded) return ok({ contenders: contendersOf(daemon, options), stop: daemon.stop });
    await daemon.stop();
    return fail(INSTALL);
  } catch (error) {
    await daemon.stop();
    throw error;
  }
};

async function startPostgres(
  directory: string,
  server: string,
  initdb: string,
  connections: number,
): Promise<Result<Daemon, string>> {
  const as = process.getuid?.() === 0 ? becomeSomebody(directory) : [];
  if (as === null) return fail(INSTALL_SETPRIV);
  const data = join(directory, "data");
  const argv = [
    ...as,
    initdb,
    "-D",
    data,
    "-U",
    USER,
    "--auth=trust",
    "--no-sync",
    "-E",
    "UTF8",
    "--locale=C",
  ];
  const made = Bun.spawnSync(argv, { cwd: directory, stdout: "ignore", stderr: "pipe" });
  if (made.exitCode !== 0) return fail(`initdb: ${made.stderr.toString().trim()}`);
  const settings = [
    ...["listen_addresses=127.0.0.1", "unix_socket_directories=", `max_connections=${connections + 20}`],
    ...["shared_buffers=512MB", "work_mem=32MB", "jit=off"],
    ...["fsync=off", "full_page_writes=off", "autovacuum=off"], // Nothing is written while questions are asked.
  ];
  return startDaemon({
    directory,
    argv: (port) => [
      ...as,
      server,
      "-D",
      data,
      "-p",
      String(port),
      ...settings.flatMap((set) => ["-c", set]),
    ],
    stopSignal: "SIGINT",
    async greet(port) {
      const sql = connectTo(port);
      try {
        await sql`SELECT 1`;
      } finally {
        await sql.end();
      }
    },
  });
}

/** What runs a program as a user without rights, to whom the directory is given; null where that can't be done. */
function becomeSomebody(directory: string): readonly string[] | null {
  const setpriv = findProgram("setpriv");
  if (setpriv === null) return null;
  for (const user of USERS) {
    const [uid, gid] = ["-u", "-g"].map((kind) =>
      Number(Bun.spawnSync(["id", kind, user]).stdout.toString()),
    );
    if (!uid || !gid) continue;
    chownSync(directory, uid, gid);
    return [setpriv, `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"];
  }
  return null;
}

function debianDirectories(): readonly string[] {
  if (!existsSync(DEBIAN_PROGRAMS)) return [];
  const versions = readdirSync(DEBIAN_PROGRAMS).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(DEBIAN_PROGRAMS, version, "bin"));
}

/** One connection, made by the first question. */
function connectTo(port: number): postgres.Sql {
  return postgres({ host: "127.0.0.1", port, user: USER, database: DATABASE, max: 1 });
}

/** False where the server has no PostGIS. */
async function load(port: number, metropolis: Metropolis): Promise<boolean> {
  const sql = connectTo(port);
  try {
    const available = await sql`SELECT 1 FROM pg_available_extensions WHERE name = 'postgis'`;
    if (available.length === 0) return false;
    const columns = Object.entries(metropolis.report(0)).map(
      ([name, value]) => `${name} ${typeOf(name, value)}`,
    );
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

function typeOf(name: string, value: FullReport[string]): string {
  if (name === "timestamp") return "bigint";
  return { number: "double precision", boolean: "boolean", string: "text" }[
    typeof value as "number" | "boolean" | "string"
  ];
}

/**
 * Two ways to write it. The first leaves the radius for last, so that the index is read only as far as the page goes.
 */
function contendersOf(daemon: Daemon, { metropolis, oldestMs }: PeerOptions): readonly Contender[] {
  const columns = Object.keys(metropolis.report(0));
  const radiusMeters = RADIUS_MILES * METERS_PER_MILE;
  const center = "ST_MakePoint($1::float8, $2::float8)::geography";
  const select = `SELECT ${columns.join(", ")}, place <-> ${center} AS meters FROM devices`;
  const isYoung = "timestamp >= $3::bigint";
  const nearest = `ORDER BY place <-> ${center} LIMIT ${PAGE}`;

  function contender(name: string, statement: string): Contender {
    return {
      name,
      pid: daemon.pid,
      returns: { records: true, total: false, ages: "24 h", ties: false },
      async connect() {
        const sql = connectTo(daemon.port);
        return {
          ask: async ({ latitude, longitude }) =>
            sql.unsafe(statement, [longitude, latitude, oldestMs], { prepare: true }),
          close: () => sql.end(),
        };
      },
      readDevices: (answer) =>
        (answer as readonly { readonly device_id: string }[]).map((row) => row.device_id),
    };
  }

  return [
    contender(
      POSTGIS,
      `SELECT * FROM (${select} WHERE ${isYoung} ${nearest}) AS page WHERE meters <= ${radiusMeters}`,
    ),
    contender(
      `${POSTGIS} with ST_DWithin`,
      `${select} WHERE ST_DWithin(place, ${center}, ${radiusMeters}, false) AND ${isYoung} ${nearest}`,
    ),
  ];
}

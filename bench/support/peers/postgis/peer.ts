import { fail, ok } from "../../../../src/lib/result.ts";
import { METERS_PER_MILE } from "../../../../src/model/geo/distance.ts";
import {
  type Contender,
  PAGE,
  type PeerOptions,
  RADIUS_MILES,
  type Returns,
  type StartPeer,
} from "../contender.ts";
import type { Daemon } from "../daemon.ts";
import { connectTo, INSTALL, startPostgres } from "./postgres.ts";
import { fillTable } from "./table.ts";

const POSTGIS = "PostGIS KNN";

/** PostgreSQL with a table of full records and an index of their positions. */
export const startPostgis: StartPeer = async (options) => {
  const started = await startPostgres(options.connections);
  if (!started.ok) return started;
  const daemon = started.value;
  const { port, stop } = daemon;
  try {
    const isFilled = await fillTable(port, options.metropolis);
    if (isFilled) {
      return ok({ contenders: contendersOf(daemon, options), address: { peer: "postgis", port }, stop });
    }
    await stop();
    return fail(INSTALL);
  } catch (error) {
    await stop();
    throw error;
  }
};

/** Two queries. The first checks the radius last, so that the index is read only as far as the page needs. */
function contendersOf(daemon: Daemon, { metropolis, oldestMs }: PeerOptions): readonly Contender[] {
  const radiusMeters = RADIUS_MILES * METERS_PER_MILE;
  const center = "ST_MakePoint($1::float8, $2::float8)::geography";
  const select = (columns: readonly string[]) =>
    `SELECT ${columns.join(", ")}, place <-> ${center} AS meters FROM devices`;
  const record = select(Object.keys(metropolis.report(0)));
  const page = (selected: string) =>
    `SELECT * FROM (${selected} WHERE ${isYoung} ${nearest}) AS page WHERE meters <= ${radiusMeters}`;
  const isYoung = "timestamp >= $3::bigint";
  const nearest = `ORDER BY place <-> ${center} LIMIT ${PAGE}`;

  function contender(name: string, each: Returns["each"], statement: string): Contender {
    return {
      name,
      pid: daemon.pid,
      returns: { each, total: false, ages: "24 h", ties: false },
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
    contender(POSTGIS, "record", page(record)),
    contender(`${POSTGIS} of ids`, "id", page(select(["device_id"]))),
    contender(
      `${POSTGIS} with ST_DWithin`,
      "record",
      `${record} WHERE ST_DWithin(place, ${center}, ${radiusMeters}, false) AND ${isYoung} ${nearest}`,
    ),
  ];
}

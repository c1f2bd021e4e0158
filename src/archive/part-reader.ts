import { createInterner } from "../lib/interner.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import { createTupleSet } from "../lib/tuple-set.ts";
import type { ServiceError } from "../model/errors.ts";
import type { AppId, DeviceId, UserId } from "../model/ids.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../model/location-fields.ts";
import type { RecordDictionary, RecordPage } from "../model/record-page.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import type { TimeRange } from "../time/range.ts";
import { VALUE_COLUMNS } from "./columns.ts";
import type { Connection, Database, Rows, SqlCell, SqlValues } from "./duckdb.ts";
import type { Part } from "./manifest.ts";
import { overlaidColumns } from "./overlay-sql.ts";

export interface ArchiveScan {
  readonly appId: AppId;
  readonly deviceId: DeviceId | null;
  readonly userId: UserId | null;
  readonly range: TimeRange;
  readonly accuracyMetersMax: number | null;
  readonly parts: readonly Part[];
  readonly late: ReportBatch | null;
}
export interface PathPoints {
  readonly count: number;
  readonly deviceIds: readonly DeviceId[];
  readonly latitude: Float64Array;
  readonly longitude: Float64Array;
}
export interface ArchiveSession {
  page(scan: ArchiveScan, order: "asc" | "desc", offset: number, limit: number): Promise<RecordPage>;
  count(scan: ArchiveScan): Promise<number>;
  devices(scan: ArchiveScan): Promise<readonly DeviceId[]>;
  path(scan: ArchiveScan): Promise<PathPoints>;
  readonly scannedBytes: number;
}
export interface PartReader {
  withSession<Value>(
    signal: AbortSignal,
    use: (session: ArchiveSession) => Promise<Value>,
  ): Promise<Result<Value, ServiceError>>;
  readonly running: number;
  readonly waiting: number;
  close(): void;
}
const NAMES = VALUE_COLUMNS.map((c) => c.name).join(", ");
export function createPartReader({
  openDatabase,
  pathOf,
}: {
  openDatabase: () => Promise<Database>;
  pathOf: (part: Part) => string;
  slots: number;
  queueMax: number;
}): PartReader {
  return {
    running: 0,
    waiting: 0,
    close() {},
    async withSession(signal, use) {
      const connection = await (await openDatabase()).connect();
      try {
        return ok(await use(session(connection, pathOf, signal)));
      } finally {
        connection.close();
      }
    },
  };
}
void fail;
function session(
  connection: Connection,
  pathOf: (part: Part) => string,
  signal: AbortSignal,
): ArchiveSession {
  async function run(scan: ArchiveScan, select: string, tail: string, more: SqlValues = {}): Promise<Rows> {
    const dev = scan.deviceId === null ? "" : " AND device_id = $device";
    const values: Record<string, SqlValues[string]> = { ...more };
    let from = "(SELECT * FROM none)";
    const base = `SELECT device_id, timestamp, ${NAMES} FROM`;
    let a =
      "SELECT NULL::VARCHAR AS device_id, NULL::BIGINT AS timestamp, " +
      VALUE_COLUMNS.map((c) => `NULL::${c.type} AS ${c.name}`).join(", ") +
      " WHERE false";
    if (scan.parts.length > 0) {
      a = `${base} read_parquet($files) WHERE app_id = $app AND timestamp >= $start AND timestamp < $end${dev}`;
      Object.assign(values, {
        files: scan.parts.map(pathOf),
        app: scan.appId,
        start: BigInt(scan.range.startMs),
        end: BigInt(scan.range.endMs),
      });
      if (scan.deviceId !== null) values.device = scan.deviceId;
    }
    from = `(${a})`;
    if (scan.late !== null) {
      await connection.run(
        `CREATE TEMP TABLE late AS SELECT NULL::VARCHAR AS device_id, NULL::BIGINT AS timestamp, ${VALUE_COLUMNS.map((c) => `NULL::${c.type} AS ${c.name}`).join(", ")} WHERE false`,
      );
      const b = scan.late;
      const cols: SqlCell[][] = [
        Array.from(b.device, (d) => b.texts[d]!),
        Array.from(b.timestampMs, (t) => BigInt(t)),
      ];
      for (const { field, type } of VALUE_COLUMNS) {
        const name = field!.name;
        const n = NUMBER_FIELDS.findIndex((f) => f.name === name);
        if (n >= 0) {
          cols.push(Array.from(b.numbers[n]!, (v) => (Number.isNaN(v) ? null : v)));
          continue;
        }
        const p = PROFILE_FIELDS.findIndex((f) => f.name === name);
        const s = STATE_FIELDS.findIndex((f) => f.name === name);
        cols.push(
          Array.from({ length: b.count }, (_, r) => {
            const t =
              p >= 0
                ? b.profiles[b.profile[r]! * PROFILE_FIELDS.length + p]!
                : b.states[b.state[r]! * STATE_FIELDS.length + s]!;
            if (t === 0) return null;
            return type === "BOOLEAN" ? b.texts[t] === "true" : b.texts[t]!;
          }),
        );
      }
      await connection.append("late", ["VARCHAR", "BIGINT", ...VALUE_COLUMNS.map((c) => c.type)], cols);
      from = `(SELECT a.* FROM (${a}) a ANTI JOIN late USING (device_id, timestamp) UNION ALL SELECT n.device_id, n.timestamp, ${overlaidColumns("n", "o")} FROM late n LEFT JOIN (${a}) o USING (device_id, timestamp))`;
    }
    const where: string[] = [];
    if (scan.userId !== null) {
      where.push("user_id = $user");
      values.user = scan.userId;
    }
    if (scan.accuracyMetersMax !== null) {
      where.push("(horizontal_accuracy IS NULL OR horizontal_accuracy <= $accuracy)");
      values.accuracy = scan.accuracyMetersMax;
    }
    try {
      return await connection.run(
        `SELECT ${select} FROM ${from} x ${where.length > 0 ? `WHERE ${where.join(" AND ")}` : ""} ${tail}`,
        values,
        signal,
      );
    } finally {
      if (scan.late !== null) await connection.run("DROP TABLE IF EXISTS late");
    }
  }
  return {
    scannedBytes: 1,
    async page(scan, order, offset, limit) {
      const rows = await run(
        scan,
        `device_id, timestamp::DOUBLE, ${NAMES}`,
        `ORDER BY timestamp ${order}, device_id ${order} LIMIT $limit OFFSET $offset`,
        { limit: BigInt(limit), offset: BigInt(offset) },
      );
      return pageOf(rows);
    },
    async count(scan) {
      return (await run(scan, "count(*)::DOUBLE", "")).numbers(0)[0]!;
    },
    async devices(scan) {
      return (await run(scan, "DISTINCT device_id", "ORDER BY device_id")).texts(0) as DeviceId[];
    },
    async path(scan) {
      const r = await run(scan, "device_id, latitude, longitude", "ORDER BY device_id, timestamp");
      return {
        count: r.count,
        deviceIds: r.texts(0) as DeviceId[],
        latitude: r.numbers(1),
        longitude: r.numbers(2),
      };
    },
  };
}
const texts = createInterner();
const profiles = createTupleSet(PROFILE_FIELDS.length);
const states = createTupleSet(STATE_FIELDS.length);
const t = (i: number) => (i === 0 ? null : texts.text(i));
const dictionary: RecordDictionary = {
  profileText: (p, m) => t(profiles.at(p, m)),
  stateText: (s, m) => t(states.at(s, m)),
};
function pageOf(rows: Rows): RecordPage {
  const count = rows.count;
  const numbers = new Float64Array(count * NUMBER_FIELDS.length),
    profile = new Uint32Array(count),
    state = new Uint32Array(count);
  const cols = new Map(
    VALUE_COLUMNS.map((c, i) => [
      c.name,
      c.type === "DOUBLE"
        ? rows.numbers(i + 2)
        : c.type === "BOOLEAN"
          ? rows.booleans(i + 2)
          : rows.texts(i + 2),
    ]),
  );
  for (let r = 0; r < count; r++) {
    NUMBER_FIELDS.forEach((f, i) => {
      numbers[r * NUMBER_FIELDS.length + i] = cols.get(f.name)![r] as number;
    });
    const get = (n: string) => {
      const v = cols.get(n)![r];
      return v === null || v === undefined ? 0 : texts.intern(String(v));
    };
    profile[r] = profiles.add(PROFILE_FIELDS.map((f) => get(f.name)));
    state[r] = states.add(STATE_FIELDS.map((f) => get(f.name)));
  }
  return {
    count,
    deviceIds: rows.texts(0) as DeviceId[],
    timestampMs: rows.numbers(1),
    numbers,
    profile,
    state,
    dictionary,
  };
}

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { OpenDirectory } from "../../../src/app/directory.ts";
import { type Connection, openDatabase } from "../../../src/archive/duckdb/database.ts";
import { BATCH_REPORTS_MAX } from "../../../src/model/report-batch.ts";
import { systemClock } from "../../../src/model/time/clock.ts";
import type { ExportQuery } from "../../../src/service/export/export-formats.ts";
import { median } from "../../support/figures/report.ts";
import { createYearFleet, type YearFleet } from "../../support/fleets/year-fleet.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { startArchiveServer } from "../../support/servers/archive-server.ts";
import { type HttpClient, openHttpClient } from "../../support/servers/http-client.ts";
import { getRequest } from "../../support/servers/load.ts";
import {
  archivedDirectory,
  archivePath,
  MINUTES_PER_DAY,
  openBenchDirectory,
  SERVED_APP,
  temporaryDataDir,
} from "../../support/store/archived-directory.ts";

/** The required records a second for a device-year. */
const BOUNDS = { ndjson: 500_000, geojson: 300_000, csv: null, parquet: 1_000_000 } as const;
type Format = keyof typeof BOUNDS;
const FORMATS = Object.keys(BOUNDS) as Format[];

export const bench: Bench = {
  question:
    "a device's archived year as a file, against DuckDB's own COPY of the same files: records a second to the last byte",
  sizes: {
    days: { help: "archived days", smoke: 5, full: 357 },
    dayMinutes: { help: "minutes of each day with a report", smoke: 120, full: MINUTES_PER_DAY },
    seed: { help: "of the device", smoke: 15, full: 15 },
    rounds: { help: "times that each file is made", smoke: 1, full: 7 },
    questions: { help: "of nearby, alone and beside an export and reports", smoke: 20, full: 5000 },
  },
  async run(run) {
    const fleet = createYearFleet({ devices: 1, seed: run.size("seed") });
    const made = await archivedDirectory({
      fleet,
      archivedDays: run.size("days"),
      minutesPerDay: run.size("dayMinutes"),
    });
    const directory = await openBenchDirectory(made.dataDir, systemClock);
    const control = await openControl(directory, made.dataDir);
    const query = {
      appId: SERVED_APP,
      deviceIds: fleet.deviceIds,
      userId: null,
      originals: false,
      range: { startMs: made.dayStartsMs[0]!, endMs: made.dayStartsMs.at(-1)! + 86_400_000 },
    };
    const records = run.size("days") * run.size("dayMinutes");
    try {
      for (const format of FORMATS) await compare(run, directory, control, { ...query, format }, records);
    } finally {
      control.close();
      await directory.close();
    }
    await askBeside(run, made.dataDir, fleet);
  },
};

/** The maximum ratio of nearby's 99th percentile with and without exports. */
const BESIDE_MAX = 3;

/** Measures nearby alone, and during continuous exports and batches like those of an import. */
async function askBeside(run: BenchRun, dataDir: string, fleet: YearFleet): Promise<void> {
  const server = await startArchiveServer(dataDir);
  const authorization = `Bearer ${server.key}`;
  const client = await openHttpClient(server.url);
  const nearby = `${server.url}/api/v1/devices/nearby?latitude=53.4&longitude=-2.9&radius_miles=50`;
  const request = getRequest(nearby, { authorization });
  let isOver = false;
  const others = async (work: () => Promise<Response>) => {
    while (!isOver) for await (const piece of (await work()).body ?? []) if (isOver) return piece;
    return null;
  };
  try {
    await p99Ms(client, request, run.size("questions"));
    const aloneMs = await p99Ms(client, request, run.size("questions"));
    const exporting = others(() =>
      fetch(`${server.url}/api/v1/export?format=ndjson&start_date=2020-01-01`, {
        headers: { authorization },
      }),
    );
    const body = reportsOf(fleet);
    const headers = { authorization, "content-type": "application/x-ndjson" };
    const importing = others(() =>
      fetch(`${server.url}/ingest/v1/locations`, { method: "POST", headers, body }),
    );
    const besideMs = await p99Ms(client, request, run.size("questions"));
    isOver = true;
    await Promise.all([exporting, importing]);
    run.figures([
      { name: "nearby alone, p99", unit: "ms", runs: [aloneMs] },
      { name: "nearby beside an export and an import, p99", unit: "ms", runs: [besideMs] },
    ]);
    run.verdict("nearby beside an export and an import, p99, times alone", besideMs / aloneMs, "", {
      atMost: BESIDE_MAX,
    });
  } finally {
    isOver = true;
    client.close();
    await server.stop();
  }
}

async function p99Ms(client: HttpClient, request: Uint8Array, questions: number): Promise<number> {
  const times: number[] = [];
  for (let asked = 0; asked < questions; asked++) {
    const startMs = performance.now();
    await client.ask(request);
    times.push(performance.now() - startMs);
  }
  return times.sort((a, b) => a - b)[Math.floor(questions * 0.99)]!;
}

/** A batch as large as an import's, of the last days. */
function reportsOf({ deviceIds }: YearFleet): string {
  const startMs = Date.now() - BATCH_REPORTS_MAX * 1000;
  return Array.from({ length: BATCH_REPORTS_MAX }, (_, row) =>
    JSON.stringify({
      device_id: `beside-${deviceIds[0]}`,
      timestamp: startMs + row * 1000,
      latitude: 1,
      longitude: 2,
    }),
  ).join("\n");
}

/** Creates our file and DuckDB's in turns; the first of each is not counted. */
async function compare(
  run: BenchRun,
  directory: OpenDirectory,
  control: Control,
  query: Omit<ExportQuery, "options"> & { readonly format: Format },
  records: number,
): Promise<void> {
  const ours: Made[] = [];
  const copies: number[] = [];
  const { format } = query;
  for (let round = 0; round <= run.size("rounds"); round++) {
    const made = await make(directory, query);
    const copyMs = await control.copy(format);
    await control.expectSame(made.bytes, format, records);
    if (round === 0) continue;
    ours.push(made);
    copies.push(copyMs);
  }
  const perSecond = (ms: number) => (records / ms) * 1000;
  const speed = { name: format, unit: "records/s", runs: ours.map(({ ms }) => perSecond(ms)) };
  const copied = { name: `${format}, DuckDB's COPY`, unit: "records/s", runs: copies.map(perSecond) };
  run.figures([
    speed,
    copied,
    { name: `${format}, first piece`, unit: "ms", runs: ours.map(({ firstMs }) => firstMs) },
    { name: `${format}, processor`, unit: "s", runs: ours.map(({ cpuSeconds }) => cpuSeconds) },
    { name: `${format}, resident`, unit: "MB", runs: ours.map(({ residentMb }) => residentMb) },
  ]);
  run.ratio(`${format}, times DuckDB's COPY`, speed, copied);
  const bound = BOUNDS[format];
  if (bound !== null) run.verdict(`${format}, records a second`, median(speed.runs), "", { atLeast: bound });
}

interface Made {
  readonly bytes: Uint8Array;
  readonly ms: number;
  readonly firstMs: number;
  readonly cpuSeconds: number;
  /** The peak memory during the export, without the file itself. */
  readonly residentMb: number;
}

async function make(directory: OpenDirectory, query: Omit<ExportQuery, "options">): Promise<Made> {
  const options = {
    zone: null,
    redact: false,
    recordSeparator: false,
    gapMs: 1_800_000,
    simplifyMeters: null,
  };
  Bun.gc(true);
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  const begun = await directory.exports.start(
    { ...query, options },
    { signal: new AbortController().signal },
  );
  if (!begun.ok) throw new Error(`an export of the bench is refused: ${JSON.stringify(begun.error)}`);
  const firstMs = performance.now() - startMs;
  const pieces: Uint8Array[] = [];
  let held = 0;
  let residentMax = 0;
  for await (const piece of begun.value.pieces()) {
    pieces.push(piece);
    held += piece.length;
    residentMax = Math.max(residentMax, process.memoryUsage.rss() - held);
  }
  const ms = performance.now() - startMs;
  const { user, system } = process.cpuUsage(cpu);
  const cpuSeconds = (user + system) / 1e6;
  return { bytes: Buffer.concat(pieces), ms, firstMs, cpuSeconds, residentMb: residentMax / 1e6 };
}

type Control = Awaited<ReturnType<typeof openControl>>;

/** Opens DuckDB alone, over the same parts. */
async function openControl({ archive }: OpenDirectory, dataDir: string) {
  const scratch = temporaryDataDir("copied");
  const database = await openDatabase({
    threads: 2,
    memoryBytes: 512_000_000,
    directories: [join(dataDir, "archive"), scratch],
    spillDirectory: scratch,
    cachesFiles: false,
  });
  const connection = await database.connect();
  const parts = [...archive.manifest.days.values()].flatMap((day) => day.parts);
  const files = parts.map(({ file }) => archivePath(dataDir, file));
  const copyFormats = { ndjson: "json", geojson: "json", csv: "csv", parquet: "parquet" } as const;
  const expected = await digest(connection, "read_parquet($files)", { files });
  return {
    async copy(format: Format): Promise<number> {
      const startMs = performance.now();
      const path = join(scratch, "copy");
      const sql = "SELECT * EXCLUDE (app_id, h3_cell) FROM read_parquet($files)";
      await connection.run(`COPY (${sql}) TO '${path}' (FORMAT ${copyFormats[format]})`, { files });
      return performance.now() - startMs;
    },
    /** Compares the records by sums. */
    async expectSame(bytes: Uint8Array, format: Format, records: number): Promise<void> {
      const path = join(scratch, `made.${format}`);
      writeFileSync(path, readableBytes(bytes, format));
      const found = await digest(connection, SOURCES[format], { path });
      if (found !== expected || !found.startsWith(`${records} `))
        throw new Error(`a ${format} of ${found} instead of ${expected} (${records} records)`);
    },
    close() {
      connection.close();
      database.close();
    },
  };
}

/** DuckDB's table functions for the formats. */
const SOURCES: Readonly<Record<Format, string>> = {
  ndjson: "read_json($path, format = 'newline_delimited')",
  geojson: "read_json($path, format = 'newline_delimited')",
  csv: "read_csv($path)",
  parquet: "read_parquet($path)",
};

/** The part that DuckDB can read: of GeoJSON the properties, one Feature per line. */
function readableBytes(bytes: Uint8Array, format: Format): Uint8Array | string {
  if (format !== "geojson") return bytes;
  const features = Buffer.from(bytes)
    .toString()
    .split("\n")
    .filter((line) => line.includes('"Feature"'));
  return features
    .map((line) =>
      JSON.stringify(JSON.parse(line.slice(line.indexOf("{"), line.lastIndexOf("}") + 1)).properties),
    )
    .join("\n");
}

async function digest(
  connection: Connection,
  source: string,
  values: Readonly<Record<string, string | readonly string[]>>,
): Promise<string> {
  const rows = await connection.run(
    `SELECT count(*) || ' ' || sum(timestamp::BIGINT) || ' ' || round(sum(altitude::DOUBLE), 3)
       || ' ' || count(DISTINCT battery_level) FROM ${source}`,
    values,
  );
  return rows.texts(0)[0]!;
}

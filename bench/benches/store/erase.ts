import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { SEAL_MEMORY_BYTES } from "../../../src/app/config.ts";
import { dayFolder } from "../../../src/archive/archive-files.ts";
import { openKeyStore } from "../../../src/auth/key-store.ts";
import { directoryPaths } from "../../../src/directory/paths.ts";
import { systemClock as clock } from "../../../src/model/time/clock.ts";
import { utcDayName, utcDayOf } from "../../../src/model/time/utc-day.ts";
import { createPlatform } from "../../../src/runtime/platform.ts";
import { median } from "../../support/figures/report.ts";
import { createRandom, pick } from "../../support/fleets/random.ts";
import { createYearFleet } from "../../support/fleets/year-fleet.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { type ArchiveServer, startArchiveServer } from "../../support/servers/archive-server.ts";
import { getRequest } from "../../support/servers/load.ts";
import { measureOpenLoad, percentile } from "../../support/servers/open-load.ts";
import {
  ARCHIVED_DAYS_MAX,
  type ArchivedDirectory,
  archivePath,
  MINUTES_PER_DAY,
  makeArchivedDirectory,
  SERVED_APP,
  temporaryDataDir,
} from "../../support/store/archived-directory.ts";
import { CrowdedYear } from "../../support/store/crowded-year.ts";
import { askAll, otherPaths, type Place, RADIUS_MILES } from "../../support/store/other-questions.ts";

const REQUESTS_PER_SECOND = 200;
const CONNECTIONS = 16;
const CENTERS = 1000;
const SHOWN_SECONDS_MAX = 1;
const GONE_SECONDS_MAX = 15 * 60;
const P99_TIMES_MAX = 3;
const POLL_MS = 200;

export const bench: Bench = {
  question:
    "erasing one of many devices: until no answer shows it, until its bytes are gone, and what requests about others notice; against a rewrite of its days by DuckDB alone",
  sizes: {
    devices: { help: "devices, each of which reports on one day of the week", smoke: 200, full: 200_000 },
    minutes: { help: "minutes that each reports on its day", smoke: 3, full: 5 },
    dayMinutes: {
      help: "minutes of each day that the erased device reports",
      smoke: 150,
      full: MINUTES_PER_DAY,
    },
    days: { help: "archived days", smoke: 3, full: ARCHIVED_DAYS_MAX },
    handDays: { help: "archived days that DuckDB alone rewrites, as the control", smoke: 2, full: 60 },
    questions: { help: "about other devices, before and after", smoke: 60, full: 10_000 },
    idleMs: { help: "how long requests are sent while the server is idle", smoke: 200, full: 60_000 },
    positions: { help: "positions of the track that devices follow, at most", smoke: 5000, full: 500_000 },
    seed: { help: "of the fleet and the questions", smoke: 31, full: 31 },
  },
  async run(run) {
    const seed = run.size("seed");
    const devices = run.size("devices");
    const fleet = createYearFleet({ devices, seed, positionsMax: run.size("positions") });
    const [subjectMinutes, minutes] = [run.size("dayMinutes"), run.size("minutes")];
    const year = new CrowdedYear({ fleet, subjectMinutes, minutes });
    const made = await makeArchivedDirectory({
      archivedDays: run.size("days"),
      batchesOfDay: (dayStartMs) => year.batchesOfDay(dayStartMs),
    });
    const handMs = await rewriteByHand(run, made, year.subjectId);
    const key = await createEraserKey(made.dataDir);
    const server = { ...(await startArchiveServer(made.dataDir)), key };
    try {
      const centers = await centersFarFrom(server, year.subjectId);
      const { dayStartsMs } = made;
      const paths = otherPaths(run.size("questions"), { fleet, year, dayStartsMs, centers, seed });
      const before = await askAll(server, paths);
      const idle = await measureIdle(run, server, centers);
      const erased = await eraseBesideRequests(server, made, year.subjectId, centers);
      const later = await measureIdle(run, server, centers);
      const after = await askAll(server, paths);
      reportErased(run, erased, handMs, dayStartsMs.length);
      reportRequests(run, { during: erased.latenciesMs, idle, later });
      const differences = after.filter((digest, index) => digest !== before[index]);
      run.verdict(`answers about others that changed, of ${paths.length}`, differences.length, "", {
        atMost: 0,
      });
    } finally {
      await server.stop();
    }
    await expectNoTrace(made.dataDir, year.subjectId);
  },
};

/** DuckDB writes files of days anew without the device, one after the other and with nothing else to do. */
async function rewriteByHand(
  run: BenchRun,
  { dataDir, dayStartsMs }: ArchivedDirectory,
  subjectId: string,
): Promise<readonly number[]> {
  const threads = "1"; // As in a seal.
  const instance = await DuckDBInstance.create(":memory:", {
    threads,
    memory_limit: `${SEAL_MEMORY_BYTES / 1_000_000}MB`,
  });
  const connection = await instance.connect();
  const target = join(temporaryDataDir("by-hand"), "day.parquet");
  const runs: number[] = [];
  for (const dayMs of dayStartsMs.slice(0, run.size("handDays"))) {
    const folder = archivePath(dataDir, dayFolder(utcDayOf(dayMs)));
    const files = readdirSync(folder).map((name) => `'${join(folder, name)}'`);
    const startMs = performance.now();
    await connection.run(
      `COPY (FROM read_parquet([${files.join(", ")}], hive_partitioning = false)
        WHERE NOT (app_id = '${SERVED_APP}' AND device_id = '${subjectId}'))
       TO '${target}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 20480, PARQUET_VERSION v2)`,
    );
    runs.push(performance.now() - startMs);
    rmSync(target);
  }
  connection.closeSync();
  instance.closeSync();
  return runs;
}

async function createEraserKey(dataDir: string): Promise<string> {
  const { files, acquireLock, pid } = createPlatform();
  const path = directoryPaths(dataDir).keys;
  const keys = await openKeyStore({ files, path, clock, acquireLock, process: { pid, command: "bench" } });
  const created = await keys.create({
    appId: SERVED_APP,
    permissions: ["read", "erase"],
    tier: "unlimited",
    label: "bench",
    ...{ deviceId: null, userId: null, expiresMs: null, view: null },
  });
  if (!created.ok) throw new Error(`a key can't be created: ${created.error.kind}`);
  return created.value.text;
}

/** Members of an answer, and null for a 404. */
async function ask({ url, key }: ArchiveServer, path: string, body?: object): Promise<Members | null> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const answer = await fetch(url + path, { headers, ...init });
  const members = (await answer.json()) as Members;
  if (answer.status === 404) return null;
  if (answer.status !== 200) throw new Error(`${path} answers ${answer.status}: ${JSON.stringify(members)}`);
  return members;
}

interface Members {
  readonly location?: Place;
  readonly locations?: readonly (Place & { readonly device_id: string })[];
  readonly results?: readonly { readonly device_id: string }[];
  readonly erasure?: { readonly id: string; readonly state: string };
}

/** Positions of devices whose circles do not have the subject. */
async function centersFarFrom(server: ArchiveServer, subjectId: string): Promise<readonly Place[]> {
  const { location } = (await ask(server, `/api/v1/devices/${subjectId}/locations/current`))!;
  const { locations } = (await ask(server, `/api/v1/locations/current?limit=${CENTERS}`))!;
  const degreesMin = (2 * RADIUS_MILES) / 40; // Of longitude, at latitudes of tracks.
  return locations!.filter(
    ({ latitude, longitude }) =>
      Math.abs(latitude - location!.latitude) > degreesMin ||
      Math.abs(longitude - location!.longitude) > degreesMin,
  );
}

interface Erased {
  /** From the request, in seconds, until it was answered, until no answer showed the subject, until it was finished. */
  readonly answeredSeconds: number;
  readonly hiddenSeconds: number;
  readonly goneSeconds: number;
  readonly latenciesMs: readonly number[];
}

async function eraseBesideRequests(
  server: ArchiveServer,
  { dayStartsMs }: ArchivedDirectory,
  subjectId: string,
  centers: readonly Place[],
): Promise<Erased> {
  const isShown = await createShownCheck(server, subjectId, dayStartsMs[0]!);
  if (!(await isShown())) throw new Error("the device is not shown before it is erased");
  let isOver = false;
  const load = loadNearby(server, centers, () => !isOver);
  const startMs = performance.now();
  const secondsSince = () => (performance.now() - startMs) / 1000;
  const answer = ask(server, "/api/v1/erasures", { device_id: subjectId }).then((made) => {
    return { ...made!.erasure!, answeredSeconds: secondsSince() };
  });
  while (await isShown());
  const hiddenSeconds = secondsSince();
  const { id, answeredSeconds } = await answer;
  const isFinished = async () => (await ask(server, `/api/v1/erasures/${id}`))!.erasure!.state === "finished";
  while (!(await isFinished())) await Bun.sleep(POLL_MS);
  const goneSeconds = secondsSince();
  isOver = true;
  return { answeredSeconds, hiddenSeconds, goneSeconds, latenciesMs: await load };
}

/** Asks for the device's newest position, its archived day, and what is near where it is. */
async function createShownCheck(server: ArchiveServer, subjectId: string, dayMs: number) {
  const currentPath = `/api/v1/devices/${subjectId}/locations/current`;
  const { latitude, longitude } = (await ask(server, currentPath))!.location!;
  const day = utcDayName(utcDayOf(dayMs));
  const dayPath = `/api/v1/devices/${subjectId}/locations/history?start_date=${day}&end_date=${day}`;
  const nearPath = `/api/v1/devices/nearby?latitude=${latitude}&longitude=${longitude}&radius_miles=0.1&max_age_hours=48`;
  return async () => {
    const [current, page, near] = [
      await ask(server, currentPath),
      await ask(server, dayPath),
      await ask(server, nearPath),
    ];
    const isNear = near!.results!.some(({ device_id }) => device_id === subjectId);
    return current !== null || (page?.locations ?? []).length > 0 || isNear;
  };
}

/** Sorted latencies of requests about random circles, which become due at a fixed rate. */
function loadNearby(
  { url, key }: ArchiveServer,
  centers: readonly Place[],
  goesOn: () => boolean,
): Promise<readonly number[]> {
  const random = createRandom(32);
  const next = () => {
    const { latitude, longitude } = pick(random, centers);
    const circle = `latitude=${latitude}&longitude=${longitude}&radius_miles=${RADIUS_MILES}`;
    const path = `/api/v1/devices/nearby?${circle}&max_age_hours=48`;
    return getRequest(url + path, { authorization: `Bearer ${key}` });
  };
  const rate = { requestsPerSecond: REQUESTS_PER_SECOND, connections: CONNECTIONS };
  return measureOpenLoad({ url, ...rate, next, goesOn });
}

function measureIdle(
  run: BenchRun,
  server: ArchiveServer,
  centers: readonly Place[],
): Promise<readonly number[]> {
  const untilMs = performance.now() + run.size("idleMs");
  return loadNearby(server, centers, () => performance.now() < untilMs);
}

function reportErased(run: BenchRun, erased: Erased, handMs: readonly number[], days: number): void {
  const { answeredSeconds, hiddenSeconds, goneSeconds } = erased;
  run.verdict("until the request is answered", answeredSeconds, "s");
  run.verdict("until no answer shows the device", hiddenSeconds, "s", { atMost: SHOWN_SECONDS_MAX });
  run.verdict("until its bytes are gone", goneSeconds, "s", { atMost: GONE_SECONDS_MAX });
  const oursMs = (goneSeconds * 1000) / days;
  run.figures([
    { name: "an archived day, of all until its bytes are gone", unit: "ms", runs: [oursMs] },
    { name: "an archived day written anew by DuckDB alone", unit: "ms", runs: handMs },
  ]);
  run.verdict("a day, times DuckDB alone", oursMs / median(handMs), "");
}

function reportRequests(
  run: BenchRun,
  latencies: Readonly<Record<"during" | "idle" | "later", readonly number[]>>,
): void {
  const p99 = (name: string, sorted: readonly number[]) => ({
    name: `nearby, p99 ${name}`,
    unit: "ms",
    runs: [percentile(sorted, 0.99)],
  });
  const during = p99("while it is erased", latencies.during);
  const idle = p99("idle before", latencies.idle);
  const later = p99("idle after", latencies.later);
  run.figures([during, idle, later]);
  run.ratio("nearby meanwhile, times idle before", during, idle, { atMost: P99_TIMES_MAX });
}

/** `verify --erased` finds nothing in any file. */
async function expectNoTrace(dataDir: string, subjectId: string): Promise<void> {
  const flags = ["--erased", "--device", subjectId, "--data-dir", dataDir];
  const argv = [process.execPath, "src/main.ts", "verify", ...flags];
  const child = Bun.spawn(argv, {
    cwd: join(import.meta.dir, "../../.."),
    stdout: "pipe",
    stderr: "inherit",
  });
  const said = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`the device is not erased: ${said}`);
}

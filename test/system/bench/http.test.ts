import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { drawPoints } from "../../../bench/support/fleets/metropolis.ts";
import { checkNearby } from "../../../bench/support/http/checks/nearby.ts";
import { checkPages, knownByDay } from "../../../bench/support/http/checks/pages.ts";
import { createCity, writeCity } from "../../../bench/support/http/city.ts";
import { takeCores } from "../../../bench/support/http/cores.ts";
import { chooseQuestions, NEARBY_KINDS, nearbyQuestion } from "../../../bench/support/http/nearby-kinds.ts";
import {
  type Goals,
  holdMicrosOf,
  PairsByName,
  takePairs,
  withBareServer,
} from "../../../bench/support/http/pairs.ts";
import { createMoves } from "../../../bench/support/http/reports/moves.ts";
import { startReporter } from "../../../bench/support/http/reports/reporter.ts";
import { chooseClient, timed } from "../../../bench/support/http/turn.ts";
import { runWrk } from "../../../bench/support/http/wrk.ts";
import type { Bench } from "../../../bench/support/run/bench.ts";
import { runBench } from "../../../bench/support/run/bench-run.ts";
import { measureOpenLoad } from "../../../bench/support/servers/open-load.ts";
import {
  startProcess,
  startWherehouse,
  type WherehouseProcess,
} from "../../../bench/support/servers/server.ts";
import { utcDayOf } from "../../../src/model/time/utc-day.ts";
import * as fc from "../../support/fast-check.ts";
import { outcome } from "../../support/rejection.ts";

const MS_PER_DAY = 86_400_000;
const DEVICES = 1000;

const cityOptions = { devices: DEVICES, seed: 5, nowMs: Date.now(), tracks: 3, trackReports: 4 };
const city = createCity(cityOptions);
const [best100, , best10] = NEARBY_KINDS;
let dataDir: string;
let wherehouse: WherehouseProcess;
let headers: Record<string, string>;

beforeAll(async () => {
  dataDir = await writeCity(city);
  wherehouse = await startWherehouse(copyOf(dataDir));
  headers = { authorization: `Bearer ${wherehouse.key}` };
});
afterAll(() => wherehouse.stop());

function copyOf(directory: string): string {
  const copy = mkdtempSync(join(tmpdir(), "wherehouse-http-test-"));
  cpSync(directory, copy, { recursive: true });
  return copy;
}

/** A server of this process, for as long as `use` takes. */
async function withServer<T>(
  fetch: (request: Request) => Response | Promise<Response>,
  use: (url: string) => Promise<T>,
): Promise<T> {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch });
  try {
    return await use(`http://127.0.0.1:${server.port}`);
  } finally {
    await server.stop(true);
  }
}

test("createCity() has nobody near the end of 24 hours, and tracks that are older", () => {
  const oldestMs = Date.now() - MS_PER_DAY;
  const ages = Array.from(city.metropolis.timestampMs, (timestampMs) => timestampMs - oldestMs);
  expect(ages.filter((ms) => ms > -1000 && ms < 3_000_000)).toEqual([]);
  expect(city.live.length).toBe(ages.filter((ms) => ms > 0).length);
  expect(city.tracked).toEqual(city.live.slice(0, 3));
  const reports = [...city.reports()];
  expect(reports.length).toBe(DEVICES + 3 * 4);
  for (const { timestamp } of reports.slice(0, 12)) {
    expect(new Date(Number(timestamp)).toISOString().slice(0, 10)).toBe(city.trackDay);
    expect(Number(timestamp)).toBeLessThan(oldestMs);
  }
});

test("createCity() counts the reports of a day", () => {
  const days = [...city.reports()].map(({ timestamp }) => utcDayOf(Number(timestamp)));
  for (const day of new Set(days)) expect(city.countOf(day)).toBe(days.filter((one) => one === day).length);
});

async function choose(kind = best10!) {
  const points = drawPoints(60, 6);
  return chooseQuestions({ url: wherehouse.url, headers, kind, points, count: 30, seed: 1 });
}

test("chooseQuestions() takes questions with a full page, and all where no page is full", async () => {
  const { asked, leftOut, paths, answerBytes } = await choose();
  expect(asked.length).toBe(30);
  expect(leftOut).toBeGreaterThan(0);
  for (const path of paths) {
    const { pagination } = (await (await fetch(wherehouse.url + path, { headers })).json()) as {
      pagination: object;
    };
    expect(pagination).toMatchObject({ count: 10 });
  }
  expect(answerBytes).toBeGreaterThan(3000);
  expect((await choose(NEARBY_KINDS[3])).asked.length).toBe(60);
});

test("checkNearby() accepts what the server answers, of every kind", async () => {
  for (const kind of NEARBY_KINDS) {
    const questions = await choose(kind);
    const compared = await checkNearby(wherehouse.url, city.metropolis, questions, 10);
    // A device may turn too old between two looks at the clock.
    expect(compared).toBeGreaterThanOrEqual(Math.min(10, questions.asked.length) - 1);
  }
});

test("checkNearby() throws where a position, a total, a distance or a value is wrong", async () => {
  const questions = await choose();
  const check = (url: string) => checkNearby(url, city.metropolis, questions, 30);
  type Body = { pagination: Record<string, number>; results: Record<string, unknown>[] };
  const tampered = (tamper: (body: Body) => void) =>
    withServer(async ({ url }) => {
      const { pathname, search } = new URL(url);
      const body = (await (await fetch(`${wherehouse.url}${pathname}${search}`, { headers })).json()) as Body;
      tamper(body);
      return Response.json(body);
    }, check);
  expect(await tampered(() => {})).toBeGreaterThan(0);
  expect(await outcome(tampered(({ pagination }) => pagination.total_matches!++))).toThrow("finds");
  expect(await outcome(tampered(({ results }) => results.pop()))).toThrow("on its page");
  expect(await outcome(tampered(({ results }) => results.reverse()))).toThrow("at 0, not");
  const first = ({ results }: Body) => results[0] as { distance_miles: number; location: { speed: number } };
  expect(
    await outcome(
      tampered((body) => {
        first(body).distance_miles += 0.001;
      }),
    ),
  ).toThrow("miles off");
  expect(
    await outcome(
      tampered((body) => {
        first(body).location.speed += 1;
      }),
    ),
  ).toThrow("reported");
});

test("checkPages() accepts pages of days and of current positions, and throws where a record is another", async () => {
  const { url } = wherehouse;
  const day = city.trackDay;
  const user = city.metropolis.report(city.tracked[0]!).user_id;
  const history = `locations/history?start_date=${day}&end_date=${day}&limit=100`;
  const paths = [
    "/api/v1/locations/current?limit=100&offset=950",
    `/api/v1/${history}&offset=20`,
    `/api/v1/users/${user}/${history}`,
    `/api/v1/devices/${city.metropolis.deviceId(city.tracked[1]!)}/${history}`,
    "/health",
  ];
  const days = knownByDay(city);
  expect(await checkPages(url, city, days, { paths, headers })).toBe(4);
  const shifted = withServer(
    async (request) => {
      const { pathname, search } = new URL(request.url);
      const body = (await (await fetch(url + pathname + search, { headers })).json()) as {
        locations: object[];
      };
      return Response.json({ ...body, locations: body.locations.reverse() });
    },
    (other) => checkPages(other, city, days, { paths: paths.slice(1, 2), headers }),
  );
  expect(await outcome(shifted)).toThrow("has the records of its page");
});

test("createMoves() sends whole reports with the time given, close to where the device was", () => {
  const devices = city.live.slice(0, 25);
  const options = { url: "http://127.0.0.1:1", key: "k", metropolis: city.metropolis, devices };
  const moves = createMoves({ ...options, batchSize: 10, seed: 7 });
  let sent = 0;
  fc.assert(
    fc.property(fc.integer({ min: 1e12, max: 2e12 }), (nowMs) => {
      const [head, body] = new TextDecoder().decode(moves.next(nowMs)).split("\r\n\r\n");
      expect(head).toContain(`content-length: ${Buffer.byteLength(body!)}`);
      const { locations } = JSON.parse(body!) as { locations: Record<string, number | string>[] };
      const batch = sent++ % 3;
      const expected = devices.slice(batch * 10, batch * 10 + 10).map(city.metropolis.report);
      expect(moves.last()).toEqual({ deviceId: String(expected[0]!.device_id), timestampMs: nowMs });
      expect(locations.length).toBe(expected.length);
      locations.forEach(({ latitude, longitude, ...others }, row) => {
        const { latitude: oldLatitude, longitude: oldLongitude, ...report } = expected[row]!;
        expect(others).toEqual({ ...report, timestamp: nowMs } as typeof others);
        expect(Math.abs(Number(latitude) - Number(oldLatitude))).toBeLessThan(0.001);
        expect(Math.abs(Number(longitude) - Number(oldLongitude))).toBeLessThan(0.001);
      });
    }),
  );
  const [a, b] = [0, 1, 2, 3].map(() => new TextDecoder().decode(moves.next(1e12)));
  expect(a!.length).toBeGreaterThan(1000);
  expect(b).not.toBe(a);
});

test("a reporter sends batches at the rate it is told, and tells what was acknowledged", async () => {
  const server = await startWherehouse(copyOf(dataDir));
  const { url, key } = server;
  const reporter = await startReporter({ city: cityOptions, url, key, seed: 2 }, []);
  try {
    const beforeMs = Date.now();
    const { reports, reportsPerSecond, last } = await reporter.report(2000, 0.5);
    expect(reports).toBeGreaterThanOrEqual(900);
    expect(reports).toBeLessThanOrEqual(1100);
    expect(reportsPerSecond).toBeLessThanOrEqual(2200);
    expect(last.timestampMs).toBeGreaterThanOrEqual(beforeMs);
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`${url}/api/v1/devices/${last.deviceId}/locations/current`, { headers });
    expect(await answer.json()).toMatchObject({ location: { timestamp: last.timestampMs } });
  } finally {
    await reporter.end();
    await server.stop();
  }
});

const wrk = Bun.which("wrk");

test("timed() takes a turn in which nobody was answered again", async () => {
  const loads = [0, 0, 3].map((requests) => ({ requests, requestsPerSecond: requests }));
  const turn = await timed(wherehouse, async () => loads.shift()!);
  expect(turn.requestsPerSecond).toBe(3);
  const nothing = async () => ({ requests: 0, requestsPerSecond: 0 });
  expect(await outcome(timed(wherehouse, nothing))).toThrow("No request was answered");
});

test.skipIf(wrk === null)("runWrk() asks all questions with their headers, in turn", async () => {
  const seen = new Map<string, number>();
  const paths = ["/a?x=1", "/b", "/c?y=%20"];
  const answered = await withServer(
    (request) => {
      const { pathname, search } = new URL(request.url);
      const name = `${request.headers.get("authorization")} ${pathname}${search}`;
      seen.set(name, (seen.get(name) ?? 0) + 1);
      return new Response("ok");
    },
    (url) =>
      runWrk({
        program: wrk!,
        url,
        questions: { paths, headers: { authorization: "Bearer k" } },
        connections: 2,
        seconds: 1,
      }),
  );
  expect([...seen.keys()].sort()).toEqual(paths.map((path) => `Bearer k ${path}`));
  const counts = [...seen.values()];
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
  expect(answered.requests).toBeGreaterThan(paths.length);
  expect(answered.requestsPerSecond).toBeGreaterThan(0);
});

test.skipIf(wrk === null)("runWrk() throws where any question is refused", async () => {
  let asked = 0;
  const once = withServer(
    () => new Response("", { status: ++asked === 50 ? 429 : 200 }),
    (url) =>
      runWrk({ program: wrk!, url, questions: { paths: ["/"], headers: {} }, connections: 1, seconds: 1 }),
  );
  expect(await outcome(once)).toThrow(/of \d+ requests 1 were refused/);
});

test("chooseClient() says why it is the bench's own, which answers as well", async () => {
  const { isWrk, text, ask } = chooseClient([0.1]);
  expect(isWrk).toBe(false);
  expect(text).toContain("may be bound by it");
  const pairs = new PairsByName();
  await withBareServer({ bytes: 300 }, [], (bare) =>
    takePairs(pairs.of("both"), 2, { warm: 0.05, turn: 0.1 }, (_whom, seconds) =>
      ask(bare, { paths: ["/"], headers: {} }, seconds),
    ),
  );
  const { ours, control } = pairs.of("both");
  expect([ours.length, control.length]).toEqual([2, 2]);
  for (const { requestsPerSecond } of [...ours, ...control]) expect(requestsPerSecond).toBeGreaterThan(0);
});

test("holdMicrosOf() is what ours takes longer than the control, by processor time where it is known", () => {
  const turn = (requestsPerSecond: number, cpuMicros: number | null) => ({
    ...{ requestsPerSecond, cpuMicros },
    waitPercent: null,
  });
  expect(holdMicrosOf(turn(1000, 60), turn(9000, 20))).toBe(40);
  expect(holdMicrosOf(turn(10_000, null), turn(40_000, null))).toBe(75);
  expect(holdMicrosOf(turn(1000, 10), turn(9000, 20))).toBe(0);
});

function reportOf(pairs: PairsByName, goals: Goals): ReturnType<typeof runBench> {
  const judgement = { isJudged: true, areSharesJudged: true };
  const bench: Bench = {
    question: "q",
    sizes: {},
    run: async (run) => pairs.report(run, "a question", goals, judgement),
  };
  return runBench({ bench, isSmoke: true, given: new Map(), print: () => {} });
}

test("PairsByName compares ours with what a bare server as busy takes besides its hold, and with its goal", async () => {
  const pairs = new PairsByName();
  const { ours, control, busy } = pairs.of("a question");
  const turn = { requestsPerSecond: 1000, waitPercent: null };
  for (const cpuMicros of [60, 64]) {
    ours.push({ ...turn, cpuMicros });
    control.push({ ...turn, cpuMicros: 20 });
    busy.push({ ...turn, cpuMicros: cpuMicros + 10, holdMicros: 40 });
  }
  const { ratios, verdicts } = await reportOf(pairs, { timesBusyMax: 1.9, cpuMsMax: 0.05 });
  const bySelf = ratios.find(
    ({ name }) => name === "a question: times a bare server as busy, by processor time",
  );
  expect(bySelf).toMatchObject({ runs: [60 / 30, 64 / 34], bound: { atMost: 1.9 } });
  expect(verdicts).toMatchObject([{ value: 0.062, unit: "ms", bound: { atMost: 0.05 } }]);
});

test("PairsByName tells no ratio to a bare server that seems to have held longer than it ran", async () => {
  const pairs = new PairsByName();
  const { ours, control, busy } = pairs.of("a question");
  const turn = { requestsPerSecond: 1000, waitPercent: null, cpuMicros: 20 };
  ours.push(turn);
  control.push(turn);
  busy.push({ ...turn, holdMicros: 20 });
  const { ratios } = await reportOf(pairs, { timesBusyMax: 1.9 });
  expect(ratios.map(({ name }) => name)).toEqual([
    "a question: share of the bare server",
    "a question: share by processor time",
  ]);
});

test("a bare server that holds its answers sends the same", async () => {
  for (const holdMicros of [0, 2000])
    await withBareServer({ bytes: 300, holdMicros }, [], async ({ url }) => {
      expect(await (await fetch(url)).text()).toBe(" ".repeat(300));
    });
});

test("measureOpenLoad() charges a stall to all requests that came due meanwhile", async () => {
  let answered = 0;
  let nowMs = 0;
  const stallMs = 100;
  const latenciesMs = await withServer(
    () => {
      if (answered++ === 5) nowMs += stallMs;
      return new Response("ok");
    },
    (url) => {
      let due = 0;
      const request = new TextEncoder().encode("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
      const goesOn = () => due++ < 60;
      return measureOpenLoad({
        url,
        requestsPerSecond: 200,
        connections: 1,
        next: () => request,
        goesOn,
        isWatchful: true,
        nowMs: () => (nowMs += 0.125),
      });
    },
  );
  expect(latenciesMs).toHaveLength(60);
  expect(latenciesMs.at(-1)!).toBeGreaterThanOrEqual(stallMs - 1);
  expect(latenciesMs.filter((ms) => ms > stallMs / 2).length).toBeGreaterThanOrEqual(8);
});

test("the reply server answers as the real one does, with other devices each time", async () => {
  const copy = copyOf(dataDir);
  const server = await startProcess([process.execPath, "bench/support/http/reply-server.ts", copy, "24"]);
  try {
    const { path } = nearbyQuestion(best100!, { latitude: 42.36, longitude: -71.06 }, 24);
    const ask = async (url: string) => {
      const answer = await fetch(url + path, { headers });
      const { results, ...frame } = (await answer.json()) as {
        results: { device_id: string; location: object }[];
      };
      return { names: [...answer.headers.keys()], results, frame };
    };
    const [real, one, other] = [await ask(wherehouse.url), await ask(server.url), await ask(server.url)];
    expect(one.names).toEqual(real.names);
    expect(Object.keys(one.frame)).toEqual(Object.keys(real.frame));
    expect(one.results.length).toBe(100);
    expect(one.results).not.toEqual(other.results);
    for (const { device_id, location } of one.results) {
      expect(city.live).toContain(Number(device_id.slice("device-".length)));
      const { timestamp, latitude, speed } = city.metropolis.report(
        Number(device_id.slice("device-".length)),
      );
      expect(location).toMatchObject({ device_id, timestamp, latitude, speed } as object);
    }
    const refused = await fetch(server.url + path, { headers: { authorization: "Bearer nobody" } });
    expect(refused.status).toBe(401);
  } finally {
    await server.stop();
    rmSync(copy, { recursive: true });
  }
});

const canPin = Bun.which("taskset") !== null && existsSync("/proc/self/status");

test.skipIf(!canPin)("takeCores() parts client and server, and gives all cores back", async () => {
  const ownCores = () => /Cpus_allowed_list:\s*(\S+)/.exec(readFileSync("/proc/self/status", "utf8"))![1];
  const before = ownCores();
  const { serverLauncher, release } = takeCores();
  try {
    if (serverLauncher.length === 0) return; // One core is not enough for two.
    expect(ownCores()).toBe("1");
    const child = Bun.spawn([...serverLauncher, "cat", "/proc/self/status"], { stdout: "pipe" });
    expect(await new Response(child.stdout).text()).toMatch(/Cpus_allowed_list:\s*0\n/);
  } finally {
    release();
  }
  expect(ownCores()).toBe(before);
});

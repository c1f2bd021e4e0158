import { median } from "../figures/report.ts";
import type { BenchRun, Bound } from "../run/bench.ts";
import { askInTurns, askTimes } from "./ask-in-turns.ts";
import {
  type CorrectedDays,
  type CorrectedServer,
  makeCorrectedDays,
  openCorrected,
} from "./corrected-days.ts";
import { dayPath, type HideRange, type ShownRecord } from "./correcting.ts";

const MS_PER_MINUTE = 60_000;
/** Each correction hides the first minutes of a span of its device's day. */
const SPAN_MINUTES = 14;
const HIDDEN_MINUTES = 10;
const LIMIT = 100;

/** Asks two servers with the same records, of which one has many active corrections, in turns. */
export async function measureBeside(run: BenchRun): Promise<void> {
  const days = await makeCorrectedDays(run);
  const twin = await makeCorrectedDays(run);
  const plain = await openCorrected(days.dataDir);
  const corrected = await openCorrected(twin.dataDir);
  try {
    const ranges = rangesOf(days, run.size("corrections"), Math.floor(run.size("dayMinutes") / SPAN_MINUTES));
    await correctAll(run, corrected, ranges);
    for (const question of questionsOf(days, ranges))
      await compare(run, question, { plain, corrected, ranges });
  } finally {
    await plain.directory.close();
    await corrected.directory.close();
  }
}

/**
 * Ranges in yesterday and in the archived day: a fifth are of one device, the rest of all others in turns, without the
 * last.
 */
function rangesOf(
  { deviceIds, archivedMs, yesterdayMs }: CorrectedDays,
  count: number,
  spans: number,
): HideRange[] {
  const dense = Math.min(Math.floor(count / 5), 2 * spans);
  const others = deviceIds.slice(1, -1);
  return Array.from({ length: count }, (_, index) => {
    const isDense = index < dense;
    const device = isDense ? 0 : (index - dense) % others.length;
    const turn = isDense ? index : Math.floor((index - dense) / others.length);
    const dayMs = turn % 2 === 0 ? archivedMs : yesterdayMs;
    const span = ((turn >> 1) * SPANS_APART + device * SPANS_APART) % spans;
    const start = dayMs + span * SPAN_MINUTES * MS_PER_MINUTE;
    const device_id = isDense ? deviceIds[0]! : others[device]!;
    return { device_id, start, end: start + HIDDEN_MINUTES * MS_PER_MINUTE };
  });
}

/** From one correction of a device to its next; a prime, so that each span of a day has its turn. */
const SPANS_APART = 13;

/** One after the other, since each must not become dearer by those before it. */
async function correctAll(run: BenchRun, { correcting }: CorrectedServer, ranges: readonly HideRange[]) {
  const runs: number[] = [];
  for (const range of ranges) {
    const startMs = performance.now();
    await correcting.hide(range);
    runs.push(performance.now() - startMs);
  }
  const tenth = Math.ceil(ranges.length / 10);
  const [first, last] = [runs.slice(0, tenth), runs.slice(-tenth)];
  run.figures([
    { name: `the first ${tenth} of ${ranges.length} corrections`, unit: "ms", runs: first },
    { name: `the last ${tenth} of ${ranges.length} corrections`, unit: "ms", runs: last },
  ]);
  run.verdict("the last corrections, times the first", median(last) / median(first), "");
}

interface AskedPath {
  readonly name: string;
  readonly path: string;
  /** How often it is asked for each figure. */
  readonly times: number;
  readonly bound?: Bound;
  /** Whether another correction of the app is made and undone before it is asked. */
  readonly isAfterAnother?: boolean;
}

function questionsOf(
  { deviceIds, archivedMs, yesterdayMs }: CorrectedDays,
  ranges: readonly HideRange[],
): readonly AskedPath[] {
  const [dense, corrected, other] = [ranges[0]!.device_id, ranges.at(-1)!.device_id, deviceIds.at(-1)!];
  const others = { atMost: 1.05 };
  const own = { atMost: 1.5 };
  const track = (id: string, dayMs: number) =>
    `/api/v1/devices/${id}/track?start=${dayMs}&end=${dayMs + 1440 * MS_PER_MINUTE}`;
  const ofApp = (dayMs: number) => dayPath(corrected, dayMs, LIMIT).replace(`devices/${corrected}/`, "");
  return [
    {
      name: "another device, newest record",
      path: `/api/v1/devices/${other}/locations/current`,
      times: 200,
      bound: others,
    },
    {
      name: "another device, page of yesterday",
      path: dayPath(other, yesterdayMs, LIMIT),
      times: 50,
      bound: others,
    },
    {
      name: "another device, page of the archived day",
      path: dayPath(other, archivedMs, LIMIT),
      times: 5,
      bound: others,
    },
    {
      name: "nearby",
      path: "/api/v1/devices/nearby?latitude=42.36&longitude=-71.06&radius_miles=50",
      times: 50,
      bound: others,
    },
    {
      name: "page of corrected yesterday",
      path: dayPath(corrected, yesterdayMs, LIMIT),
      times: 50,
      bound: own,
    },
    {
      name: "page of the corrected archived day",
      path: dayPath(corrected, archivedMs, LIMIT),
      times: 5,
      bound: own,
    },
    {
      name: "the same after another correction",
      path: dayPath(corrected, archivedMs, LIMIT),
      times: 1,
      bound: own,
      isAfterAnother: true,
    },
    {
      name: "page of the archived day with two of three records hidden",
      path: dayPath(dense, archivedMs, LIMIT),
      times: 5,
    },
    { name: "track of that day", path: track(dense, archivedMs), times: 3, bound: own },
    { name: "page of the app's corrected archived day", path: ofApp(archivedMs), times: 3, bound: own },
    {
      name: "the app's after another correction",
      path: ofApp(archivedMs),
      times: 1,
      bound: own,
      isAfterAnother: true,
    },
    { name: "page of the app's corrected yesterday", path: ofApp(yesterdayMs), times: 20, bound: own },
  ];
}

interface BothServers {
  readonly plain: CorrectedServer;
  readonly corrected: CorrectedServer;
  readonly ranges: readonly HideRange[];
}

async function compare(run: BenchRun, question: AskedPath, { plain, corrected, ranges }: BothServers) {
  const { name, path, times, bound, isAfterAnother = false } = question;
  await checkSame(question, { plain, corrected, ranges });
  await askInTurns(run, name, bound, {
    control: () => askTimes(plain, path, times),
    ours: async () => {
      if (isAfterAnother) await correctAnother(corrected, ranges.at(-1)!);
      return askTimes(corrected, path, times);
    },
  });
}

/** Checks that the corrected server answers as the other does, without what is hidden. */
async function checkSame(
  { name, path }: AskedPath,
  { plain, corrected, ranges }: BothServers,
): Promise<void> {
  const [all, shown] = await Promise.all([membersOf(plain, path), membersOf(corrected, path)]);
  const { total } = shown;
  const isSame =
    total !== undefined
      ? total === (all.total as number) - hiddenWithin(path, ranges) // A track.
      : shown.locations === undefined
        ? Bun.deepEquals(withoutTimes(all), withoutTimes(shown))
        : Bun.deepEquals(shown.locations, await expectedPage(plain, path, ranges));
  if (!isSame) throw new Error(`${name}: corrected, it is another answer`);
}

type Members = Readonly<Record<string, unknown>>;

async function membersOf({ request }: CorrectedServer, path: string): Promise<Members> {
  return (await request(path)).json() as Promise<Members>;
}

/** The members that depend on the records alone. */
function withoutTimes({ query_time_ms: _took, ...members }: Members): Members {
  return members;
}

/** How many records a track lacks: each range has one record a minute. */
function hiddenWithin(path: string, ranges: readonly HideRange[]): number {
  const { pathname, searchParams } = new URL(path, "http://localhost");
  const [start, end] = [Number(searchParams.get("start")), Number(searchParams.get("end"))];
  const ofTrack = ranges.filter((range) => pathname.includes(range.device_id) && range.start >= start);
  return ofTrack.filter((range) => range.start < end).length * HIDDEN_MINUTES;
}

async function expectedPage(plain: CorrectedServer, path: string, ranges: readonly HideRange[]) {
  const all: ShownRecord[] = [];
  for (let offset = 0; all.length < LIMIT; offset += 1000) {
    const wider = path.replace(`limit=${LIMIT}`, `limit=1000&offset=${offset}`);
    const page = await plain.correcting.locations(wider);
    all.push(...page.filter((record) => !ranges.some((range) => isHidden(range, record))));
    if (page.length < 1000) break;
  }
  return all.slice(0, LIMIT);
}

function isHidden({ device_id, start, end }: HideRange, record: ShownRecord): boolean {
  return record.device_id === device_id && record.timestamp >= start && record.timestamp < end;
}

/** Hides one more record of a corrected device, and shows it again. */
async function correctAnother({ correcting }: CorrectedServer, { device_id, end }: HideRange): Promise<void> {
  await correcting.undo(await correcting.hide({ device_id, start: end, end: end + MS_PER_MINUTE }));
}

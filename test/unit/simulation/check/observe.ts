import { assert } from "../../../../src/lib/assert.ts";
import type { AppId, UserId } from "../../../../src/model/ids.ts";
import type { TimeRange } from "../../../../src/model/time/range.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { parseUtcDayName, type UtcDay, utcDayStartMs } from "../../../../src/model/time/utc-day.ts";
import type { HistoryOutcome } from "../../../../src/service/queries/history/history.ts";
import { recordsOf } from "../../../support/answers/page-records.ts";
import type { RunService } from "../run/service.ts";
import { recordKey } from "./model.ts";

/** A record, or what an answer shows of one. */
export type ShownRecord = Readonly<Record<string, unknown>>;

/** Everything that a service says of an app. */
export interface ObservedApp {
  /** The app's history over the whole retention; of each record only `SHOWN_OF_APP` counts. */
  readonly records: ReadonlyMap<string, ShownRecord>;
  /** The histories of the devices that were asked for, with all fields. */
  readonly whole: ReadonlyMap<string, ShownRecord>;
  /** The newest record of each device. */
  readonly newest: ReadonlyMap<string, ShownRecord>;
  /** Days that were answered with an error that named them. */
  readonly damagedDays: ReadonlySet<UtcDay>;
  /** Whether any answer said that something is missing. */
  readonly isIncomplete: boolean;
}

export interface Asked {
  readonly appId: string;
  readonly users: readonly string[];
  /** Devices whose own history is asked for, and a user's, or nobody's. */
  readonly devices: readonly string[];
  readonly historyUser: string | null;
  readonly range: TimeRange;
  /** Whether newest records are asked for; they are unless it says otherwise. */
  readonly asksNewest?: boolean;
}

/** What an app-wide history shows of a record, of the fields that runs report. */
export const SHOWN_OF_APP = [
  "device_id",
  "timestamp",
  "user_id",
  "latitude",
  "longitude",
  "altitude",
  "speed",
  "battery_level",
  "type",
];

const NOBODY = { signal: new AbortController().signal };
const ALL = {
  order: "asc",
  offset: 0,
  limit: 100_000,
  accuracyMetersMax: null,
  withDistance: false,
} as const;

/**
 * Asks for all of it; what one endpoint says must agree with what the others do. The app's history shows some of the
 * fields, those of devices show all.
 */
export async function observeApp(service: RunService, asked: Asked): Promise<ObservedApp> {
  const appId = asked.appId as AppId;
  const ofApp = createCollector(asked.range);
  await ofApp.collect((range) => service.history.ofApp(appId, { ...ALL, range }, NOBODY));
  const ofDevices = createCollector(asked.range);
  for (const device of asked.devices) {
    await ofDevices.collect((range) => service.history.ofDevice(appId, device, { ...ALL, range }, NOBODY));
  }
  const isAsked = ({ device_id }: ShownRecord) => asked.devices.includes(String(device_id));
  const expected = [...ofApp.records].filter(([, record]) => isAsked(record)).map(([key]) => key);
  expectSameKeys(ofDevices.records.keys(), expected, "the history of devices");
  if (asked.historyUser !== null) await expectUserHistory(service, asked, ofApp.records);
  return {
    records: ofApp.records,
    whole: ofDevices.records,
    newest: asked.asksNewest === false ? new Map() : await observeNewest(service, asked),
    damagedDays: new Set([...ofApp.damagedDays, ...ofDevices.damagedDays]),
    isIncomplete: ofApp.isIncomplete(),
  };
}

/** Asks again, around them, where days are damaged. */
function createCollector(whole: TimeRange) {
  const records = new Map<string, ShownRecord>();
  const damagedDays = new Set<UtcDay>();
  let isIncomplete = false;

  async function collect(ask: (range: TimeRange) => HistoryOutcome, range: TimeRange): Promise<void> {
    const outcome = await ask(range);
    if (outcome.ok) {
      isIncomplete ||= outcome.value.isIncomplete;
      const found = outcome.value.pages.flatMap((page) => recordsOf(page));
      assert(!outcome.value.hasMore, "the limit is above all records of a run");
      for (const record of found) {
        const key = recordKey(String(record.device_id), Number(record.timestamp));
        if (records.has(key)) throw new Error(`found twice: ${JSON.stringify(record)}`);
        records.set(key, record);
      }
      return;
    }
    if (outcome.error.kind === "device_not_found") return;
    if (outcome.error.kind !== "archive_damaged") throw new Error(`answered ${outcome.error.kind}`);
    const days = outcome.error.days.map((name) => parseUtcDayName(name)!).sort((a, b) => a - b);
    let startMs = range.startMs;
    for (const day of days) {
      const [fromMs, toMs] = [utcDayStartMs(day), utcDayStartMs(day) + MS_PER_DAY];
      assert(toMs > range.startMs && fromMs < range.endMs, "an error names days of the range");
      damagedDays.add(day);
      if (fromMs > startMs) await collect(ask, { startMs, endMs: fromMs });
      startMs = toMs;
    }
    if (startMs < range.endMs) await collect(ask, { startMs, endMs: range.endMs });
  }

  return {
    records,
    damagedDays,
    isIncomplete: () => isIncomplete,
    collect: (ask: (range: TimeRange) => HistoryOutcome) => collect(ask, whole),
  };
}

async function observeNewest(
  service: RunService,
  { appId, users }: Asked,
): Promise<Map<string, ShownRecord>> {
  const newest = new Map<string, ShownRecord>();
  for (const user of [...users, "ANONYMOUS"]) {
    const pages = service.userDevices(appId as AppId, user as UserId, { ageMsMax: null });
    for (const record of Array.from(pages, recordsOf).flat()) {
      assert(record.user_id === user, "a user's devices are the user's");
      if (newest.has(String(record.device_id))) throw new Error(`${record.device_id} is of two users`);
      newest.set(String(record.device_id), record);
    }
  }
  const all = { afterMs: null, beforeMs: null, offset: 0, limit: 0, view: null };
  const total = await service.current.ofApp(appId as AppId, all, NOBODY, (answer) => answer.total);
  if (service.mayLackNewest() ? (total ?? 0) < newest.size : total !== newest.size)
    throw new Error(`${total} current positions of the app, ${newest.size} of its users`);
  return newest;
}

/** The reports made under a user are those that the app's history shows. */
async function expectUserHistory(
  { history }: RunService,
  { appId, historyUser: user, range }: Asked,
  records: ReadonlyMap<string, ShownRecord>,
): Promise<void> {
  const ofUser = createCollector(range);
  await ofUser.collect((each) =>
    history.ofUser(appId as AppId, user as UserId, { ...ALL, range: each }, NOBODY),
  );
  const expected = [...records].filter(([, record]) => record.user_id === user).map(([key]) => key);
  expectSameKeys(ofUser.records.keys(), expected, `the history of ${user}`);
}

function expectSameKeys(found: Iterable<string>, expected: Iterable<string>, what: string): void {
  const [a, b] = [[...found].sort().join(", "), [...expected].sort().join(", ")];
  if (a !== b) throw new Error(`${what} has\n  ${a}\nand the app's has\n  ${b}`);
}

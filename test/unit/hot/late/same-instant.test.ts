import { expect, test } from "bun:test";
import { createHotStore, type HotStore } from "../../../../src/hot/hot-store.ts";
import type { Sealing } from "../../../../src/hot/sealing.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import type { RowBatch } from "../../../../src/model/report-batch.ts";
import { type UtcDay, utcDayOf } from "../../../../src/model/time/utc-day.ts";
import { laidOver, type ReferenceRecord, type ReferenceReport } from "../../../reference/records.ts";
import * as fc from "../../../support/fast-check.ts";
import { APP, batchOf, fixOf, type Report } from "../../../support/reports/batches.ts";
import { plainReports } from "../../../support/reports/plain-reports.ts";

/*
 * Goal: a record is what laying its reports over each other one by one gives, wherever they met. Method: the real
 * memory, and an archive that is a map. Reports of few instants come in batches, while days are sealed, before and
 * after the archive has them, or not at all; the process starts anew and reads its log. After each step every record
 * must be what all reports of the log come to, whether memory has it, the map, or both.
 */

const DAY_MS = 86_400_000;
const BASE_MS = Date.UTC(2026, 0, 14);
const DAYS = [utcDayOf(BASE_MS), utcDayOf(BASE_MS + DAY_MS)] as const;
/** The second is the newest of the first day, and may be the device's newest of all. */
const TIMES = [BASE_MS, BASE_MS + 1, BASE_MS + DAY_MS];

const maybe = <Value>(...values: Value[]) => fc.option(fc.constantFrom(...values), { nil: undefined });

const report = fc
  .record({
    device_id: fc.constantFrom("a", "a", "a", "b"),
    timestamp: fc.constantFrom(...TIMES, BASE_MS),
    latitude: fc.constantFrom(1, 2, 3),
    longitude: fc.constant(5),
    horizontal_accuracy: maybe(3, 4, 5),
    altitude: maybe(100),
    speed: maybe(7, 8),
    is_mock: maybe(true, false),
    battery_level: maybe(50, 60),
    user_id: maybe("u", "v"),
    type: maybe("MOVING"),
  })
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Report);

/** Of one instant, few enough that what one says another says too. */
const narrowReport = fc
  .record({
    latitude: fc.constantFrom(1, 2),
    horizontal_accuracy: maybe(3, 4, 5),
    speed: maybe(7),
    altitude: maybe(100),
  })
  .map(
    (some) =>
      ({
        device_id: "a",
        timestamp: BASE_MS,
        longitude: 5,
        ...Object.fromEntries(Object.entries(some).filter(([, value]) => value !== undefined)),
      }) as Report,
  );

const stories = (ofReport: typeof report) =>
  fc.array(
    fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({
          kind: fc.constant("report" as const),
          reports: fc.array(ofReport, { minLength: 1, maxLength: 3 }),
        }),
      },
      {
        weight: 5,
        arbitrary: fc.record({
          kind: fc.constant("seal" as const),
          meanwhile: fc.array(ofReport, { maxLength: 2 }),
          leaving: fc.array(ofReport, { maxLength: 2 }),
        }),
      },
      {
        weight: 3,
        arbitrary: fc.record({ kind: fc.constant("begin" as const), days: fc.constantFrom(1, 1, 2) }),
      },
      { weight: 2, arbitrary: fc.constant({ kind: "read" as const }) },
      { weight: 3, arbitrary: fc.constant({ kind: "commit" as const }) },
      { weight: 2, arbitrary: fc.constant({ kind: "drop" as const }) },
      { weight: 1, arbitrary: fc.constant({ kind: "abandon" as const }) },
      { weight: 1, arbitrary: fc.constant({ kind: "restart" as const }) },
    ),
    { maxLength: 16 },
  );

/** Rows that a sealing hands over, and what they say is newest. */
interface Under {
  readonly sealing: Sealing;
  readonly days: readonly UtcDay[];
  rows: RowBatch[] | null;
  isCommitted: boolean;
}

class World {
  hot: HotStore = createHotStore(new Scheduler());
  readonly log: Report[][] = [];
  readonly sealed = new Map<UtcDay, number>();
  archive = new Map<string, ReferenceRecord>();
  checkpoint: RowBatch[] = [];
  under: Under | null = null;

  apply(reports: readonly Report[]): void {
    this.log.push([...reports]);
    const before = this.#keysInMemory();
    const { created } = this.hot.apply(APP, batchOf(reports), this.log.length);
    expect(this.#keysInMemory() - before).toBe(created);
  }

  begin(count: number): void {
    if (this.under !== null) return;
    const days = DAYS.slice(0, count);
    this.under = { sealing: this.hot.seal(days), days, rows: null, isCommitted: false };
  }

  /** Reports may have come since the beginning, and may come again before the archive has the rows. */
  read(): void {
    const { under } = this;
    if (under === null || under.isCommitted) return;
    under.rows ??= under.days.flatMap((day) => [...under.sealing.rows(day)].map(({ batch }) => batch));
  }

  commit(): void {
    this.read();
    const { under } = this;
    if (under === null || under.isCommitted) return;
    for (const batch of under.rows!) layBatch(this.archive, batch);
    this.checkpoint = [...under.sealing.newest(0, new Set(under.days))].map(({ batch }) => batch);
    for (const day of under.days) this.sealed.set(day, under.sealing.sequence);
    under.sealing.commit(new Set(under.days), this.sealed);
    under.isCommitted = true;
  }

  drop(): void {
    if (this.under?.isCommitted !== true) return;
    for (const _ of this.under.sealing.drop());
    this.under = null;
  }

  /** From its beginning to its end, with reports before the archive has the rows, and before they are gone. */
  seal(meanwhile: readonly Report[], leaving: readonly Report[]): void {
    this.begin(2);
    if (meanwhile.length > 0) this.apply(meanwhile);
    this.commit();
    if (leaving.length > 0) this.apply(leaving);
    this.drop();
  }

  abandon(): void {
    if (this.under === null || this.under.isCommitted) return;
    this.under.sealing.abandon();
    this.under = null;
  }

  /** What the archive has stays; memory is made of the checkpoint and the log. */
  restart(): void {
    this.under = null;
    this.hot = createHotStore(new Scheduler());
    for (const batch of this.checkpoint) this.hot.restoreNewest(APP, batch);
    this.hot.setSealed(this.sealed, true);
    this.log.forEach((reports, index) => {
      this.hot.apply(APP, batchOf(reports), index + 1);
    });
  }

  /** Every record, as an answer would show it. */
  async records(): Promise<Map<string, ReferenceRecord>> {
    const found = new Map(this.archive);
    const app = this.hot.findApp(APP);
    if (app === null) return found;
    const late = await this.hot.lateRows(app, null).whole({ startMs: BASE_MS, endMs: BASE_MS + 2 * DAY_MS });
    for (const batch of late?.batches() ?? []) layBatch(found, batch);
    return found;
  }

  expected(): Map<string, ReferenceRecord> {
    const laid = new Map<string, ReferenceRecord>();
    for (const one of this.log.flat() as unknown as ReferenceReport[])
      laid.set(keyOf(one), laidOver(laid.get(keyOf(one)) ?? null, one));
    return laid;
  }

  #keysInMemory(): number {
    return this.hot.recordCount;
  }
}

/** Lays rows over records as the archive does. */
function layBatch(records: Map<string, ReferenceRecord>, batch: RowBatch): void {
  const fixes = Map.groupBy(batch.fixes === null ? [] : plainReports(batch.fixes), keyOf);
  for (const row of plainReports(batch) as unknown as ReferenceReport[]) {
    const key = keyOf(row);
    const known = records.get(key) ?? null;
    const ofRow = (fixes.get(key) ?? [fixOf(row)]) as unknown as readonly ReferenceReport[];
    const laid = ofRow.reduce(laidOver, known)!;
    const {
      latitude,
      longitude,
      horizontal_accuracy,
      vertical_accuracy,
      altitude,
      speed,
      bearing,
      is_mock,
      ...others
    } = row as unknown as ReferenceRecord & Report;
    records.set(key, { ...laid, ...others } as ReferenceRecord);
  }
}

function keyOf({ device_id, timestamp }: Report): string {
  return `${device_id} ${timestamp}`;
}

type Story = ReturnType<typeof stories> extends fc.Arbitrary<infer Steps> ? Steps : never;

/** What a story leaves behind, told after some first reports. */
async function expectRecords(first: readonly Report[], story: Story): Promise<void> {
  const world = new World();
  if (first.length > 0) world.apply(first);
  for (const each of story) {
    if (each.kind === "report") world.apply(each.reports);
    else if (each.kind === "begin") world.begin(each.days);
    else if (each.kind === "seal") world.seal(each.meanwhile, each.leaving);
    else world[each.kind]();
    expect(await world.records()).toEqual(world.expected());
  }
}

test("records are what their reports come to one by one, wherever these met", async () => {
  await fc.assert(
    fc.asyncProperty(stories(report), (story) => expectRecords([], story)),
    { numRuns: 800 },
  );
});

/** The archive has what came before a seal: laid over that once more, the speed would be the other fix's. */
const at = (latitude: number, more: Report): Report => ({
  device_id: "a",
  timestamp: BASE_MS,
  longitude: 5,
  latitude,
  ...more,
});
const laidTwice: Story = [
  { kind: "report", reports: [at(1, { horizontal_accuracy: 4 })] },
  { kind: "seal", meanwhile: [], leaving: [] },
  { kind: "report", reports: [at(2, { horizontal_accuracy: 5, speed: 7 })] },
  { kind: "report", reports: [at(2, { horizontal_accuracy: 3, altitude: 100 })] },
  { kind: "seal", meanwhile: [at(1, { horizontal_accuracy: 5 })], leaving: [] },
  { kind: "restart" },
];

test("so is one record of which many reports say nearly the same", async () => {
  // Of the device's newest archived record memory knows all; of the one before it nothing.
  const newer = { device_id: "a", timestamp: BASE_MS + 1, latitude: 1, longitude: 5 };
  await fc.assert(
    fc.asyncProperty(stories(narrowReport), (story) => expectRecords([newer], story)),
    { numRuns: 2000, examples: [[laidTwice]] },
  );
});

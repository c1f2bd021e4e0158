import { expect, test } from "bun:test";
import { Corrections } from "../../../../src/hot/hidden/corrections.ts";
import { type CorrectionsOfApp, rowsAfter } from "../../../../src/hot/hidden/held-correction.ts";
import type { Correction, CorrectionTarget } from "../../../../src/model/correction.ts";
import { correctionEntries } from "../../../../src/model/correction-pieces.ts";
import { stageOf } from "../../../../src/model/device-alias.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { createReportBatchBuilder } from "../../../../src/model/report-batch.ts";

const APP = "app" as AppId;
const OLD = "old" as DeviceId;
const NEW = "new" as DeviceId;
const IN_PLACE = { deviceId: OLD, byMs: 0, position: null, userId: null };

/** The corrections of an app, which entries of a log make. */
class Story {
  readonly corrections = new Corrections();
  #sequence = 0;

  get app(): CorrectionsOfApp {
    return this.corrections.find(APP)!;
  }

  /** Corrects the record of an instant. Returns the depth. */
  correct(deviceId: DeviceId, timeMs: number, target: Partial<CorrectionTarget> = {}): number {
    const id = `c${this.#sequence}`;
    const correction = { ...described(id, deviceId, { ...IN_PLACE, deviceId, ...target }) };
    const rows = createReportBatchBuilder(1);
    rows.begin();
    rows.add(rows.text(correction.target!.deviceId), timeMs + correction.target!.byMs);
    const after = { newest: null, newestOfTarget: null };
    const timestampMs = Float64Array.of(timeMs);
    const whole = { correction, timestampMs, rows: [rows.build()], ...after };
    for (const entry of correctionEntries(APP, this.#number, whole)) this.#apply(entry);
    return this.app.byId.get(id)!.depth;
  }

  /** Makes a device show as another. */
  assign(deviceId: DeviceId, target: Partial<CorrectionTarget>): void {
    const id = `c${this.#sequence}`;
    const correction = { ...described(id, deviceId, { ...IN_PLACE, ...target }), isOfDevice: true };
    const change = { type: "assign", id, correction } as const;
    this.#apply({ kind: "correction", appId: APP, previous: this.#number, change });
  }

  /** How often corrections are looked at while a report of a record goes to its rows. */
  looksOf(deviceId: DeviceId, timeMs: number): number {
    let looks = 0;
    for (const items of this.app.activeOf.values())
      items.forEach((item, at) => {
        const get = (of: typeof item, member: keyof typeof item) => {
          if (member === "number") looks++;
          return of[member];
        };
        items[at] = new Proxy(item, { get: get as ProxyHandler<typeof item>["get"] & typeof get });
      });
    rowsAfter(this.app, deviceId, timeMs);
    return looks;
  }

  get #number(): number {
    return this.corrections.find(APP)?.number ?? 0;
  }

  #apply(entry: Parameters<Corrections["apply"]>[0]): void {
    const effect = this.corrections.apply(entry, ++this.#sequence);
    if (effect === null) return;
    if (effect.type === "assign") this.corrections.link(effect);
    this.corrections.commit(effect, this.#sequence);
  }
}

function described(id: string, deviceId: DeviceId, target: CorrectionTarget): Correction {
  return {
    ...{ id, action: "move", deviceId, target, selection: {}, note: null, createdMs: 5, createdBy: "key" },
    ...{ repetition: null, records: 1, firstMs: 0, lastMs: 0 },
  };
}

const placesOf = (story: Story, deviceId: DeviceId, timeMs: number) =>
  rowsAfter(story.app, deviceId, timeMs).map((row) => [row.stage, row.timestampMs, row.userId]);

test("a report that an assignment leads to a row of another record goes into none", () => {
  for (const target of [{ deviceId: NEW }, { userId: "ada" }]) {
    const story = new Story();
    story.assign(OLD, target);
    story.correct("van" as DeviceId, 1, { deviceId: target.deviceId ?? OLD });
    expect(rowsAfter(story.app, OLD, 1)).toEqual([]);
    expect(rowsAfter(story.app, "van" as DeviceId, 1)).toHaveLength(1);
  }
});

test("a report with 32 corrections upon its record looks at few others, however many the device has", () => {
  const story = new Story();
  for (let i = 0; i < 32; i++) {
    for (let other = 0; other < 20; other++) story.correct(OLD, 1000 + 20 * i + other);
    expect(story.correct(OLD, 5)).toBe(i + 1);
  }
  expect(rowsAfter(story.app, OLD, 5)).toHaveLength(32);
  // A binary search among 672 for each of the 32.
  expect(story.looksOf(OLD, 5)).toBeLessThan(32 * 16);
});

test("rowsAfter() follows a record that goes to and fro, and names what covers each row", () => {
  const story = new Story();
  for (const byMs of [2, -2, 2]) story.correct(OLD, byMs === 2 ? 5 : 7, { byMs });
  const rows = rowsAfter(story.app, OLD, 5);
  expect(
    rows.map(({ item, timestampMs, coveredBy }) => [item.number, timestampMs, coveredBy?.number]),
  ).toEqual([
    [1, 7, 2],
    [2, 5, 3],
    [3, 7, undefined],
  ]);
  expect(placesOf(story, OLD, 7)).toEqual([
    [OLD, 7, null],
    [OLD, 5, null],
    [OLD, 7, null],
  ]);
  expect(placesOf(story, OLD, 6)).toEqual([]);
});

test("rowsAfter() goes on at the device that another shows as, with the depth of what lies below", () => {
  const story = new Story();
  story.correct(NEW, 9);
  expect([story.correct(OLD, 5), story.correct(OLD, 5)]).toEqual([1, 2]);
  story.assign(OLD, { deviceId: NEW, userId: "eve" });
  expect([story.correct(NEW, 5, { byMs: 1 }), story.correct(NEW, 6)]).toEqual([3, 4]);
  expect(placesOf(story, OLD, 5)).toEqual([
    [OLD, 5, null],
    [OLD, 5, null],
    [NEW, 6, "eve"],
    [NEW, 6, "eve"],
  ]);
  expect(rowsAfter(story.app, OLD, 5).map(({ coveredBy }) => coveredBy?.number)).toEqual([
    ...[3, undefined],
    ...[6, undefined],
  ]);
  story.correct(NEW, 6, { userId: "ann" });
  expect(placesOf(story, OLD, 5).at(-1)).toEqual([NEW, 6, "ann"]);
  // Hidden at the other device before the assignment.
  expect(placesOf(story, OLD, 9)).toEqual([]);
});

test("rowsAfter() sets the user of an assignment for reports of its records, not for those of the instant", () => {
  const story = new Story();
  story.correct(OLD, 5, { deviceId: NEW, userId: "eve" });
  expect(placesOf(story, OLD, 5)).toEqual([[NEW, 5, "eve"]]);
  expect(placesOf(story, NEW, 5)).toEqual([[NEW, 5, null]]);
});

test("rowsAfter() goes on at the stage of a device that is assigned to a user alone", () => {
  const story = new Story();
  story.correct(OLD, 5);
  story.assign(OLD, { userId: "eve" });
  story.correct(OLD, 5, { byMs: 2 });
  expect(placesOf(story, OLD, 5)).toEqual([
    [OLD, 5, null],
    [stageOf(OLD), 7, "eve"],
  ]);
  const [first] = rowsAfter(story.app, OLD, 5);
  expect(first!.coveredBy).toBeNull(); // What shows of it is a copy.
  expect([...story.app.hidden.keys()]).toEqual([OLD, stageOf(OLD)]);
});

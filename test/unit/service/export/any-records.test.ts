import { afterAll, expect, test } from "bun:test";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { compareUtf8 } from "../../../../src/lib/text/utf8.ts";
import type { AppId, DeviceId, UserId } from "../../../../src/model/ids.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { parseNewCorrection } from "../../../../src/service/corrections/new-correction.ts";
import type { ExportQuery } from "../../../../src/service/export/export-formats.ts";
import type { Exports } from "../../../../src/service/export/exports.ts";
import { createReferenceRecords, type ReferenceRecords } from "../../../reference/records.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import * as fc from "../../../support/fast-check.ts";
import { arbitraryReport, BASE_MS } from "../../../support/reports/arbitrary-reports.ts";
import { APP_ID } from "../../../support/test-app.ts";
import { begun, bytesOf, exportsWith, type Line, linesOf } from "./export-of.ts";

/**
 * Goal: every record comes exactly once and in order, whatever of it lies in files, over them or in memory, and
 * whatever a seal moves while the export is under way.
 *
 * Method: reports that get in each other's way go to the reference model too. Seals run in between and, at any step,
 * during an export. For originals so do corrections, which the reference knows nothing of.
 */

afterAll(removeArchiveApps);

const DAY_MS = 86_400_000;
const NOW_MS = BASE_MS + 9 * DAY_MS; // The older of the two days is due, and the other one soon.

type Given = Readonly<Record<string, unknown>>;

const deed = fc.oneof(
  { weight: 4, arbitrary: fc.array(arbitraryReport, { minLength: 1, maxLength: 12 }) },
  { weight: 1, arbitrary: fc.constant("seal" as const) },
);

/** What each kind of correction sets; the assigned records may come to lie beside those of another device. */
const KINDS = [
  { action: "hide" },
  { action: "move", latitude: -1, longitude: 1 },
  { action: "shift_time", by_ms: -7_200_003 },
  { action: "assign", to_device_id: "c", to_user_id: "w" },
  { action: "assign", to_device_id: "d", isWhole: true },
] as const;

type Correction =
  | {
      readonly device: string;
      readonly kind: (typeof KINDS)[number];
      readonly fromMs: number;
      readonly lastsMs: number;
    }
  | "undo";

const correction: fc.Arbitrary<Correction> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      device: fc.constantFrom("a", "b", "\u{1F68C}", "10"),
      kind: fc.constantFrom(...KINDS),
      fromMs: fc.constantFrom(BASE_MS - DAY_MS, BASE_MS - DAY_MS, BASE_MS - 1, BASE_MS, BASE_MS + 1),
      lastsMs: fc.constantFrom(1, 3_600_001, 3 * DAY_MS, 3 * DAY_MS),
    }),
  },
  { weight: 1, arbitrary: fc.constant("undo" as const) },
);

const query = fc.record({
  deviceIds: fc.option(fc.subarray(["a", "b", "\u{1F68C}", "10"], { minLength: 1 })),
  userId: fc.option(fc.constantFrom("u" as UserId, "v" as UserId)),
  range: fc.constantFrom(
    { startMs: 0, endMs: 2 ** 52 },
    { startMs: BASE_MS - 5000, endMs: BASE_MS + 7001 },
    { startMs: BASE_MS, endMs: BASE_MS + DAY_MS },
  ),
});

type Asked = typeof query extends fc.Arbitrary<infer Value> ? Value : never;
type Selection = Pick<ExportQuery, "deviceIds" | "userId" | "range">;

/** The lines of an export of these, in order. */
function select(reference: ReferenceRecords, { deviceIds, userId, range }: Selection): Line[] {
  return reference
    .records()
    .filter(({ device_id }) => deviceIds === null || deviceIds.includes(device_id))
    .filter(({ user_id }) => userId === null || user_id === userId)
    .filter(({ timestamp }) => timestamp >= range.startMs && timestamp < range.endMs);
}

/** A scheduler that does something before one of its pieces of work. */
class Interrupted extends Scheduler {
  #act: () => Promise<unknown> = async () => undefined;
  #left = -1;

  /** The piece of work is told by how many come before it. */
  arm(left: number, act: () => Promise<unknown>): void {
    this.#left = left;
    this.#act = act;
  }

  override runAtOnce: Scheduler["runAtOnce"] = (owner, signal, steps, lasting) => {
    const run = () => super.runAtOnce(owner, signal, steps, lasting);
    return this.#left-- === 0 ? this.#act().then(run) : run();
  };
}

type Deed = readonly Given[] | "seal" | Correction;

/** An app, its reference, and its exports, which read little at a time. */
class Exported {
  readonly app: ArchiveApp;
  readonly #reference = createReferenceRecords("fleet");
  readonly #scheduler = new Interrupted();
  readonly #exports: Exports;

  private constructor(app: ArchiveApp) {
    this.app = app;
    const sizes = { foundRecords: 5, pageRecords: 3, lateRowsMax: 4, sortedRowsMax: 20 };
    this.#exports = exportsWith(app, { scheduler: this.#scheduler, sizes });
  }

  static async open(): Promise<Exported> {
    return new Exported(await createArchiveApp({ clock: createManualClock(NOW_MS) }));
  }

  async do(deeds: readonly Deed[]): Promise<void> {
    for (const each of deeds) {
      if (each === "seal") await this.app.seal();
      else if (each === "undo" || "device" in each) await correct(this.app, each);
      else {
        await this.app.store(each);
        this.#reference.report(each);
      }
    }
  }

  /** Expects an export by time, and one by device, while something is done at a step of one of them. */
  async expectWhole(asked: Asked, originals: boolean, step: number, meanwhile: Deed): Promise<void> {
    const selection = this.#known(asked);
    const lines = select(this.#reference, selection);
    const wanted = { ...selection, originals } as Partial<ExportQuery>;
    this.#scheduler.arm(step, () => this.do([meanwhile]));
    expect(await linesOf(this.#exports, wanted)).toEqual(lines);
    expect(await keysByDevice(this.#exports, wanted)).toEqual(byDevice(lines));
  }

  /** An export of devices that are not known is refused. */
  #known({ deviceIds, ...rest }: Asked): Selection {
    const known = deviceIds?.filter((id) => this.#reference.recordsOf(id).length > 0) ?? [];
    return { ...rest, deviceIds: known.length === 0 ? null : (known as DeviceId[]) };
  }

  async close(): Promise<void> {
    await this.#exports.stop();
    await this.app.close();
  }
}

/** Makes a correction, unless it touches nothing, or undoes the last one. */
async function correct({ directory }: ArchiveApp, made: Correction): Promise<void> {
  const { signal } = new AbortController();
  if (made === "undo") {
    const [last] = directory.hot.corrections.list(APP_ID as AppId, null, true);
    if (last !== undefined)
      await directory.correct.undo(APP_ID as AppId, last.correction.id, "key", { signal });
    return;
  }
  const { device, kind, fromMs, lastsMs } = made;
  const { isWhole, ...members } = { isWhole: false, ...kind };
  const range = isWhole ? {} : { start: fromMs, end: fromMs + lastsMs };
  const wanted = parseNewCorrection({ ...members, device_id: device, ...range });
  if (!wanted.ok) throw new Error(wanted.error);
  const request = { keyId: "key", nowMs: NOW_MS, repetition: null };
  await directory.correct.create(APP_ID as AppId, wanted.value, request, { signal });
}

/** Devices and times of the tracks in a file of GPX. */
async function keysByDevice(exports: Exports, wanted: Partial<ExportQuery>): Promise<string[]> {
  const text = (await bytesOf(await begun(exports, { ...wanted, format: "gpx" }))).toString();
  return text
    .split("<trk>")
    .slice(1)
    .flatMap((track) => {
      const name = /<name>(.*?)<\/name>/.exec(track)![1]!;
      return [...track.matchAll(/<time>(.*?)<\/time>/g)].map(([, time]) => `${name} ${Date.parse(time!)}`);
    });
}

function byDevice(lines: readonly Line[]): string[] {
  const inOrder = lines.toSorted((a, b) => compareUtf8(String(a.device_id), String(b.device_id)));
  return inOrder.map(({ device_id, timestamp }) => `${device_id} ${timestamp}`);
}

/** What is done, then asked, and done meanwhile. */
interface Turn {
  readonly deeds: readonly Deed[];
  readonly asked: Asked;
  readonly step: number;
  readonly meanwhile: Deed;
}

const turnOf = (some: fc.Arbitrary<Deed>, meanwhile: fc.Arbitrary<Deed>): fc.Arbitrary<Turn> =>
  fc.record({ deeds: fc.array(some, { maxLength: 5 }), asked: query, step: fc.nat(9), meanwhile });

test("an export has every record once and in order, while a seal runs at any of its steps", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(turnOf(deed, fc.constant("seal" as const)), { minLength: 1, maxLength: 4 }),
      async (turns) => {
        const exported = await Exported.open();
        for (const { deeds, asked, step, meanwhile } of turns) {
          await exported.do(deeds);
          await exported.expectWhole(asked, false, step, meanwhile);
        }
        await exported.close();
      },
    ),
    { numRuns: 12 },
  );
}, 60_000);

/** Whatever else is drawn, one case hides a record. */
const REPORT = { device_id: "a", timestamp: BASE_MS, latitude: 0, longitude: 0 } as const;
const HIDING: Correction = { device: "a", kind: KINDS[0], fromMs: BASE_MS - DAY_MS, lastsMs: 3 * DAY_MS };
const HIDDEN_TURN: Turn = {
  deeds: [HIDING],
  asked: { deviceIds: null, userId: null, range: { startMs: 0, endMs: 2 ** 52 } },
  step: 0,
  meanwhile: "seal",
};

test("an export of originals has every record as it was reported, while a correction is made at any of its steps", async () => {
  let hiddenRecords = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitraryReport, { minLength: 12, maxLength: 24 }), // Enough that corrections match some.
      fc.array(turnOf(fc.oneof(deed, correction), fc.oneof(correction, fc.constant("seal" as const))), {
        minLength: 1,
        maxLength: 6,
      }),
      async (first, turns) => {
        const exported = await Exported.open();
        await exported.do([first]);
        for (const { deeds, asked, step, meanwhile } of turns) {
          await exported.do(deeds);
          hiddenRecords += exported.app.directory.hot.corrections.find(APP_ID as AppId)?.records ?? 0;
          await exported.expectWhole(asked, true, step, meanwhile);
        }
        await exported.close();
      },
    ),
    { numRuns: 20, examples: [[[REPORT], [HIDDEN_TURN]]] },
  );
  expect(hiddenRecords).toBeGreaterThan(0);
}, 60_000);

import { afterAll, expect, test } from "bun:test";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { compareUtf8 } from "../../../../src/lib/text/utf8.ts";
import type { UserId } from "../../../../src/model/ids.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import type { ExportQuery } from "../../../../src/service/export/export-formats.ts";
import type { Exports } from "../../../../src/service/export/exports.ts";
import { createReferenceRecords, type ReferenceRecords } from "../../../reference/records.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import * as fc from "../../../support/fast-check.ts";
import { arbitraryReport, BASE_MS } from "../../../support/reports/arbitrary-reports.ts";
import { begun, bytesOf, exportsWith, type Line, linesOf } from "./export-of.ts";

/**
 * Goal: every record comes exactly once and in order, whatever of it lies in files, over them or in memory, and
 * whatever a seal moves while the export is under way.
 *
 * Method: reports that get in each other's way go to the reference model too. Seals run in between and, at any step,
 * during an export.
 */

afterAll(removeArchiveApps);

const DAY_MS = 86_400_000;
const NOW_MS = BASE_MS + 9 * DAY_MS; // The older of the two days is due, and the other one soon.

type Given = Readonly<Record<string, unknown>>;

const deed = fc.oneof(
  { weight: 4, arbitrary: fc.array(arbitraryReport, { minLength: 1, maxLength: 12 }) },
  { weight: 1, arbitrary: fc.constant("seal" as const) },
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
  readonly #act: () => Promise<unknown>;
  #left: number;

  constructor(left: number, act: () => Promise<unknown>) {
    super();
    this.#left = left;
    this.#act = act;
  }

  override runAtOnce: Scheduler["runAtOnce"] = (owner, signal, steps, lasting) => {
    const run = () => super.runAtOnce(owner, signal, steps, lasting);
    return this.#left-- === 0 ? this.#act().then(run) : run();
  };
}

async function stored(
  app: ArchiveApp,
  deeds: readonly (readonly Given[] | "seal")[],
): Promise<ReferenceRecords> {
  const reference = createReferenceRecords("fleet");
  for (const each of deeds) {
    if (each === "seal") {
      await app.seal();
      continue;
    }
    await app.store(each);
    reference.report(each);
  }
  return reference;
}

const asGiven = ({ deviceIds, ...rest }: { deviceIds: string[] | null }, reference: ReferenceRecords) => {
  const known = deviceIds?.filter((id) => reference.recordsOf(id).length > 0) ?? null;
  return { ...rest, deviceIds: known?.length === 0 ? null : known };
};

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

test("an export has every record once and in order, while a seal runs at any of its steps", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(deed, { minLength: 1, maxLength: 6 }),
      query,
      fc.nat(6),
      async (deeds, asked, step) => {
        const app = await createArchiveApp({ clock: createManualClock(NOW_MS) });
        const reference = await stored(app, deeds);
        const wanted = asGiven(asked, reference) as Partial<ExportQuery> & ReturnType<typeof asGiven>;
        const exports = exportsWith(app, {
          scheduler: new Interrupted(step, () => app.seal()),
          sizes: { foundRecords: 5, pageRecords: 3, lateRowsMax: 4, sortedRowsMax: 20 },
        });
        const lines = select(reference, wanted as ExportQuery);
        expect(await linesOf(exports, wanted)).toEqual(lines);
        expect(await keysByDevice(exports, wanted)).toEqual(byDevice(lines));
        await exports.stop();
        await app.close();
      },
    ),
    { numRuns: 25 },
  );
});

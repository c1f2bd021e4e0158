import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { compareUtf8 } from "../../../src/lib/text/utf8.ts";
import type { UserId } from "../../../src/model/ids.ts";
import type { ExportQuery } from "../../../src/service/export/export-query.ts";
import type { Exports } from "../../../src/service/export/exports.ts";
import { createManualClock } from "../../../src/time/clock.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../support/archive-app.ts";
import { arbitraryReport, BASE_MS } from "../../support/reports/arbitrary-reports.ts";
import { begun, bytesOf, exportsWith, type Line, linesOf } from "./export-of.ts";

/**
 * Goal: every record comes exactly once and in order, whatever of it lies in files, over them or in memory, and
 * whatever a seal moves while the export is under way.
 *
 * Method: reports that get in each other's way are laid over plain objects too. Seals run in between and, at any step,
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

/** The records that reports come to: what is carried replaces, what is left out stays. */
class Plain {
  readonly #records = new Map<string, Line>();

  add(report: Given): void {
    const key = JSON.stringify([report.device_id, report.timestamp]);
    const carried = Object.fromEntries(
      Object.entries(report).filter(([, value]) => value !== null && value !== undefined),
    );
    this.#records.set(key, { user_id: "ANONYMOUS", ...this.#records.get(key), ...carried });
  }

  has(deviceId: string): boolean {
    return [...this.#records.values()].some(({ device_id }) => device_id === deviceId);
  }

  select({ deviceIds, userId, range }: Pick<ExportQuery, "deviceIds" | "userId" | "range">): Line[] {
    return [...this.#records.values()]
      .filter(({ device_id }) => deviceIds === null || deviceIds.includes(String(device_id)))
      .filter(({ user_id }) => userId === null || user_id === userId)
      .filter(({ timestamp }) => Number(timestamp) >= range.startMs && Number(timestamp) < range.endMs)
      .sort(
        (a, b) =>
          Number(a.timestamp) - Number(b.timestamp) || compareUtf8(String(a.device_id), String(b.device_id)),
      );
  }
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

async function stored(app: ArchiveApp, deeds: readonly (readonly Given[] | "seal")[]): Promise<Plain> {
  const plain = new Plain();
  for (const each of deeds) {
    if (each === "seal") {
      await app.seal();
      continue;
    }
    await app.store(each);
    for (const report of each) plain.add(report);
  }
  return plain;
}

const asGiven = ({ deviceIds, ...rest }: { deviceIds: string[] | null }, plain: Plain) => {
  const known = deviceIds?.filter((id) => plain.has(id)) ?? null;
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
        const plain = await stored(app, deeds);
        const wanted = asGiven(asked, plain) as Partial<ExportQuery> & ReturnType<typeof asGiven>;
        const exports = exportsWith(app, {
          scheduler: new Interrupted(step, () => app.seal()),
          sizes: { foundRecords: 5, pageRecords: 3, lateRowsMax: 4, sortedRowsMax: 20 },
        });
        expect(await linesOf(exports, wanted)).toEqual(plain.select(wanted as ExportQuery));
        expect(await keysByDevice(exports, wanted)).toEqual(byDevice(plain.select(wanted as ExportQuery)));
        await exports.stop();
        await app.close();
      },
    ),
    { numRuns: 25 },
  );
}, 240_000);

import type { BenchRun } from "../run/bench.ts";
import { askInTurns, askTimes } from "./ask-in-turns.ts";
import { type CorrectedServer, makeCorrectedDays, openCorrected } from "./corrected-days.ts";
import { dayPath, type ShownRecord } from "./correcting.ts";

const MS_PER_MINUTE = 60_000;
/** Records of a page, and most of the records that are corrected of a device. */
const LIMIT = 100;
const SHIFT_MS = 30_000;

/** Asks two servers with the same archived day for its pages, of which one shows records of them in other forms. */
export async function measureBesideShown(run: BenchRun): Promise<void> {
  const days = await makeCorrectedDays(run);
  const twin = await makeCorrectedDays(run);
  const plain = await openCorrected(days.dataDir);
  const corrected = await openCorrected(twin.dataDir);
  const times = 5;
  try {
    const { archivedMs, deviceIds } = days;
    for (const [index, { name, change, correct }] of FORMS.entries()) {
      const id = deviceIds[index]!;
      const ofDevice = dayPath(id, archivedMs, LIMIT);
      const expected = (await plain.correcting.locations(ofDevice)).map(change).map(withoutId);
      await correct(corrected, id, archivedMs, LIMIT);
      const shown = (await corrected.correcting.locations(ofDevice)).map(withoutId);
      if (!Bun.deepEquals(shown, expected)) throw new Error(`${name}: it is another page`);
      for (const [what, path] of [
        ["page", ofDevice],
        ["second page", `${ofDevice}&offset=${LIMIT / 2}`],
        ["page from the end", `${ofDevice}&order=desc`],
      ]) {
        await askInTurns(
          run,
          `${what} of a day with ${LIMIT} records ${name}`,
          { atMost: 1.5 },
          {
            ours: () => askTimes(corrected, path!, times),
            control: () => askTimes(plain, path!, times),
          },
        );
      }
    }
    const ofApp = dayPath("", archivedMs, LIMIT).replace("devices//", "");
    await askInTurns(run, "page of an app's day with such records", undefined, {
      ours: () => askTimes(corrected, ofApp, times),
      control: () => askTimes(plain, ofApp, times),
    });
  } finally {
    await plain.directory.close();
    await corrected.directory.close();
  }
}

/** An id follows from the time. */
function withoutId(record: ShownRecord): object {
  return { ...record, id: null };
}

/** A form in which a correction shows records. */
interface ShownForm {
  readonly name: string;
  change(record: ShownRecord): ShownRecord;
  /** Corrects the first records of a device's day. */
  correct(server: CorrectedServer, deviceId: string, dayMs: number, count: number): Promise<void>;
}

const PLACE = { latitude: 1.5, longitude: 2.5 };
const USER = "assigned";

const FORMS: readonly ShownForm[] = [
  {
    name: "shifted",
    change: (record) => ({ ...record, timestamp: record.timestamp + SHIFT_MS }),
    async correct({ correcting }, device_id, start, count) {
      await correcting.shift({ device_id, start, end: start + count * MS_PER_MINUTE }, SHIFT_MS);
    },
  },
  {
    name: "moved",
    change: (record) => ({ ...record, ...PLACE }),
    async correct({ correcting }, device_id, start, count) {
      const page = await correcting.locations(dayPath(device_id, start, count));
      for (const { timestamp } of page)
        await correcting.make({ action: "move", device_id, timestamps: [timestamp], ...PLACE });
    },
  },
  {
    name: "assigned",
    change: (record) => ({ ...record, user_id: USER }),
    async correct({ correcting }, device_id, start, count) {
      const end = start + count * MS_PER_MINUTE;
      await correcting.make({ action: "assign", device_id, start, end, to_user_id: USER });
    },
  },
];

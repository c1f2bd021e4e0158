import { afterAll, afterEach, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { FileError, type Files } from "../../../../../src/runtime/files.ts";
import { createNodeFiles } from "../../../../../src/runtime/node-files.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../../support/archive-app.ts";
import { outcome } from "../../../../support/rejection.ts";
import { turns } from "../../../../support/turns.ts";
import { until } from "../../../../support/until.ts";

/** Goal: days that are folded side by side, as in an import, come to what they do one after the other. */

afterAll(removeArchiveApps);

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 0, 28, 12);
const DAYS = 12;

/** Of each day a record of a device that has it alone, and one of a device that has all days. */
const REPORTS = Array.from({ length: DAYS }, (_, day) => {
  const timestamp = NOW_MS - (10 + day) * DAY_MS;
  return ["all", `of-${day}`].map((device_id) => ({ device_id, latitude: 1, longitude: day, timestamp }));
}).flat();

let app: ArchiveApp | null = null;
afterEach(() => app?.close());

/** Counts the parts that are written at once, which wait until so many are, and fails the one of this number. */
function createDisk(failing: number, atOnce: number) {
  const real = createNodeFiles();
  const disk = { writing: 0, writingMax: 0, written: 0 };
  const files: Files = {
    ...real,
    async replace(path, bytes) {
      if (!path.endsWith(".parquet")) return real.replace(path, bytes);
      if (++disk.written === failing) throw new FileError("replace", path, "EIO");
      disk.writingMax = Math.max(disk.writingMax, ++disk.writing);
      await until(() => disk.writingMax >= atOnce); // Others come up to it first.
      await turns();
      await real.replace(path, bytes).finally(() => disk.writing--);
    },
  };
  return { disk, files };
}

async function shown({ get }: ArchiveApp): Promise<string[]> {
  const range = "start_date=2025-12-01&end_date=2026-01-28";
  const { status, body } = await get(`/api/v1/locations/history?${range}&order=asc&limit=1000`);
  expect(status).toBe(200);
  return body.locations.map(({ device_id, longitude }) => `${device_id} ${longitude}`);
}

function partsOf({ dataDir }: ArchiveApp): string[] {
  const names = readdirSync(join(dataDir, "archive"), { recursive: true }) as string[];
  return names.filter((name) => name.endsWith(".parquet")).sort();
}

test("days are folded so many at once, and the archive is the same", async () => {
  const archives: unknown[] = [];
  for (const sealDaysAtOnce of [1, 3]) {
    const { disk, files } = createDisk(0, sealDaysAtOnce);
    app = await createArchiveApp({ startMs: NOW_MS, disk: { files }, sealDaysAtOnce });
    await app.store(REPORTS);
    // Some days have parts when the others come.
    await app.seal();
    await app.store(REPORTS.map((report) => ({ ...report, device_id: `later-${report.device_id}` })));
    const { days, records, parts } = await app.seal();
    expect(disk.writingMax).toBe(sealDaysAtOnce);
    app = await app.restart();
    const inManifest = [...app.directory.archive.manifest.days];
    archives.push({ days, records, parts, shown: await shown(app), names: partsOf(app), inManifest });
    await app.close();
    app = null;
  }
  expect(archives[1]).toEqual(archives[0]);
});

test("where one fails nothing is sealed, no file is left, and the next seal has all of them", async () => {
  const { disk, files } = createDisk(7, 3);
  app = await createArchiveApp({ startMs: NOW_MS, disk: { files }, sealDaysAtOnce: 3 });
  await app.store(REPORTS);
  const before = await shown(app);
  expect(await outcome(app.seal())).toThrow("EIO");
  expect(disk.writing).toBe(0);
  expect(partsOf(app)).toEqual([]);
  expect(app.directory.archive.manifest.days.size).toBe(0);
  expect((await app.seal()).days).toHaveLength(DAYS);
  app = await app.restart();
  expect(await shown(app)).toEqual(before);
});

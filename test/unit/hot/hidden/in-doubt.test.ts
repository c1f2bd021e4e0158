import { afterAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import {
  type Connection,
  type Database,
  type DatabaseOptions,
  openDatabase,
} from "../../../../src/archive/duckdb/database.ts";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { makeCorrection, undoCorrection } from "../../../support/corrections/make-correction.ts";

/** A start whose files and log do not say which record of a device is its newest finds it in the archive. */

afterAll(removeArchiveApps);

const DAY_MS = Date.UTC(2026, 0, 14);

const reportAt = (device_id: string, minute: number) => ({
  ...{ device_id, timestamp: DAY_MS + minute * 60_000, latitude: minute, longitude: 2 },
});

/** The minute of the newest record; null if there is none. */
async function minuteOf(app: ArchiveApp, device: string): Promise<unknown> {
  const { status, body } = await app.get(`/api/v1/devices/${device}/locations/current`);
  return status === 404 ? null : body.location.latitude;
}

/** Closes the app, removes some of the archive's files, and opens it again. */
async function restartWithout(app: ArchiveApp, ...names: readonly string[]): Promise<ArchiveApp> {
  for (const name of names) rmSync(join(app.dataDir, "archive", name), { recursive: true });
  return app.restart();
}

test("of a device that shows as another, whose newest record is hidden there", async () => {
  let app = await createArchiveApp();
  await app.store([reportAt("new", 1), reportAt("old", 2), reportAt("old", 5)]);
  await makeCorrection(app, { action: "assign", device_id: "old", to_device_id: "new" });
  const id = await makeCorrection(app, { action: "hide", device_id: "new", timestamps: [DAY_MS + 300_000] });
  await app.seal();
  await app.store([reportAt("old", 4)]);
  await app.seal();
  expect(await minuteOf(app, "new")).toBe(4);
  app = await app.restart();
  expect(await minuteOf(app, "new")).toBe(4);
  app = await restartWithout(app, "latest");
  expect(await minuteOf(app, "new")).toBe(4);
  await undoCorrection(app, id);
  expect([await minuteOf(app, "new"), await minuteOf(app, "old")]).toEqual([5, null]);
  await app.close();
});

test("of a device whose newest record a correction of the log hides, though the archive has later ones", async () => {
  let app = await createArchiveApp();
  await app.store([reportAt("bus", 1), reportAt("bus", 5), reportAt("tram", 3)]);
  await makeCorrection(app, { action: "hide", device_id: "bus", timestamps: [DAY_MS + 300_000] });
  await makeCorrection(app, { action: "hide", device_id: "tram", timestamps: [DAY_MS + 180_000] });
  await app.store([reportAt("bus", 4), reportAt("tram", 2)]);
  await app.seal();
  app = await restartWithout(app, "manifest.json", "standing");
  expect([await minuteOf(app, "bus"), await minuteOf(app, "tram")]).toEqual([4, 2]);
  await app.close();
});

test("of a device of which the archive can't be read, the one that memory knows stays, and a note says so", async () => {
  let isFailing = false;
  const openFailing = async (options: DatabaseOptions): Promise<Database> => {
    const database = await openDatabase(options);
    return {
      ...database,
      async connect() {
        const connection = await database.connect();
        const run: Connection["run"] = (sql, ...given) =>
          isFailing && !sql.includes("file_row_number")
            ? Promise.reject(new Error("Out of Memory Error"))
            : connection.run(sql, ...given);
        return { ...connection, run };
      },
    };
  };
  let app = await createArchiveApp({
    disk: { files: createNodeFiles(), archiveEngine: { openDatabase: openFailing } },
  });
  await app.store([reportAt("new", 1), reportAt("old", 2), reportAt("old", 5)]);
  await makeCorrection(app, { action: "assign", device_id: "old", to_device_id: "new" });
  await makeCorrection(app, { action: "hide", device_id: "new", timestamps: [DAY_MS + 300_000] });
  await app.seal();
  isFailing = true;
  app = await app.restart();
  isFailing = false;
  expect(await minuteOf(app, "new")).toBe(1);
  expect(app.notes.join("\n")).toContain("The newest position of new (app fleet) may be a later one: Out of");
  await app.close();
});

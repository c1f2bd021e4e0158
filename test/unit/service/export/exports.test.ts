import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import type { Export } from "../../../../src/service/export/export-job.ts";
import type { Exports } from "../../../../src/service/export/exports.ts";
import { profileOf } from "../../../reference/profiles.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { makeCorrection } from "../../../support/corrections/make-correction.ts";
import { OTHER_APP_ID } from "../../../support/test-app.ts";
import { turns } from "../../../support/turns.ts";
import { until } from "../../../support/until.ts";
import { begun, bytesOf, EVERYTHING, exportsWith, linesOf, PLAIN } from "./export-of.ts";

/**
 * Goal: a file that is taken out has every record once, wherever it lies, and is whole or recognisably not; who leaves,
 * or takes nothing, leaves nothing behind.
 */

afterAll(removeArchiveApps);

const PLACE = { latitude: 1, longitude: 2 };
const at = (day: number, hour = 3) => Date.UTC(2026, 0, day, hour);
const NOBODY = new AbortController().signal;

let app: ArchiveApp;

beforeEach(async () => {
  app = await createArchiveApp();
  await app.store([14, 15, 27].map((day) => ({ ...PLACE, device_id: "a", timestamp: at(day), speed: day })));
  await app.store([14, 28].map((day) => ({ ...PLACE, device_id: "b", timestamp: at(day), user_id: "u" })));
  await app.store([{ ...PLACE, device_id: "a", timestamp: at(28) }], "other");
  await app.seal();
});

function leftOver(): string[] {
  return readdirSync(join(app.dataDir, "archive", "scratch"));
}

/** Why a file has no end. The matcher for promises keeps messages of threads from coming. */
function failureOf(taken: Export): Promise<string> {
  return bytesOf(taken).then(
    () => "it is whole",
    (error) => String(error),
  );
}

/** Nothing is left of any export. */
async function expectGone(exports: Exports): Promise<void> {
  await until(() => exports.running === 0);
  expect(leftOver()).toEqual([]);
}

test("an export has what lies in the archive, over it, and in memory", async () => {
  await app.store([
    { ...PLACE, device_id: "a", timestamp: at(14), speed: 3 },
    { ...PLACE, device_id: "c", timestamp: at(14, 2), is_mock: true },
  ]);
  const { exports } = app.directory;
  expect(await linesOf(exports)).toEqual([
    { device_id: "c", timestamp: at(14, 2), ...PLACE, user_id: "ANONYMOUS", is_mock: true },
    { device_id: "a", timestamp: at(14), ...PLACE, speed: 3, user_id: "ANONYMOUS" },
    { device_id: "b", timestamp: at(14), ...PLACE, user_id: "u" },
    { device_id: "a", timestamp: at(15), ...PLACE, speed: 15, user_id: "ANONYMOUS" },
    { device_id: "a", timestamp: at(27), ...PLACE, speed: 27, user_id: "ANONYMOUS" },
    { device_id: "b", timestamp: at(28), ...PLACE, user_id: "u" },
  ]);
  await expectGone(exports);
  await app.close();
});

test("an export of originals has none where memory has only what a correction moved there", async () => {
  await makeCorrection(app, { action: "shift_time", device_id: "a", start: at(27), end: at(28), by_ms: -1 });
  const { exports } = app.directory;
  const range = { startMs: at(27, 1), endMs: at(27) };
  for (const format of ["ndjson", "gpx"]) {
    const textOf = async (originals: boolean) =>
      (await bytesOf(await begun(exports, { format, range, originals }))).toString();
    const record = /"timestamp"|<trkpt /g;
    expect((await textOf(false)).match(record)).toHaveLength(1);
    expect(await textOf(true)).not.toMatch(record);
  }
  await app.close();
});

test("GPX and KML have the names of devices with their ids, or neither; other formats have the ids alone", async () => {
  const { exports, editProfile } = app.directory;
  const setName = (appId: string, deviceId: string, name: string) =>
    editProfile(appId as AppId, deviceId as DeviceId, profileOf({ name }));
  await setName(EVERYTHING.appId, "a", "Bus <42>");
  await setName(OTHER_APP_ID, "b", "Another app's");
  const textOf = async (format: string, options = PLAIN) =>
    (await bytesOf(await begun(exports, { format, options }))).toString();
  const gpx = (await textOf("gpx")).split("\n").filter((line) => /name|deviceId/.test(line));
  expect(gpx).toEqual([
    "<name>Bus &lt;42&gt;</name>",
    "<extensions><wh:deviceId>a</wh:deviceId></extensions>",
    "<name>b</name>",
  ]);
  const kml = (await textOf("kml", { ...PLAIN, simplifyMeters: 10 })).match(/<Placemark>.*/g);
  expect(kml).toEqual([
    '<Placemark><name>Bus &lt;42&gt;</name><ExtendedData><Data name="device_id"><value>a</value></Data></ExtendedData><gx:MultiTrack>',
    "<Placemark><name>b</name><gx:MultiTrack>",
  ]);
  for (const format of ["gpx", "kml"]) {
    const redacted = await textOf(format, { ...PLAIN, redact: true });
    expect(redacted).not.toContain("Bus");
    expect(redacted.match(/<name>[^<]*/g)).toEqual(["<name>device-1", "<name>device-2"]);
  }
  for (const format of ["ndjson", "csv", "geojson"]) expect(await textOf(format)).not.toContain("Bus");
  await app.close();
});

test("what an export needs of the archive and can't have fails it before the first byte, or breaks it off", async () => {
  const { archive, exports } = app.directory;
  const part = [...archive.manifest.days.values()]
    .flatMap(({ parts }) => parts)
    .find(({ file }) => file.startsWith("day=2026-01-15/"))!;
  const path = join(app.dataDir, "archive", part.file);
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1]! ^= 4;
  writeFileSync(path, bytes);

  const cut = await begun(exports);
  expect(await failureOf(cut)).toMatch(/2026-01-15/);
  await expectGone(exports);
  const refused = await exports.start(EVERYTHING, { signal: NOBODY });
  expect(refused).toEqual({ ok: false, error: { kind: "archive_damaged", days: ["2026-01-15"] } });
  const without = exportsWith(app, { acknowledgedParts: async () => new Set([part.file]) });
  const incomplete = await begun(without);
  expect(incomplete.isIncomplete).toBe(true);
  expect((await bytesOf(incomplete)).toString().split("\n")).toHaveLength(5);
  await app.close();
});

test("an app has two exports at once and the server four; who comes next is told when to come again", async () => {
  const { exports } = app.directory;
  const held: Export[] = [];
  for (const appId of [EVERYTHING.appId, EVERYTHING.appId, OTHER_APP_ID as AppId])
    held.push(await begun(exports, { appId }));
  const refused = await exports.start(EVERYTHING, { signal: NOBODY });
  expect(refused).toMatchObject({ ok: false, error: { kind: "unavailable", retryAfterSeconds: 30 } });
  held.push(await begun(exports, { appId: OTHER_APP_ID as AppId }));
  const full = await exports.start({ ...EVERYTHING, appId: "third" as AppId }, { signal: NOBODY });
  expect(full).toMatchObject({ ok: false, error: { kind: "unavailable" } });
  held[0]!.close();
  await turns(); // As a request would.
  expect((await linesOf(exports)).length).toBe(5); // As soon as one is over.
  for (const each of held) each.close();
  await expectGone(exports);
  await app.close();
});

describe("an export ends, and leaves nothing,", () => {
  test("where its client leaves", async () => {
    const client = new AbortController();
    const { exports } = app.directory;
    const started = await exports.start(EVERYTHING, client);
    client.abort(new Error("gone"));
    if (started.ok) expect(await failureOf(started.value)).toMatch(/gone/);
    await expectGone(exports);
    await app.close();
  });

  test("where nobody takes what was made", async () => {
    const exports = exportsWith(app, { stallMs: 50 });
    const stalled = await begun(exports);
    await expectGone(exports);
    expect(await failureOf(stalled)).toMatch(/read nothing/);
    await app.close();
  });

  test("where the directory is closed", async () => {
    const { exports } = app.directory;
    const broken = await begun(exports);
    await app.close();
    expect(await failureOf(broken)).toMatch(/stopping/);
    await expectGone(exports);
  });
});

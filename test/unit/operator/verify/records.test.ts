import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { encodeManifest, type Manifest } from "../../../../src/archive/manifest.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../../../../src/model/location-fields.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import type { AppDay } from "../../../../src/operator/verify/records.ts";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";
import { type Members, profileOf } from "../../../reference/profiles.ts";
import { createReferenceRecords } from "../../../reference/records.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import * as fc from "../../../support/fast-check.ts";
import { arbitraryReport, BASE_MS } from "../../../support/reports/arbitrary-reports.ts";
import type { Report } from "../../../support/reports/batches.ts";
import type { KeyName } from "../../../support/test-app.ts";
import { verifyDirectory } from "../../../support/verify-directory.ts";

/**
 * Goal: what verify says of the records is a matter of the records alone, and any way in which log, archive, manifest
 * and checkpoint disagree is named. Method: hashes are compared with those of the reference model's records, and of
 * directories that sealed at other times; then one thing at a time is taken away.
 */

const DAY_MS = 86_400_000;
const START_MS = BASE_MS + DAY_MS / 2;
/** Far enough for all of these reports to be due. */
const LATER_MS = START_MS + 20 * DAY_MS;

const apps: ArchiveApp[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});
afterAll(removeArchiveApps);

async function open(nowMs = START_MS): Promise<ArchiveApp> {
  const app = await createArchiveApp({ clock: createManualClock(nowMs) });
  apps.push(app);
  return app;
}

/** Records in the canonical form of ARCHITECTURE.md, by the simplest means. */
function plainAppDays(app: string, reports: readonly Report[]): AppDay[] {
  const reference = createReferenceRecords(app);
  reference.report(reports);
  const inOrder = reference.deviceIds().flatMap((id) => reference.recordsOf(id));
  const days = Map.groupBy(inOrder, ({ timestamp }) => new Date(timestamp).toISOString().slice(0, 10));
  const fields = [...NUMBER_FIELDS, ...PROFILE_FIELDS, ...STATE_FIELDS].map(({ name }) => name);
  return [...days].sort().map(([day, records]) => {
    const lines = records.map((record) => {
      const names = ["device_id", "timestamp", ...fields].filter((name) => record[name] !== undefined);
      return `${JSON.stringify(Object.fromEntries(names.map((name) => [name, record[name]])))}\n`;
    });
    const sha256 = createHash("sha256").update(lines.join("")).digest("hex");
    return { app, day, records: records.length, sha256 };
  });
}

async function verify(app: ArchiveApp) {
  return verifyDirectory(app.dataDir, app.clock);
}

/** A report, and a worse fix of its instant that comes later. */
const TWO_FIXES: [Report[], Report[]] = [
  [
    {
      device_id: "a",
      timestamp: BASE_MS,
      latitude: 42.36,
      longitude: 0,
      horizontal_accuracy: 4.8,
      speed: 8.3,
    },
  ],
  [{ device_id: "a", timestamp: BASE_MS, latitude: 90, longitude: 0, horizontal_accuracy: 50, user_id: "u" }],
];

test("verify hashes records as plain objects have them: in the log, sealed, late, folded, after a restart", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitraryReport, { minLength: 1, maxLength: 40 }),
      fc.array(arbitraryReport, { maxLength: 20 }),
      async (first, second) => {
        let app = await createArchiveApp({ clock: createManualClock(START_MS) });
        try {
          await app.store(first);
          const before = plainAppDays("fleet", first);
          const after = plainAppDays("fleet", [...first, ...second]);
          expect(await verify(app)).toMatchObject({ appDays: before, problems: [] });
          app.clock.advance(LATER_MS - START_MS);
          await app.seal();
          expect(await verify(app)).toMatchObject({ appDays: before, problems: [] });
          await app.store(second);
          expect(await verify(app)).toMatchObject({ appDays: after, problems: [] });
          app = await app.restart();
          expect(await verify(app)).toMatchObject({ appDays: after, problems: [] });
          await app.seal();
          const { appDays, sha256, problems } = await verify(app);
          expect([appDays, problems]).toEqual([after, []]);
          const lines = after.map((day) => `${day.app} ${day.day} ${day.records} ${day.sha256}\n`);
          expect(sha256).toBe(createHash("sha256").update(lines.join("")).digest("hex"));
        } finally {
          await app.close();
        }
      },
    ),
    { numRuns: 15, examples: [TWO_FIXES] },
  );
});

test("verify lays late reports over archived records, the newest of a device and others", async () => {
  let app = await open(LATER_MS);
  const place = { latitude: 1, longitude: 2 };
  const instants = [BASE_MS, BASE_MS + 1, BASE_MS + 2];
  const first = instants.map((timestamp) => ({
    ...place,
    device_id: "a",
    timestamp,
    user_id: "u",
    speed: 3,
  }));
  const second = instants.map((timestamp) => ({ ...place, device_id: "a", timestamp, altitude: 9 }));
  await app.store(first);
  await app.seal();
  await app.store(second);
  const expected = { appDays: plainAppDays("fleet", [...first, ...second]), problems: [] };
  expect(await verify(app)).toMatchObject(expected);
  app = await app.restart();
  apps[0] = app;
  expect(await verify(app)).toMatchObject(expected);
});

/** Sets (or deletes) profiles of devices in this order. */
async function setProfiles(app: ArchiveApp, profiles: readonly [string, Members | null][]): Promise<void> {
  for (const [deviceId, members] of profiles) {
    const profile = members === null ? null : profileOf(members);
    const edited = await app.directory.editProfile("fleet" as AppId, deviceId as DeviceId, profile);
    expect(edited.ok).toBe(true);
  }
}

test("verify hashes profiles as plain objects have them: in the log, sealed, replaced, after a restart", async () => {
  let app = await open();
  const none = (await verify(app)).sha256;
  const bus = { name: "Bus 42", color: "#1a73e8", tags: ["b", "a"], metadata: { plate: "AB" } };
  const profiles: [string, Members | null][] = [
    ["z", { name: "gone" }],
    ["\u{1F68C}", bus],
    ["a", { icon: "bus" }],
    ["z", null],
  ];
  await setProfiles(app, profiles);
  const lines = [
    { device_id: "a", icon: "bus" },
    { device_id: "\u{1F68C}", ...bus },
  ].map((line) => `${JSON.stringify(line)}\n`);
  const sha256 = createHash("sha256").update(lines.join("")).digest("hex");
  const expected = { profiles: [{ app: "fleet", profiles: 2, sha256 }], problems: [] };
  const first = await verify(app);
  expect(first).toMatchObject(expected);
  expect(first.sha256).not.toBe(none);
  await app.seal();
  expect(await verify(app)).toMatchObject({ ...expected, sha256: first.sha256 });
  app = await app.restart();
  apps[0] = app;
  await setProfiles(app, [
    ["a", { icon: "car" }],
    ["\u{1F68C}", bus],
    ["a", { icon: "bus" }],
  ]);
  expect(await verify(app)).toMatchObject({ ...expected, sha256: first.sha256 });
  await setProfiles(app, [["a", { icon: "car" }]]);
  expect((await verify(app)).sha256).not.toBe(first.sha256);
});

test("verify lists apps and days in order, without those that the retention has given up", async () => {
  const app = await open();
  const ofDays = (days: readonly number[]) =>
    days.map((day) => ({ device_id: "a", timestamp: START_MS + day * DAY_MS, latitude: 1, longitude: 2 }));
  await app.store(ofDays([-364, -20, -1]));
  await app.store(ofDays([-20]), "other" as KeyName);
  const daysOf = async () => (await verify(app)).appDays!.map(({ app: id, day }) => `${id} ${day}`);
  const other = (await verify(app)).appDays!.at(-1)!.app;
  const all = ["fleet 2025-01-16", "fleet 2025-12-26", "fleet 2026-01-14", `${other} 2025-12-26`];
  expect(await daysOf()).toEqual(all);
  await app.seal();
  expect(await daysOf()).toEqual(all);
  app.clock.advance(2 * DAY_MS);
  expect(await daysOf()).toEqual(all.slice(1));
  await app.seal(); // It moves them aside now.
  expect(await daysOf()).toEqual(all.slice(1));
});

test("verify --quick says nothing of records", async () => {
  const app = await sealedApp();
  const report = await verifyDirectory(app.dataDir, app.clock, { quick: true });
  expect(report).toMatchObject({ appDays: null, sha256: null, problems: [] });
});

/** Sealed records of three devices on two days, a late one, and some in memory. */
async function sealedApp(): Promise<ArchiveApp> {
  const app = await open(LATER_MS);
  const report = (device_id: string, timestamp: number) => ({
    device_id,
    timestamp,
    latitude: 1,
    longitude: 2,
  });
  await app.store(["a", "b", "c"].map((id) => report(id, BASE_MS)));
  await app.store(["a", "b"].map((id) => report(id, BASE_MS + DAY_MS)));
  await app.seal();
  await app.store([report("a", BASE_MS + 1)]);
  await app.store([report("a", LATER_MS)]);
  return app;
}

function rewriteManifest(app: ArchiveApp, change: (manifest: Manifest) => Partial<Manifest>): Promise<void> {
  const { manifest } = app.directory.archive;
  const bytes = encodeManifest({ ...manifest, ...change(manifest) });
  return createNodeFiles().replace(join(app.dataDir, "archive", "manifest.json"), bytes);
}

describe("verify names what does not agree:", () => {
  test("a record that two parts of a day have", async () => {
    const app = await sealedApp();
    await rewriteManifest(app, ({ days }) => ({
      days: new Map(
        [...days].map(([day, sealed]) => [day, { ...sealed, parts: [...sealed.parts, ...sealed.parts] }]),
      ),
    }));
    const { problems } = await verify(app);
    expect(problems).toEqual([
      expect.stringMatching(
        /^The archive of 2026-01-15 has records out of order or twice: fleet, device "a"/,
      ),
      expect.stringMatching(
        /^The archive of 2026-01-16 has records out of order or twice: fleet, device "a"/,
      ),
    ]);
  });

  test("a checkpoint that lacks devices", async () => {
    const app = await sealedApp();
    await rewriteManifest(app, () => ({ latest: [] }));
    expect((await verify(app)).problems).toEqual([
      "archive/latest does not have the newest archived record of 3 devices",
    ]);
  });

  test("a checkpoint that is older than the archive", async () => {
    const app = await open(BASE_MS + 9 * DAY_MS);
    const report = (timestamp: number) => ({ device_id: "a", timestamp, latitude: 1, longitude: 2 });
    await app.store([report(BASE_MS), report(BASE_MS + 4 * DAY_MS)]);
    await app.seal();
    const { latest } = app.directory.archive.manifest;
    const old = await createNodeFiles().read(join(app.dataDir, "archive", latest![0]!.file));
    app.clock.advance(5 * DAY_MS);
    await app.seal();
    expect((await verify(app)).problems).toEqual([]);
    await createNodeFiles().replace(join(app.dataDir, "archive", latest![0]!.file), old);
    await rewriteManifest(app, () => ({ latest }));
    expect((await verify(app)).problems).toEqual([
      "archive/latest does not have the newest archived record of 1 devices",
    ]);
  });

  test("a log whose end is older than the archive, and one that is gone", async () => {
    const app = await sealedApp();
    await rewriteManifest(app, () => ({ lastSequence: 1000 }));
    expect((await verify(app)).problems).toEqual([
      "The log ends at entry 4, and the archive covers entries up to 1000",
    ]);
    await rewriteManifest(app, () => ({}));
    expect((await verify(app)).problems).toEqual([]);
    rmSync(join(app.dataDir, "wal"), { recursive: true });
    expect((await verify(app)).problems).toEqual([
      "The log ends at entry 0, and the archive covers entries up to 2",
    ]);
  });

  test("a segment that is lost, at the beginning and in the middle", async () => {
    let app = await open();
    const report = (timestamp: number) => ({ device_id: "a", timestamp, latitude: 1, longitude: 2 });
    for (let start = 0; start < 3; start++) {
      for (let entry = 0; entry < 2; entry++) await app.store([report(BASE_MS + start * 10 + entry)]);
      app = await app.restart();
    }
    apps[0] = app;
    const segments = readdirSync(join(app.dataDir, "wal")).sort();
    expect(segments.length).toBe(3);
    expect((await verify(app)).problems).toEqual([]);
    rmSync(join(app.dataDir, "wal", segments[1]!));
    const lost = "Entries 3 to 4 are neither in the log nor in the archive";
    expect((await verify(app)).problems).toEqual([lost]);
    rmSync(join(app.dataDir, "wal", segments[0]!));
    expect((await verify(app)).problems).toEqual([
      "Entries 1 to 4 are neither in the log nor in the archive",
    ]);
  });
});

test("verify looks again where a seal swaps the manifest meanwhile, at any moment", async () => {
  const clock = createManualClock(LATER_MS);
  const files = createNodeFiles();
  const operations = ["read", "list", "exists", "size"] as const;
  for (const at of [0, 2, 4, 5, 6, 7, 8, 9, 10, 12, 14]) {
    let app = await createArchiveApp({ clock });
    const report = (device_id: string, timestamp: number) => ({
      device_id,
      timestamp,
      latitude: 1,
      longitude: 2,
    });
    await app.store([report("a", BASE_MS), report("b", BASE_MS)]);
    await app.seal();
    const late = [report("a", BASE_MS + 5), report("b", BASE_MS), report("c", BASE_MS + DAY_MS)];
    await app.store(late);
    app = await app.restart();
    await app.store([report("a", LATER_MS)]); // In a segment of its own: that of the late reports goes with the seal.
    const { appDays } = await verify(app);
    const segments = readdirSync(join(app.dataDir, "wal"));
    let count = 0;
    const watched = { ...files };
    for (const operation of operations) {
      const original = files[operation] as (path: string) => Promise<never>;
      watched[operation] = async (path: string): Promise<never> => {
        if (count++ === at) await app.seal();
        return original(path);
      };
    }
    const again = await verifyDirectory(app.dataDir, clock, {}, watched);
    expect([at, count > at, again.problems, again.appDays]).toEqual([at, true, [], appDays]);
    expect(readdirSync(join(app.dataDir, "wal")).length).toBeLessThan(segments.length);
    await app.close();
  }
});

test("verify tells how far it is, up to the end", async () => {
  const app = await sealedApp();
  const steps: number[][] = [];
  await verifyDirectory(app.dataDir, app.clock, {}, createNodeFiles(), (...step) => steps.push(step));
  expect(
    steps.every(([done, total], index) => done! <= total! && done! >= (steps[index - 1]?.[0] ?? 0)),
  ).toBe(true);
  expect(steps.at(-1)![0]).toBe(steps.at(-1)![1]);
});

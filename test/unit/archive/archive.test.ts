import { expect, test } from "bun:test";
import { createArchive } from "../../../src/archive/archive.ts";
import { EMPTY_MANIFEST, type Manifest, type Part, parseManifest } from "../../../src/archive/manifest.ts";
import { DAMAGED_AGAIN_MS, GOOD_AGAIN_MS } from "../../../src/archive/part-checks.ts";
import { ok } from "../../../src/lib/result.ts";
import { systemTimers, type Timers } from "../../../src/lib/schedule/timers.ts";
import type { PendingErasure } from "../../../src/model/erasure.ts";
import type { AppId, DeviceId } from "../../../src/model/ids.ts";
import { parseUtcDayName, utcDayStartMs } from "../../../src/model/time/utc-day.ts";
import { createSimulatedFiles, type SimulatedFiles } from "../../support/disk/simulated-files.ts";
import { outcome, rejection } from "../../support/rejection.ts";
import { VirtualTime } from "../../support/stream/virtual-time.ts";

const DAY = parseUtcDayName("2026-01-14")!;
const DAY_MS = 86_400_000;
const BYTES = new TextEncoder().encode("a part");
const MADE = { bytes: BYTES, rows: 3, apps: new Map([["app" as AppId, 3]]) };

function archiveOn(
  files: SimulatedFiles,
  manifest: Manifest = EMPTY_MANIFEST,
  renew = () => {},
  timers: Timers = systemTimers,
  erasures: () => readonly PendingErasure[] = () => [],
) {
  const reader = {
    withSession: () => Promise.reject(),
    running: 0,
    waiting: 0,
    renew,
    close: () => {},
  };
  return createArchive({
    files,
    directory: "/a",
    damagedDirectory: "/damaged",
    manifest,
    isWritten: true,
    reader,
    timers,
    erasures,
  });
}

function manifestOf(parts: readonly Part[]): Manifest {
  return { ...EMPTY_MANIFEST, seal: 1, days: new Map([[DAY, { sequence: 7, cleared: 0, parts, lost: [] }]]) };
}

function names(files: SimulatedFiles): string[] {
  return [...files.contents().keys()].sort();
}

test("writePart() and swap() last: a crash after each leaves what it wrote", async () => {
  const files = createSimulatedFiles();
  const archive = archiveOn(files);
  const part = await archive.writePart({ day: DAY, seal: 1, index: 0 }, MADE);
  expect(part).toMatchObject({ file: "day=2026-01-14/00000001-000.parquet", rows: 3, bytes: BYTES.length });
  const days = new Map([[DAY, { sequence: 7, cleared: 0, parts: [part], lost: [] }]]);
  const next = { ...EMPTY_MANIFEST, seal: 1, lastSequence: 7, days };
  await archive.swap(next);
  expect(archive.manifest).toBe(next);
  const found = files.crash();
  expect(found.contents().get(`/a/${part.file}`)).toEqual(BYTES);
  expect(parseManifest(found.contents().get("/a/manifest.json")!)).toEqual({ ok: true, value: next });
});

test("examine() names parts that are missing or of another size, and forgets those that are back", async () => {
  const files = createSimulatedFiles();
  const archive = archiveOn(files);
  const [good, cut, gone] = await Promise.all(
    [0, 1, 2].map((index) => archive.writePart({ day: DAY, seal: 1, index }, MADE)),
  );
  await archive.swap(manifestOf([good!, cut!, gone!]));
  await files.replace(`/a/${cut!.file}`, BYTES.subarray(1));
  await files.remove(`/a/${gone!.file}`);
  await archive.examine([good!, cut!, gone!]);
  expect([...archive.damaged]).toEqual([
    [cut!.file, "it has 5 bytes instead of 6"],
    [gone!.file, "it is missing"],
  ]);
  await files.replace(`/a/${cut!.file}`, BYTES);
  await archive.examine([cut!]);
  expect([...archive.damaged.keys()]).toEqual([gone!.file]);
});

test("its version is another after every swap, and after damage was found or undone, and each time while there is any", async () => {
  const files = createSimulatedFiles();
  const archive = archiveOn(files);
  const part = await archive.writePart({ day: DAY, seal: 1, index: 0 }, MADE);
  const versions = [archive.version];
  await archive.swap(manifestOf([part]));
  versions.push(archive.version);
  expect(await archive.verifyChecksums([part])).toBe(true);
  expect(archive.version).toBe(versions.at(-1)!);
  for (let time = 0; time < 2; time++) {
    await files.remove(`/a/${part.file}`);
    await archive.examine([part]);
    await archive.examine([part]);
    versions.push(archive.version);
    await files.replace(`/a/${part.file}`, BYTES);
    await archive.examine([part]);
    versions.push(archive.version);
  }
  await files.remove(`/a/${part.file}`);
  await archive.examine([part]);
  versions.push(archive.version, archive.version);
  await archive.moveToDamaged([part]);
  versions.push(archive.version);
  expect(new Set(versions).size).toBe(versions.length);
});

test("its masks and its version are others after each erasure, and once a day is clear", async () => {
  let erasures: readonly PendingErasure[] = [];
  const files = createSimulatedFiles();
  await files.makeDirectory("/a");
  const archive = archiveOn(files, manifestOf([]), undefined, undefined, () => erasures);
  const appId = "app" as AppId;
  const masked = () => archive.masks.of(appId, [DAY])?.values ?? null;
  expect(masked()).toBe(null);
  const versions = [archive.version];
  const ofDevice = (sequence: number, deviceId: string): PendingErasure => ({
    ...{ sequence, appId, deviceIds: [deviceId as DeviceId], userId: null },
    range: { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY },
  });
  erasures = [ofDevice(8, "a")];
  versions.push(archive.version);
  const { masks } = archive;
  expect(masked()).toEqual({
    maskDevices: ["a"],
    maskUsers: [""],
    maskStarts: [String(utcDayStartMs(DAY))],
    maskEnds: [String(utcDayStartMs(DAY) + DAY_MS)],
  });
  expect(archive.masks).toBe(masks);
  erasures = [ofDevice(8, "a"), ofDevice(9, "b")];
  versions.push(archive.version);
  expect(masked()?.maskDevices).toEqual(["a", "b"]);
  expect(archive.masks.of("other" as AppId, [DAY])).toBe(null);
  await archive.swap({
    ...EMPTY_MANIFEST,
    days: new Map([[DAY, { sequence: 7, cleared: 8, parts: [], lost: [] }]]),
  });
  versions.push(archive.version);
  expect(masked()?.maskDevices).toEqual(["b"]);
  expect(new Set(versions).size).toBe(versions.length);
});

test("examine() calls no part damaged that a seal has taken off the manifest", async () => {
  const files = createSimulatedFiles();
  const archive = archiveOn(files);
  const parts = await Promise.all(
    [0, 1].map((index) => archive.writePart({ day: DAY, seal: 1, index }, MADE)),
  );
  const [before, after] = parts as [Part, Part];
  await archive.swap(manifestOf([before]));
  await archive.swap(manifestOf([after]));
  await archive.discard([before]);
  expect(await archive.verifyChecksums([before])).toBe(false); // A query that began before the seal.
  expect([...archive.damaged]).toEqual([]);

  await files.remove(`/a/${after.file}`);
  await archive.examine([after]);
  expect([...archive.damaged.keys()]).toEqual([after.file]);
  await archive.swap(EMPTY_MANIFEST);
  expect([...archive.damaged]).toEqual([]);
});

test("discard() lets the reader forget files when many are gone", async () => {
  const files = createSimulatedFiles();
  let renewals = 0;
  const archive = archiveOn(files, EMPTY_MANIFEST, () => renewals++);
  const part = await archive.writePart({ day: DAY, seal: 1, index: 0 }, MADE);
  for (let time = 0; time < 600; time++) await archive.discard([part]);
  expect(renewals).toBe(2);
});

test("discard() and tidy() take the parts of a cut-off seal from the last to the first", async () => {
  for (const way of ["discard", "tidy"] as const) {
    const files = createSimulatedFiles();
    const archive = archiveOn(files);
    const parts: Part[] = [];
    for (let index = 0; index < 3; index++)
      parts.push(await archive.writePart({ day: DAY, seal: 1, index }, MADE));
    const gone: string[] = [];
    files.beforeOperation = (operation, path) => {
      if (operation === "remove" || operation === "rename") gone.push(path);
    };
    await (way === "discard" ? archive.discard(parts) : archive.tidy(5, 1));
    expect([way, ...gone]).toEqual([way, ...parts.map(({ file }) => `/a/${file}`).reverse()]);
  }
});

test("verifyChecksums() reads each part once, and knows flipped bits from what was written", async () => {
  const files = createSimulatedFiles();
  const archive = archiveOn(files);
  const parts = await Promise.all(
    [0, 1].map((index) => archive.writePart({ day: DAY, seal: 1, index }, MADE)),
  );
  const [good, flipped] = parts as [Part, Part];
  await archive.swap(manifestOf(parts));
  const bytes = BYTES.slice();
  bytes[3]! ^= 1;
  await files.replace(`/a/${flipped.file}`, bytes);
  await archive.examine(parts);
  expect(archive.damaged.size).toBe(0); // A glance can't tell.
  expect(await archive.verifyChecksums([good])).toBe(true);
  expect(await Promise.all([archive.verifyChecksums(parts), archive.verifyChecksums(parts)])).toEqual([
    false,
    false,
  ]);
  expect([...archive.damaged.keys()]).toEqual([flipped.file]);
  let reads = 0;
  files.beforeOperation = (operation) => {
    if (operation === "read") reads++;
  };
  expect(await archive.verifyChecksums([good])).toBe(true);
  expect(reads).toBe(0);
});

const NEVER = new AbortController().signal;

/** Three parts, the last of which has a flipped bit, and how often each was read. */
async function damagedArchive() {
  const files = createSimulatedFiles();
  const time = new VirtualTime();
  let renewals = 0;
  const archive = archiveOn(files, EMPTY_MANIFEST, () => renewals++, time);
  const parts = await Promise.all(
    [0, 1, 2].map((index) => archive.writePart({ day: DAY, seal: 1, index }, MADE)),
  );
  await archive.swap(manifestOf(parts));
  const bytes = BYTES.slice();
  bytes[3]! ^= 1;
  await files.replace(`/a/${parts[2]!.file}`, bytes);
  const reads = parts.map(() => 0);
  files.beforeOperation = (operation, path) => {
    const part = parts.findIndex(({ file }) => path.endsWith(file));
    if (operation === "read") reads[part]!++;
  };
  const pass = (ms: number) => time.until(time.wait(ms));
  return { files, archive, parts, reads, pass, renewals: () => renewals };
}

test("questions that want to know of a part at the same time wait for one reading", async () => {
  const { archive, parts, reads } = await damagedArchive();
  const asked = Array.from({ length: 4 }, () => archive.verifyChecksums(parts));
  expect(await Promise.all(asked)).toEqual([false, false, false, false]);
  expect(reads).toEqual([1, 1, 1]);
});

test("recheck() reads a damaged part once in some seconds, however many questions need it", async () => {
  const { files, archive, parts, reads, pass, renewals } = await damagedArchive();
  await archive.verifyChecksums(parts);
  const damaged = parts.slice(2);
  const ask = () => Promise.all(Array.from({ length: 100 }, () => archive.recheck(damaged, NEVER)));
  await ask();
  expect(reads[2]).toBe(1);
  await pass(DAMAGED_AGAIN_MS);
  await ask();
  expect([reads[2], renewals()]).toEqual([2, 0]);
  await files.replace(`/a/${damaged[0]!.file}`, BYTES);
  await ask();
  expect([...archive.damaged.keys()]).toEqual([damaged[0]!.file]);
  await pass(DAMAGED_AGAIN_MS);
  await ask();
  expect([reads[2], archive.damaged.size, renewals()]).toEqual([3, 0, 1]);
});

test("recheck() reads good parts once a minute, and sees at once what is missing or back", async () => {
  const { files, archive, parts, reads, pass } = await damagedArchive();
  const good = parts.slice(0, 2);
  await archive.verifyChecksums(good);
  for (let question = 0; question < 20; question++) await archive.recheck(good, NEVER);
  expect(reads).toEqual([2, 2, 0]);
  await pass(GOOD_AGAIN_MS);
  await archive.recheck(good, NEVER);
  expect(reads).toEqual([3, 3, 0]);
  await files.remove(`/a/${good[0]!.file}`);
  await archive.recheck(good, NEVER);
  expect([...archive.damaged.keys()]).toEqual([good[0]!.file]);
  await files.replace(`/a/${good[0]!.file}`, BYTES);
  await archive.recheck(good, NEVER);
  expect([archive.damaged.size, await archive.verifyChecksums(good)]).toEqual([0, true]);
});

test("recheck() and verifyChecksums() read no further part once their question is gone", async () => {
  const { files, archive, parts, reads } = await damagedArchive();
  for (const look of ["recheck", "verifyChecksums"] as const) {
    const client = new AbortController();
    const count = files.beforeOperation;
    files.beforeOperation = (operation, path) => {
      count?.(operation, path);
      if (operation === "read") client.abort();
    };
    expect(await rejection(archive[look](parts, client.signal))).toMatchObject({ name: "AbortError" });
    files.beforeOperation = count;
    expect(reads.splice(0, 3, 0, 0, 0)).toEqual(look === "recheck" ? [1, 0, 0] : [0, 1, 0]);
  }
});

test("that no file descriptor is left says nothing of a part", async () => {
  const files = createSimulatedFiles();
  const archive = archiveOn(files);
  const part = await archive.writePart({ day: DAY, seal: 1, index: 0 }, MADE);
  await archive.swap(manifestOf([part]));
  for (const code of ["EMFILE", "ENFILE"]) {
    for (const operation of ["read", "size"] as const) {
      files.failNext(operation, code);
      expect(await rejection(archive.verifyChecksums([part]))).toMatchObject({ code });
      expect([...archive.damaged]).toEqual([]);
    }
  }
  expect(await archive.verifyChecksums([part])).toBe(true);
});

test("a swap that failed leaves the archive what it was; nothing is removed before one of them is on the disk", async () => {
  const files = createSimulatedFiles(new Map([["/a/manifest.json", BYTES]]));
  const archive = archiveOn(files);
  const manifest = { ...EMPTY_MANIFEST, seal: 1 };
  await archive.swap(manifest);
  for (let time = 0; time < 2; time++) files.failNext("syncDirectory", "EIO");
  expect(await outcome(archive.swap({ ...manifest, seal: 2 }))).toThrow("EIO");
  expect([archive.manifest, archive.isWritten]).toEqual([manifest, false]);
  expect(await outcome(archive.tidy(0, DAY_MS))).toThrow();
  await archive.swap(archive.manifest);
  expect(parseManifest(files.crash().contents().get("/a/manifest.json")!)).toEqual(ok(manifest));
});

test("tidy() moves leftovers of a cut-off seal aside, deletes them a day later, and touches nothing else", async () => {
  const files = createSimulatedFiles();
  const archive = archiveOn(files);
  const part = await archive.writePart({ day: DAY, seal: 1, index: 0 }, MADE);
  await archive.swap({
    ...EMPTY_MANIFEST,
    seal: 1,
    days: new Map([[DAY, { sequence: 1, cleared: 0, parts: [part], lost: [] }]]),
  });
  const left = await archive.writePart({ day: DAY, seal: 2, index: 0 }, MADE);
  const newer = await archive.writePart({ day: DAY, seal: 9, index: 0 }, MADE); // Of a manifest that was lost.
  await files.replace("/a/day=2026-01-14/mine.parquet", BYTES);
  const nowMs = 100 * DAY_MS;
  await archive.tidy(nowMs, DAY_MS);
  const stays = [
    "/a/day=2026-01-14/mine.parquet",
    `/a/${newer.file}`,
    `/a/${part.file}`,
    "/a/manifest.json",
  ].sort();
  expect(names(files)).toEqual([...stays, `/a/expired/${nowMs}/${left.file}`].sort());
  // The next seal has the number of the one that was cut off, and so its files have the same names.
  const again = await archive.writePart({ day: DAY, seal: 2, index: 0 }, MADE);
  expect(again.file).toBe(left.file);
  await archive.swap({
    ...EMPTY_MANIFEST,
    seal: 2,
    days: new Map([[DAY, { sequence: 2, cleared: 0, parts: [part, again], lost: [] }]]),
  });
  await archive.tidy(nowMs + DAY_MS - 1, DAY_MS);
  expect(names(files)).toHaveLength(6);
  await archive.tidy(nowMs + DAY_MS, DAY_MS);
  expect(names(files)).toEqual([...stays, `/a/${again.file}`].sort());
});

test("moveToDamaged() moves a lost part to the damaged files", async () => {
  const files = createSimulatedFiles();
  const archive = archiveOn(files);
  const part = await archive.writePart({ day: DAY, seal: 1, index: 0 }, MADE);
  await archive.moveToDamaged([part]);
  expect(names(files)).toEqual(["/damaged/day=2026-01-14-00000001-000.parquet.damaged"]);
});

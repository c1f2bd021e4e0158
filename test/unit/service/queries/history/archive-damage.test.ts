import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
  type Database,
  type DatabaseOptions,
  openDatabase,
} from "../../../../../src/archive/duckdb/database.ts";
import { hasOldParts } from "../../../../../src/archive/manifest.ts";
import { DAMAGED_AGAIN_MS } from "../../../../../src/archive/part-checks.ts";
import { createManualClock } from "../../../../../src/model/time/clock.ts";
import { countUnacknowledged } from "../../../../../src/operator/verify/verify.ts";
import { FileError } from "../../../../../src/runtime/files.ts";
import { createNodeFiles } from "../../../../../src/runtime/node-files.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../../support/archive-app.ts";
import { VirtualTime } from "../../../../support/stream/virtual-time.ts";
import type { KeyName } from "../../../../support/test-app.ts";
import { verifyDirectory } from "../../../../support/verify-directory.ts";

/**
 * Goal: a file of the archive that is lost or damaged is named, costs the answers that need it and no others, and
 * never makes an answer quietly shorter; put back, it is good again; given up, answers say that they are incomplete.
 */

afterAll(removeArchiveApps);

const NOW_MS = Date.UTC(2026, 0, 28, 12);
const PLACE = { latitude: 1, longitude: 2 };
const files = createNodeFiles();
let app: ArchiveApp;

const at = (day: number, hour = 3) => Date.UTC(2026, 0, day, hour);
const history = (device: string, first: number, last = first) =>
  `/api/v1/devices/${device}/locations/history?start_date=2026-01-${first}&end_date=2026-01-${last}`;

let time: VirtualTime;
/** Parts that were read whole, while that question had a slot. */
let reads: string[];
/** Whether statements fail, for another reason than a part. */
let isFailing: boolean;
/** Whether the list of acknowledged parts can't be read. */
let hidesAcknowledged: boolean;

beforeEach(async () => {
  time = new VirtualTime();
  reads = [];
  isFailing = false;
  hidesAcknowledged = false;
  const counted = {
    ...files,
    exists(path: string) {
      const isHidden = hidesAcknowledged && path.endsWith("acknowledged.json");
      return isHidden ? Promise.reject(new FileError("exists", path, "EIO")) : files.exists(path);
    },
    read(path: string) {
      if (path.endsWith(".parquet") && app.directory.archive.reader.running > 0) reads.push(path);
      return files.read(path);
    },
  };
  app = await createArchiveApp({
    clock: createManualClock(NOW_MS),
    disk: { files: counted, timers: time, archiveEngine: { openDatabase: openFailing } },
  });
  await app.store([
    ...[14, 15, 28].map((day) => ({ ...PLACE, device_id: "a", timestamp: at(day) })),
    { ...PLACE, device_id: "b", timestamp: at(14), user_id: "u" },
  ]);
  await app.store([{ ...PLACE, device_id: "a", timestamp: at(15) }], "other" as KeyName);
  await app.seal();
});

afterEach(() => app.close());

async function openFailing(options: DatabaseOptions): Promise<Database> {
  const database = await openDatabase(options);
  const failure = () => Promise.reject(new Error("Out of Memory Error"));
  return {
    ...database,
    async connect() {
      const connection = await database.connect();
      return {
        ...connection,
        run: (...given) => (isFailing ? failure() : connection.run(...given)),
      };
    },
  };
}

function partOf(day: number): string {
  const [part] = [...app.directory.archive.manifest.days.values()]
    .flatMap(({ parts }) => parts)
    .filter(({ file }) => file.startsWith(`day=2026-01-${day}/`));
  return part!.file;
}

function pathOf(file: string): string {
  return join(app.dataDir, "archive", file);
}

function verify(acknowledge = false) {
  return verifyDirectory(app.dataDir, app.clock, { acknowledge });
}

const DAMAGES: readonly [name: string, damage: (path: string) => void, fault: RegExp][] = [
  ["missing", (path) => rmSync(path), /it is missing/],
  ["truncated", (path) => truncateSync(path, 100), /100 bytes instead of \d+/],
  [
    "changed in one bit",
    (path) => {
      const bytes = readFileSync(path);
      bytes[bytes.length >> 1]! ^= 4;
      writeFileSync(path, bytes);
    },
    /checksum does not match/,
  ],
  [
    "another file",
    (path) => copyFileSync(pathOf(partOf(15)), path),
    /instead of \d+|checksum does not match/,
  ],
];

for (const [name, damage, fault] of DAMAGES) {
  describe(`a part that is ${name}`, () => {
    test("fails the answers that need it, naming the day, and no others", async () => {
      damage(pathOf(partOf(14)));
      for (let start = 0; start < 2; start++) {
        for (const path of [
          history("a", 14),
          history("b", 14, 28),
          "/api/v1/users/u/locations/history?start_date=2026-01-14&end_date=2026-01-14",
          "/api/v1/locations/history?start_date=2026-01-10&end_date=2026-01-28",
        ]) {
          const { status, body } = await app.get(path);
          expect([path, status]).toEqual([path, 500]);
          expect(body.message).toContain("2026-01-14");
          expect(typeof body.request_id).toBe("string");
        }
        expect((await app.get(history("a", 15))).body.pagination.count).toBe(1);
        expect((await app.get(history("a", 28))).body.pagination.count).toBe(1);
        expect((await app.get("/api/v1/devices/b/locations/current")).status).toBe(200);
        expect((await app.get(history("a", 14, 15), "other" as KeyName)).body.pagination.count).toBe(1);
        if (start === 0) app = await app.restart();
      }
      expect([...app.directory.archive.damaged.keys()]).toEqual([partOf(14)]);
      const { problems, archive } = await verify();
      expect(problems).toHaveLength(1);
      expect(problems[0]).toMatch(fault);
      expect(archive).toMatchObject({ days: 2, records: 4, devices: 3 });
    });

    test("fails the answers that need it if the list of acknowledged parts can't be read", async () => {
      damage(pathOf(partOf(14)));
      hidesAcknowledged = true;
      for (let asked = 0; asked < 2; asked++) expect((await app.get(history("a", 14))).status).toBe(500);
      expect((await app.get(history("a", 28))).status).toBe(200);
    });

    test("is good again once it is put back, without a restart", async () => {
      const path = pathOf(partOf(14));
      const good = readFileSync(path);
      damage(path);
      expect((await app.get(history("a", 14))).status).toBe(500);
      writeFileSync(path, good);
      await time.until(time.wait(DAMAGED_AGAIN_MS)); // What is damaged is not read again for each question.
      expect((await app.get(history("a", 14))).body.pagination.count).toBe(1);
      expect(app.directory.archive.damaged.size).toBe(0);
      expect((await verify()).problems).toEqual([]);
    });

    test("keeps late reports of its day in memory and log, until it is given up for good", async () => {
      const lost = partOf(14);
      damage(pathOf(lost));
      await app.get(history("a", 14));
      await app.store([{ ...PLACE, device_id: "a", timestamp: at(14, 9) }]);
      expect(await app.seal()).toMatchObject({ blocked: ["2026-01-14"], days: [] });
      app = await app.restart();
      expect((await app.get(history("a", 14))).status).toBe(500);

      const { problems } = await verify(true);
      expect(problems).toEqual([]);
      for (let step = 0; step < 4; step++) {
        const { status, body } = await app.get(history("a", 14));
        expect([step, status, body.query_info?.incomplete]).toEqual([step, 200, true]);
        expect(body.locations.map(({ timestamp }) => timestamp)).toEqual([at(14, 9)]);
        expect((await app.get(history("a", 15))).body.query_info.incomplete).toBeUndefined();
        if (step === 0) expect((await app.seal()).days).toEqual(["2026-01-14"]);
        if (step === 1) app = await app.restart();
        if (step === 2) await app.seal();
      }
      expect(existsSync(pathOf(lost))).toBe(false);
      expect(app.directory.archive.damaged.size).toBe(0);
      expect(await countUnacknowledged(files, join(app.dataDir, "damaged"))).toBe(0);
      const report = await verify();
      expect([report.problems, report.archive.lost]).toEqual([[], [lost]]);
    });
  });
}

test("a hundred questions at once read a damaged part no more often than one", async () => {
  const [name, damage] = DAMAGES[2]!;
  damage(pathOf(partOf(14)));
  const ask = () => app.get(history("a", 14));
  expect([name, (await ask()).status]).toEqual([name, 500]);
  expect(reads).toHaveLength(1);
  const answers = await Promise.all(Array.from({ length: 100 }, ask));
  // More than can wait for a slot are asked to come again, as on any day.
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([500, 503]));
  expect(reads).toHaveLength(1);
  await time.until(time.wait(DAMAGED_AGAIN_MS));
  await Promise.all(Array.from({ length: 100 }, ask));
  expect(reads).toHaveLength(2);
});

test("questions whose statements fail read a part to verify it and once more in a minute, however many they are", async () => {
  const ask = () => app.get(history("a", 14, 15));
  expect((await ask()).status).toBe(200);
  expect(reads).toHaveLength(2);
  isFailing = true;
  app = await app.restart(); // Connections that are open go on.
  reads = [];
  const answers = await Promise.all(Array.from({ length: 20 }, ask));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([500]));
  expect(answers[0]!.body.message).toContain("failed to answer");
  for (const path of reads) expect(reads.filter((read) => read === path).length).toBeLessThanOrEqual(2);
  expect(app.directory.archive.damaged.size).toBe(0);
  isFailing = false;
  expect((await ask()).status).toBe(200);
});

test("a Parquet file that is not ours is named and left alone", async () => {
  const mine = pathOf("day=2026-01-14/mine.parquet");
  copyFileSync(pathOf(partOf(14)), mine);
  app = await app.restart();
  await app.directory.inspect();
  expect(app.notes).toEqual([
    "archive/day=2026-01-14/mine.parquet does not belong to the archive, and is ignored.",
  ]);
  await app.seal();
  expect(existsSync(mine)).toBe(true);
  expect((await app.get(history("a", 14))).body.pagination.count).toBe(1);
  const { problems, archive } = await verify();
  expect([problems, archive.foreign]).toEqual([[], ["day=2026-01-14/mine.parquet"]]);
});

test("inspect() names what is missing or cut, once a start", async () => {
  rmSync(pathOf(partOf(14)));
  app = await app.restart();
  await app.directory.inspect();
  expect(app.notes).toEqual([`archive/${partOf(14)} can't be used: it is missing.`]);
});

for (const trouble of ["missing", "damaged"] as const) {
  test(`a manifest that is ${trouble} is rebuilt from the files`, async () => {
    await app.store([
      { ...PLACE, device_id: "a", timestamp: at(14), speed: 3 },
      { ...PLACE, device_id: "c", timestamp: at(14, 20) },
    ]);
    await app.seal();
    const paths = [
      history("a", 14, 28),
      history("c", 14),
      "/api/v1/locations/current",
      "/api/v1/users/u/devices",
    ];
    const answers = () =>
      Promise.all(paths.map(async (path) => (await app.get(path)).body.locations ?? path));
    const before = await answers();
    const manifest = pathOf("manifest.json");
    if (trouble === "missing") rmSync(manifest);
    else truncateSync(manifest, 200);
    expect((await verify()).problems).toHaveLength(1);
    app = await app.restart();
    expect(app.notes.join()).toContain(trouble);
    expect(await answers()).toEqual(before);
    for (const { parts } of app.directory.archive.manifest.days.values())
      expect(hasOldParts(parts)).toBe(false);
    await app.store([{ ...PLACE, device_id: "a", timestamp: at(15, 9) }]);
    await app.seal();
    app = await app.restart();
    expect((await app.get(history("a", 15))).body.pagination.count).toBe(2);
    if (trouble === "damaged") expect(await countUnacknowledged(files, join(app.dataDir, "damaged"))).toBe(1);
  });
}

test("a checkpoint that is lost is found anew from the parts", async () => {
  const [latest] = app.directory.archive.manifest.latest!;
  truncateSync(pathOf(latest!.file), 50);
  app = await app.restart();
  expect(app.notes.join()).toContain("newest positions");
  expect((await app.get("/api/v1/devices/b/locations/current")).body.location.timestamp).toBe(at(14));
  expect((await app.get("/api/v1/users/u/devices")).body.device_count).toBe(1);
  expect((await verify()).problems).toHaveLength(1);
});

test("a checkpoint with a flipped byte is found anew from the parts, and never shown", async () => {
  const [latest] = app.directory.archive.manifest.latest!;
  const good = readFileSync(pathOf(latest!.file));
  const paths = ["/api/v1/locations/current", "/api/v1/users/u/devices"];
  const answers = async () => Promise.all(paths.map(async (path) => (await app.get(path)).body));
  const before = await answers();
  for (let offset = 4; offset < good.length; offset += Math.ceil(good.length / 20)) {
    const bad = Uint8Array.from(good);
    bad[offset]! ^= 1;
    writeFileSync(pathOf(latest!.file), bad);
    app = await app.restart();
    expect(app.notes.join()).toContain("its checksum does not match");
    expect(await answers()).toEqual(before);
  }
});

test("a manifest or a part that the disk does not give back keeps no start from its end", async () => {
  const day = history("a", 15);
  const unreadable = new Set<string>();
  const disk = {
    files: {
      ...files,
      read(path: string) {
        if (unreadable.has(path)) throw new FileError("read", path, "EIO");
        return files.read(path);
      },
    },
  };
  const { clock, dataDir } = app;
  await app.close();
  unreadable.add(pathOf("manifest.json"));
  app = await createArchiveApp({ clock, dataDir, disk });
  expect(app.notes.join()).toContain("manifest can't be read");
  expect((await app.get(day)).body.pagination.count).toBe(1);

  const part = partOf(14);
  unreadable.add(pathOf(part));
  app = await app.restart();
  expect(app.notes.join()).toContain(`archive/${part} can't be read`);
  expect((await app.get(day)).body.pagination.count).toBe(1);
  expect(existsSync(join(dataDir, "damaged", `${part.replace("/", "-")}.damaged`))).toBe(true);
});

test("a damaged manifest that a full disk has no room to save does not prevent the start", async () => {
  truncateSync(pathOf("manifest.json"), 200);
  const { clock, dataDir } = app;
  await app.close();
  const disk = {
    files: {
      ...files,
      replace: (path: string) => Promise.reject(new FileError("replace", path, "ENOSPC")),
    },
  };
  app = await createArchiveApp({ clock, dataDir, disk });
  expect(app.notes.join()).toContain("not saved");
  expect((await app.get(history("a", 15))).body.pagination.count).toBe(1);
});

test("a first seal that failed leaves nothing that passes for an archive without its manifest", async () => {
  const empty = await createArchiveApp({ clock: createManualClock(NOW_MS) });
  await empty.close();
  mkdirSync(join(empty.dataDir, "archive", "day=2026-01-14"));
  const again = await createArchiveApp({ clock: createManualClock(NOW_MS), dataDir: empty.dataDir });
  expect(again.notes).toEqual([]);
  await again.close();
});

test("a seal writes no checkpoint while a start could not read every newest position", async () => {
  const current = "/api/v1/devices/b/locations/current";
  const [latest] = app.directory.archive.manifest.latest!;
  const part = partOf(14);
  const hidden = readFileSync(pathOf(part));
  truncateSync(pathOf(latest!.file), 50);
  rmSync(pathOf(part));
  app = await app.restart();
  expect((await app.get(current)).status).toBe(404);
  await app.store([{ ...PLACE, device_id: "a", timestamp: at(15, 9) }]);
  await app.seal();
  writeFileSync(pathOf(part), hidden);
  app = await app.restart();
  expect((await app.get(current)).body.location.timestamp).toBe(at(14));
  expect((await app.get(history("b", 14))).body.pagination.count).toBe(1);
  await app.store([{ ...PLACE, device_id: "a", timestamp: at(15, 10) }]);
  await app.seal();
  app = await app.restart();
  expect(app.notes).toEqual([]);
  expect((await app.get(current)).body.location.timestamp).toBe(at(14));
});

test("a manifest that was made anew is written by the next seal, before anything is tidied away", async () => {
  const manifest = pathOf("manifest.json");
  rmSync(manifest);
  app = await app.restart();
  await app.seal();
  expect(existsSync(manifest)).toBe(true);
  app = await app.restart();
  expect(app.notes.join()).not.toContain("manifest");
});

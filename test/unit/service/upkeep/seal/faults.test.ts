import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sealSummary } from "../../../../../src/cli/screen/directory-report.ts";
import { createManualClock } from "../../../../../src/model/time/clock.ts";
import { FileError, type Files } from "../../../../../src/runtime/files.ts";
import { createNodeFiles } from "../../../../../src/runtime/node-files.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../../support/archive-app.ts";
import { outcome } from "../../../../support/rejection.ts";
import { verifyDirectory } from "../../../../support/verify-directory.ts";

/** Goal: a seal that the disk fails at any point, or the clock leads astray, says what is true and loses nothing. */

afterAll(removeArchiveApps);

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 0, 28, 12);
const OLD_MS = NOW_MS - 20 * DAY_MS;
const LAST_MS = NOW_MS - 365 * DAY_MS; // Of the day that expires at midnight.
const PLACE = { latitude: 1, longitude: 2 };

/** What it throws, an operation of the disk fails with: a replacement after it was made, any other before. */
let fault: (operation: keyof Files, path: string) => void | Promise<void> = () => {};
const real = createNodeFiles();
const files: Files = {
  ...real,
  async replace(path, bytes) {
    await real.replace(path, bytes);
    await fault("replace", path);
  },
  async openAppend(path) {
    await fault("openAppend", path);
    return real.openAppend(path);
  },
  async read(path) {
    await fault("read", path);
    return real.read(path);
  },
  async list(path) {
    await fault("list", path);
    return real.list(path);
  },
};
let app: ArchiveApp;

beforeEach(async () => {
  fault = () => {};
  app = await createArchiveApp({ clock: createManualClock(NOW_MS), disk: { files } });
});

afterEach(() => app.close());

/** What an app's history shows from the oldest retained day on. */
async function shown(fields = ["device_id"]): Promise<unknown[]> {
  const path = "/api/v1/locations/history?start_date=2025-01-28&end_date=2026-01-28&order=asc&limit=1000";
  const { status, body } = await app.get(path);
  expect(status).toBe(200);
  return body.locations.map((record) =>
    fields.map((field) => record[field as keyof typeof record]).join(" "),
  );
}

describe("a swap whose directory can't be synced", () => {
  test("stops nothing from being found again, whatever seals come after and whichever manifest the disk has", async () => {
    await app.store([{ ...PLACE, device_id: "a", timestamp: OLD_MS }]);
    let failures = 0;
    fault = (operation, path) => {
      if (operation === "replace" && path.endsWith("manifest.json") && failures++ === 0)
        throw new FileError("sync directory", dirname(path), "EMFILE");
    };
    expect(await outcome(app.seal())).toThrow("EMFILE");
    expect(await shown()).toEqual(["a"]);
    // The next seal fails before its own swap: what it removes before must not be what the disk's manifest names.
    fault = (operation, path) => {
      if (operation === "openAppend" && path.endsWith(".csv")) throw new FileError("open", path, "EMFILE");
    };
    expect(await outcome(app.seal())).toThrow("EMFILE");
    fault = () => {};
    app = await app.restart();
    expect([await shown(), app.notes]).toEqual([["a"], []]);
    for (let day = 0; day < 3; day++) {
      await app.seal();
      app.clock.advance(DAY_MS);
    }
    app = await app.restart();
    expect(await shown()).toEqual(["a"]);
  });

  test("removes nothing as long as the disk refuses", async () => {
    await app.store([{ ...PLACE, device_id: "a", timestamp: OLD_MS }]);
    await app.seal();
    await app.store([{ ...PLACE, device_id: "b", timestamp: OLD_MS }]);
    fault = (operation, path) => {
      if (operation === "replace" && path.endsWith("manifest.json"))
        throw new FileError("sync directory", dirname(path), "EIO");
    };
    const before = readFileSync(join(app.dataDir, "archive", "manifest.json"));
    const namesOf = (text: string) => text.match(/day=[^"]+/g) ?? [];
    for (let seal = 0; seal < 3; seal++) expect(await outcome(app.seal())).toThrow("EIO");
    const after = readFileSync(join(app.dataDir, "archive", "manifest.json"));
    for (const file of [...namesOf(String(before)), ...namesOf(String(after))])
      expect(readFileSync(join(app.dataDir, "archive", file)).length).toBeGreaterThan(0);
    expect(await shown()).toEqual(["a", "b"]);
  });
});

test("a seal that can't clean up after its swap says so, and that the records are archived", async () => {
  await app.store([{ ...PLACE, device_id: "before", timestamp: OLD_MS - 86_400_000 }]);
  await app.seal(); // The checkpoint that it makes is superfluous after the next.
  await app.store([{ ...PLACE, device_id: "a", timestamp: OLD_MS }]);
  let lists = 0;
  fault = (operation, path) => {
    if (operation === "list" && path.endsWith("/archive") && ++lists === 2)
      throw new FileError("list", path, "EIO");
  };
  const report = await app.seal();
  expect(report).toMatchObject({ days: ["2026-01-08"], records: 1 });
  expect(sealSummary(report)).toMatch(
    /^Archived 1 record .*; .*the next seal continues: Cannot list .*the disk failed \(EIO\)\.$/,
  );
  expect(await app.seal()).toMatchObject({ days: [], unfinished: null });
  app = await app.restart();
  expect(await shown()).toEqual(["before", "a"]);
});

describe("where no file descriptor is left", () => {
  const refuseParts: typeof fault = (operation, path) => {
    if (operation === "read" && path.endsWith(".parquet")) throw new FileError("read", path, "EMFILE");
  };

  beforeEach(async () => {
    await app.store([{ ...PLACE, device_id: "a", timestamp: OLD_MS }]);
    await app.seal();
  });

  test("a question to the archive is told to come again, and no part passes for damaged", async () => {
    const path = "/api/v1/locations/history?start_date=2026-01-08&end_date=2026-01-08";
    fault = refuseParts;
    const { status, headers } = await app.get(path);
    expect([status, headers.get("retry-after")]).toEqual([503, "5"]);
    expect(app.directory.archive.damaged.size).toBe(0);
    fault = () => {};
    expect((await app.get(path)).body.locations).toHaveLength(1);
  });

  test("a start fails rather than go without the newest positions, and verify without calling parts damaged", async () => {
    await app.close();
    fault = refuseParts;
    expect(await outcome(verifyDirectory(app.dataDir, app.clock, {}, files))).toThrow("EMFILE");
    const { clock, dataDir } = app;
    expect(await outcome(createArchiveApp({ clock, dataDir, disk: { files } }))).toThrow("EMFILE");
    fault = () => {};
    app = await createArchiveApp({ clock, dataDir, disk: { files } });
    expect(app.notes).toEqual([]);
    expect(await shown()).toEqual(["a"]);
  });
});

describe("what a seal archives and does not cover", () => {
  const record = { ...PLACE, device_id: "a", timestamp: OLD_MS };
  const fields = ["latitude", "speed", "battery_level"];
  const segments = () => readdirSync(join(app.dataDir, "wal")).sort();
  const pathOf = (segment: string) => join(app.dataDir, "wal", segment);

  async function restart(unreadable: readonly string[]): Promise<void> {
    const paths = unreadable.map(pathOf);
    fault = (operation, path) => {
      if (operation === "read" && paths.includes(path)) throw new FileError("read", path, "EIO");
    };
    app = await app.restart();
    expect(app.directory.recovery.damage.map(({ file }) => file)).toEqual(paths);
  }

  test("lies under what comes before it in the log while its own segment can't be read, and over it again then", async () => {
    await app.store([{ ...record, latitude: 1, speed: 5 }]);
    const [first] = segments();
    await restart([first!]);
    expect(await shown()).toEqual([]);
    await app.store([{ ...record, latitude: 3, battery_level: 70 }]);
    const second = segments().at(-1)!;
    await app.seal();
    expect(await shown(fields)).toEqual(["3  70"]);
    await restart([second]);
    const withoutSecond = ["1 5 70"]; // Of its report only what the first one leaves out.
    expect(await shown(fields)).toEqual(withoutSecond);
    await app.seal();
    expect(await shown(fields)).toEqual(withoutSecond);
    for (let start = 0; start < 2; start++) {
      await restart([]);
      expect(await shown(fields)).toEqual(["3  70"]);
      await app.seal();
    }
  });

  test("has nothing of what comes during the seal, so that nothing of it is left where bits of its entry flip", async () => {
    await app.store([{ ...record, latitude: 1 }]);
    let segment = "";
    let offset = 0;
    fault = async (operation, path) => {
      if (operation !== "openAppend" || !path.endsWith(".csv")) return;
      fault = () => {};
      await app.store([{ ...record, latitude: 3, speed: 5 }]);
      segment = pathOf(segments().at(-1)!);
      offset = readFileSync(segment).length;
      await app.store([{ ...record, latitude: 4, battery_level: 70 }]);
      await app.store([{ ...record, timestamp: NOW_MS }]); // What flips at the log's end passes for a torn write.
    };
    await app.seal();
    expect((await shown(fields))[0]).toBe("4  70");
    await app.close();
    const bytes = readFileSync(segment);
    bytes[offset]! ^= 1;
    writeFileSync(segment, bytes);
    app = await createArchiveApp({ clock: app.clock, dataDir: app.dataDir, disk: { files } });
    expect(app.directory.recovery.damage).toMatchObject([{ file: segment, offset }]);
    expect((await shown(fields))[0]).toBe("3 5 ");
  });
});

describe("a clock that is set back over midnight", () => {
  beforeEach(async () => {
    await app.store([{ ...PLACE, device_id: "a", user_id: "ann", timestamp: LAST_MS, speed: 5 }]);
    await app.store([{ ...PLACE, device_id: "b", user_id: "bob", timestamp: LAST_MS + 1 }]);
    await app.seal();
    app.clock.advance(DAY_MS);
    expect((await app.seal()).expired).toEqual(["2025-01-28"]);
    expect(await shown()).toEqual([]);
    app.clock.advance(-DAY_MS);
  });

  test("shows the days at once that it brings back, before any seal and after a start", async () => {
    for (let start = 0; start < 2; start++) {
      expect(await shown(["device_id", "user_id"])).toEqual(["a ann", "b bob"]);
      app = await app.restart();
    }
    await app.seal();
    expect(await shown(["device_id", "user_id"])).toEqual(["a ann", "b bob"]);
  });

  test("lays a report over the archived record of its instant, and hides no other", async () => {
    await app.store([{ ...PLACE, device_id: "a", timestamp: LAST_MS, speed: 6 }]);
    await app.store([{ ...PLACE, device_id: "a", timestamp: LAST_MS - 1 }]);
    const all = ["a ANONYMOUS ", "a ann 6", "b bob "];
    for (const step of [async () => app, () => app.restart(), () => app.seal().then(() => app)]) {
      app = await step();
      expect(await shown(["device_id", "user_id", "speed"])).toEqual(all);
    }
  });
});

describe("an archive that has lost the checkpoint and a part", () => {
  /** Start without the newest record of every device: a re-send must not pass for a record that nothing lies under. */
  beforeEach(async () => {
    await app.store([
      { ...PLACE, device_id: "a", user_id: "ann", timestamp: OLD_MS, speed: 5 },
      { ...PLACE, device_id: "a", user_id: "ann", timestamp: OLD_MS + DAY_MS, speed: 5 },
    ]);
    await app.seal();
    const { days, latest } = app.directory.archive.manifest;
    const place = (file: string) => join(app.dataDir, "archive", file);
    const lost = place([...days.values()].at(-1)!.parts[0]!.file);
    const bytes = readFileSync(lost);
    await app.close();
    writeFileSync(lost, "");
    writeFileSync(place(latest![0]!.file), "");
    app = await createArchiveApp({ clock: app.clock, dataDir: app.dataDir, disk: { files } });
    writeFileSync(lost, bytes); // Somebody puts it back.
  });

  test("folds late rows all the same", async () => {
    for (let seal = 0; seal < 3; seal++) {
      await app.store([{ ...PLACE, device_id: "b", timestamp: OLD_MS + seal }]);
      expect((await app.seal()).records).toBe(1);
    }
    const all = ["a", "b", "b", "b", "a"];
    for (let start = 0; start < 2; start++) {
      expect((await shown()).toSorted()).toEqual(all.toSorted());
      app = await app.restart();
    }
  });

  test("keeps the owner of an archived record that is sent again without one", async () => {
    await app.store([{ ...PLACE, device_id: "a", timestamp: OLD_MS + DAY_MS, speed: 6 }]);
    const all = ["a ann 5", "a ann 6"];
    for (const step of [async () => app, () => app.seal().then(() => app), () => app.restart()]) {
      app = await step();
      expect(await shown(["device_id", "user_id", "speed"])).toEqual(all);
    }
  });
});

test("days of a segment that also holds a newer one don't come back once they are deleted, however late it goes", async () => {
  const ages = [365, 364, 363, 362, 0];
  await app.store(ages.map((age) => ({ ...PLACE, device_id: "a", timestamp: NOW_MS - age * DAY_MS })));
  const first = readdirSync(join(app.dataDir, "wal"))[0]!;
  for (let day = 1; day <= 12; day++) {
    app.clock.advance(DAY_MS);
    await app.store([{ ...PLACE, device_id: "b", timestamp: app.clock.nowMs() }]);
    await app.seal();
    if (day % 3 === 0) app = await app.restart();
    const expired = app.directory.hot
      .daysInMemory()
      .filter((each) => each.day * DAY_MS < NOW_MS - 300 * DAY_MS);
    const { days } = app.directory.archive.manifest;
    const archived = [...days.keys()].filter((each) => each * DAY_MS < NOW_MS - 300 * DAY_MS);
    expect([day, expired.length, archived.length]).toEqual([day, 0, Math.max(0, 4 - day)]);
  }
  expect(readdirSync(join(app.dataDir, "wal"))).not.toContain(first);
  expect(app.directory.archive.manifest.expired.size).toBe(0);
});

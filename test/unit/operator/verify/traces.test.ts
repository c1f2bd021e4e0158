import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openDatabase } from "../../../../src/archive/duckdb/database.ts";
import { encodeKeyFile } from "../../../../src/auth/key-file.ts";
import { encodePassPhraseFile } from "../../../../src/auth/pass-phrases.ts";
import { ErasureLedger } from "../../../../src/directory/erasure-ledger.ts";
import type { AppId, DeviceId, UserId } from "../../../../src/model/ids.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import type { TraceSubject } from "../../../../src/operator/verify/trace-readers.ts";
import { findTraces } from "../../../../src/operator/verify/traces.ts";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";
import { openNodeSqlite } from "../../../../src/runtime/node-sqlite.ts";
import { profileOf } from "../../../reference/profiles.ts";
import { createArchiveApp, removeArchiveApps, temporaryDataDir } from "../../../support/archive-app.ts";
import { putAll, revisionAt } from "../../../support/geofences/test-events.ts";
import { refused } from "../../service/quarantine/fixture.ts";

/** Every kind of file of a directory in which a device or a user may be is searched as what it is. */

afterAll(removeArchiveApps);

const files = createNodeFiles();
const NOW_MS = Date.UTC(2026, 0, 28, 12);
const FLEET = "fleet" as AppId;
const VAN: TraceSubject = { kind: "device", id: "van", appId: null };
const ANNA: TraceSubject = { kind: "user", id: "anna", appId: null };

let dataDir: string;

beforeAll(async () => {
  const app = await createArchiveApp({ startMs: NOW_MS });
  dataDir = app.dataDir;
  const reports = (deviceId: string, userId: string) =>
    [12, 11, 1].map((days) => ({
      device_id: deviceId,
      user_id: userId,
      timestamp: NOW_MS - days * MS_PER_DAY,
      latitude: 1,
      longitude: 2,
    }));
  await app.store(reports("caravan", "bert"));
  await app.store(reports("van", "anna"));
  await app.directory.editProfile(FLEET, "van" as DeviceId, profileOf({ name: "Bus 42" }));
  await app.seal();
  await app.store(reports("van", "anna").slice(2));
  await app.directory.quarantine.put([refused('{"tid":"van"}'), refused("caravan")]);
  await app.close();
});

async function tracesIn(directory: string, subject: TraceSubject) {
  const { traces, unsearched } = await findTraces({
    files,
    openSqlite: openNodeSqlite,
    dataDir: directory,
    subject,
    openDatabase: () =>
      openDatabase({
        threads: 1,
        memoryBytes: 256_000_000,
        directories: [directory],
        spillDirectory: null,
        cachesFiles: false,
      }),
    onProgress: () => {},
  });
  const line = ({ file, what }: { file: string; what: string }) =>
    `${file.replace(/\d{8,}.*(?=\.)/, "N")}: ${what}`;
  return { traces: traces.map(line).sort(), unsearched: unsearched.map(line).sort() };
}

function copied(): string {
  const copy = join(temporaryDataDir(), "copy");
  cpSync(dataDir, copy, { recursive: true });
  return copy;
}

const PARTS_OF_VAN = [
  "archive/day=2026-01-16/N.parquet: 1 record",
  "archive/day=2026-01-17/N.parquet: 1 record",
];

describe("findTraces()", () => {
  test("decodes the log, the archive and the quarantine", async () => {
    expect(await tracesIn(dataDir, VAN)).toEqual({
      traces: [
        ...PARTS_OF_VAN,
        "archive/latest/N.parquet: 1 record",
        "archive/standing/N.entries: 1 profile",
        "quarantine/N.message: an unusable message",
        "wal/N.wal: 1 piece with an unusable message",
        "wal/N.wal: 1 profile",
        "wal/N.wal: 3 reports",
      ],
      unsearched: [],
    });
    const { traces } = await tracesIn(dataDir, ANNA);
    expect(traces).toEqual(expect.arrayContaining(PARTS_OF_VAN));
    expect(traces.filter((line) => line.startsWith("wal/"))).not.toEqual([]);
    for (const id of ["carava", "fleet", "nothing"])
      expect(await tracesIn(dataDir, { ...VAN, id })).toEqual({ traces: [], unsearched: [] });
    const other = { traces: [], unsearched: [] };
    expect(await tracesIn(dataDir, { ...VAN, appId: "shop" as AppId })).toEqual(other);
  });

  test("decodes the database of events, while it is in use too, and sees what was deleted from it", async () => {
    const app = await createArchiveApp({ startMs: NOW_MS });
    const { eventStore } = app.directory;
    const by = (deviceId: string, userId: string) => ({
      deviceId: deviceId as DeviceId,
      userId: userId as UserId,
    });
    putAll(eventStore, [
      revisionAt(1, "1", by("van", "anna"), { appId: FLEET }),
      revisionAt(2, "2", by("anna", "van"), { appId: FLEET }),
      revisionAt(3, "3", by("caravan", "bert"), { appId: FLEET }),
    ]);
    eventStore.database.run("CREATE TABLE more (app_id TEXT, states TEXT)");
    eventStore.database.prepare("INSERT INTO more VALUES ('fleet', ?)").run('{"last":{"userId":"anna"}}');
    const inEvents = async (subject: TraceSubject) => {
      const { traces, unsearched } = await tracesIn(app.dataDir, subject);
      return [traces, unsearched].map((lines) => lines.filter((line) => line.startsWith("events/")));
    };
    const unclear = "events/events.sqlite-wal: what was deleted is not told from what is stored";
    const found = ["events/events.sqlite: 1 row of events", "events/events.sqlite: 1 row of more"];
    expect(await inEvents(VAN)).toEqual([[found[0]!], [unclear]]);
    expect(await inEvents(ANNA)).toEqual([found, [unclear]]);
    expect(await inEvents({ ...VAN, appId: "shop" as AppId })).toEqual([[], [unclear]]);
    eventStore.checkpoint();
    expect(await inEvents(ANNA)).toEqual([found, []]);
    eventStore.database.run("DELETE FROM events WHERE user_id <> 'bert'; DELETE FROM more");
    expect(await inEvents(ANNA)).toEqual([["events/events.sqlite: its id is in what was deleted"], []]);
    await app.close();
    expect(await inEvents(ANNA)).toEqual([[], []]);
    expect(await inEvents({ ...VAN, id: "carava" })).toEqual([[], []]);
    expect(readdirSync(join(app.dataDir, "events"))).toEqual(["events.sqlite"]);
  });

  test("decodes keys and pass phrases, of one app or of all, and compares the bytes of all other files", async () => {
    const copy = copied();
    const key = {
      permissions: ["write"],
      view: null,
      tier: "standard",
      makerId: null,
      createdMs: 1,
      lastFour: "abcd",
      expiresMs: null,
      revokedMs: null,
    } as const;
    const sha256 = (digit: string) => digit.repeat(64);
    const keys = [
      {
        ...key,
        sha256: sha256("1"),
        id: "k_00000001",
        appId: FLEET,
        deviceId: "van",
        userId: null,
        label: "",
      },
      {
        ...key,
        sha256: sha256("2"),
        id: "k_00000002",
        appId: "shop" as AppId,
        deviceId: null,
        userId: null,
        label: "of van",
      },
      {
        ...key,
        sha256: sha256("3"),
        id: "k_00000003",
        appId: FLEET,
        deviceId: "caravan",
        userId: null,
        label: "",
      },
    ];
    const phrase = { keyId: "k_00000003", appId: FLEET, deviceId: "anna:van", text: "van" };
    const others = { "imports/x.json": '{"state":"van"}', "erasures/x.json": "{}", "notes.txt": "caravan" };
    const added: Record<string, string | Uint8Array> = {
      "keys.json": encodeKeyFile(keys),
      "pass-phrases.json": encodePassPhraseFile([phrase]),
      ...others,
      "archive/scratch/spill": `\0${"x".repeat(300_000)}van`,
      "map/streets.pmtiles": "van",
    };
    for (const [file, content] of Object.entries(added)) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      writeFileSync(join(copy, file), content);
    }
    const ledger = await ErasureLedger.open(files, join(copy, "erasures.json"));
    const range = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
    const subject = { kind: "device", appId: FLEET, id: "van" } as const;
    await ledger.add({ id: "x_1", sequence: 9, createdMs: 1, block: true, ...range, subject });
    const before = (await tracesIn(dataDir, VAN)).traces;
    const ofFleet = [
      "archive/scratch/spill: its id is in the bytes",
      "imports/x.json: its id is in the bytes",
      "keys.json: the key k_00000001",
      "pass-phrases.json: a pass phrase of the key k_00000003",
    ];
    const ofShop = "keys.json: the key k_00000002";
    expect((await tracesIn(copy, VAN)).traces).toEqual([...before, ...ofFleet, ofShop].sort());
    // The message is of another app.
    expect((await tracesIn(copy, { ...VAN, appId: FLEET })).traces).toEqual(
      [...before.filter((line) => !line.includes("message")), ...ofFleet].sort(),
    );
  });

  test("names what can't be read whole as not searched, and still finds what it can", async () => {
    const copy = copied();
    const flip = (folder: string, from: number) => {
      const path = join(copy, folder, readdirSync(join(copy, folder))[0]!);
      const bytes = readFileSync(path);
      writeFileSync(
        path,
        bytes.map((byte, at) => (at >= from && at < from + 8 ? byte ^ 0xff : byte)),
      );
      return path;
    };
    flip("quarantine", 40);
    flip("archive/standing", 60);
    flip("wal", 60);
    const part = readdirSync(join(copy, "archive/day=2026-01-16"))[0]!;
    writeFileSync(join(copy, "archive/day=2026-01-16", part), "PAR1");
    flip("archive/latest", 20); // DuckDB reads over it.
    writeFileSync(join(copy, "keys.json"), '{"van"');
    mkdirSync(join(copy, "damaged"), { recursive: true });
    writeFileSync(join(copy, "damaged/part.damaged"), "\0van");
    writeFileSync(join(copy, "damaged/acknowledged.json"), "{}");
    const { traces, unsearched } = await tracesIn(copy, VAN);
    expect(unsearched.map((line) => line.split(":")[0]!)).toEqual([
      "archive/day=2026-01-16/N.parquet",
      "archive/latest/N.parquet",
      "archive/standing/N.entries",
      "damaged/part.damaged",
      "keys.json",
      "quarantine/N.message",
      "wal/N.wal",
    ]);
    expect(traces).toEqual(
      expect.arrayContaining([
        PARTS_OF_VAN[1],
        "damaged/part.damaged: its id is in the bytes",
        "keys.json: its id is in the bytes",
      ]),
    );
  });

  test("decodes the files that wait in a backup's next/", async () => {
    const copy = copied();
    const names = ["archive/day=2026-01-16", "archive/standing", "wal"].map(
      (folder) => `${folder}/${readdirSync(join(copy, folder))[0]}`,
    );
    const before = (await tracesIn(copy, VAN)).traces;
    mkdirSync(join(copy, "next"));
    for (const name of names) renameSync(join(copy, name), join(copy, "next", name.replaceAll("/", "+")));
    const after = (await tracesIn(copy, VAN)).traces;
    expect(after).toHaveLength(before.length);
    expect(after.filter((line) => line.startsWith("next/"))).toHaveLength(3);
  });

  test("searches again what a server has replaced meanwhile", async () => {
    const copy = copied();
    const old = join(copy, "archive/day=2026-01-16", readdirSync(join(copy, "archive/day=2026-01-16"))[0]!);
    let isReplaced = false;
    const replacing = {
      ...files,
      async list(directory: string) {
        const names = await files.list(directory);
        if (directory.endsWith("wal") && !isReplaced) {
          isReplaced = true;
          cpSync(old, join(dirname(old), "00000099-000.parquet"));
          rmSync(old);
        }
        return names;
      },
    };
    const options = { dataDir: copy, subject: VAN, onProgress: () => {} };
    const database = () =>
      openDatabase({
        threads: 1,
        memoryBytes: 256_000_000,
        directories: [copy],
        spillDirectory: null,
        cachesFiles: false,
      });
    const { traces, unsearched } = await findTraces({
      ...options,
      openSqlite: openNodeSqlite,
      files: replacing,
      openDatabase: database,
    });
    expect(unsearched).toEqual([]);
    expect(traces.map(({ file }) => file)).toContain("archive/day=2026-01-16/00000099-000.parquet");
  });
});

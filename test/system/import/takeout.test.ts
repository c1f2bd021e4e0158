import { afterEach, beforeEach, describe, expect } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { zipOf } from "../../support/formats/zip.ts";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  runCommand,
  startReady,
} from "../../support/server-process.ts";
import { get } from "../support/client.ts";
import { test, testOnBunAlone } from "../support/process-test.ts";

/*
 * Goal: a person who drops a Takeout, in several zips, and a folder of GPX on `import` hears what it is, what came in
 * and what did not and why; asks about a day long ago; and has the same by way of a server. Method: the real process
 * on both runtimes, with as few permissions as it may have, and files as they are given.
 */

const SAMPLES = join(import.meta.dir, "../../data/samples");
const sample = (path: string) => readFileSync(join(SAMPLES, path));

const DAYS = ["2017-06-17", "2017-06-18", "2019-03-31"] as const;
const POINTS_A_DAY = 50;

/**
 * Formats that have every field, and how else they are asked for. Deno writes the last alone: native code writes that,
 * and the others are our own.
 */
const LOSSLESS: readonly (readonly [string, readonly string[]])[] = [
  ["ndjson", []],
  ["csv", ["--compress", "zstd"]],
  ["parquet", []],
];

/** The exit code where a file of them has nothing but points without time: the month of the semantic history. */
const NOTHING_CAME_IN = 2;

/** A minute a point, from 8:00 UTC on. */
function trackOf(day: string): string {
  const points = Array.from({ length: POINTS_A_DAY }, (_, index) => {
    const time = new Date(Date.parse(`${day}T08:00:00Z`) + index * 60_000).toISOString();
    return `<trkpt lat="${52.5 + index / 1000}" lon="${13.4 + index / 1000}"><ele>34</ele><time>${time}</time></trkpt>`;
  });
  return `<?xml version="1.0"?>\n<gpx version="1.1" creator="test"><trk><name>bike</name><trkseg>\n${points.join("\n")}\n</trkseg></trk></gpx>\n`;
}

/** What people have on their disks: some of it packed, some of it no history. */
function putFiles(folder: string): { readonly all: readonly string[] } {
  const put = (path: string, content: Uint8Array | string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
    return join(folder, path);
  };
  const location = "Takeout/Location History";
  const zips = [
    put(
      "takeout-20260301T100000Z-001.zip",
      zipOf([
        { path: "Takeout/archive_browser.html", content: sample("google/not-history-archive_browser.html") },
        { path: `${location}/Records.json`, content: sample("google/Records.json") },
        {
          path: `${location}/Semantic Location History/2021/2021_MARCH.json`,
          content: sample("google/2021_MARCH.json"),
        },
      ]),
    ),
    put(
      "takeout-20260301T100000Z-002.zip",
      zipOf([
        { path: `${location}/Settings.json`, content: sample("google/not-history-Settings.json") },
        { path: `${location}/Tombstones.csv`, content: "a\n" },
        { path: "Takeout/Google Photos/1.jpg", content: "\xff\xd8\xff\xe0", method: "stored" },
      ]),
    ),
  ];
  const [first, second, third] = DAYS;
  put("gpx/2017/17.gpx", trackOf(first));
  put("gpx/2017/18.gpx.gz", gzipSync(trackOf(second)));
  put(
    "gpx/2019.zip",
    zipOf([
      { path: "31.gpx", content: trackOf(third) },
      { path: "notes.txt", content: "sunny" },
    ]),
  );
  put("gpx/.DS_Store", "\0\0\0\x01Bud1");
  put("gpx/empty.gpx", "");
  return { all: [...zips, join(folder, "gpx")] };
}

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    let place: Place;
    let all: readonly string[];

    beforeEach(() => {
      place = openPlace();
      ({ all } = putFiles(join(place.directory, "files")));
    });
    afterEach(() => closePlace(place));

    const run = (args: readonly string[], of: Place = place, input: string | null = null) =>
      runCommand(runtime, of, args, [], input);

    const importAll = (...more: string[]) => run(["import", ...all, "--app", "default", ...more]);

    async function recordsOf(of: Place): Promise<{ count: number; sha256: string }> {
      const { out, error, code } = await run(["verify", "--json"], of);
      expect([code, error]).toEqual([0, ""]);
      const { totals, sha256 } = JSON.parse(out);
      return { count: totals.records, sha256 };
    }

    test("nothing is written before the retention is settled, then all comes in, once", async () => {
      const stopped = await importAll();
      expect(stopped.code).toBe(1);
      expect(stopped.error).toContain("154 of 154 points are from before ");
      expect(stopped.error).toContain("settings set retention");
      expect(existsSync(place.dataDir)).toBe(false);

      expect((await run(["settings", "set", "retention", "forever"])).code).toBe(0);
      const dry = await importAll("--dry-run");
      expect([dry.code, existsSync(join(place.dataDir, "wal"))]).toEqual([NOTHING_CAME_IN, false]);
      expect(dry.error).toContain('2021_MARCH.json": 2 without time');

      const imported = await importAll();
      expect(imported.code).toBe(NOTHING_CAME_IN);
      expect(imported.error).toContain(
        "takeout-20260301T100000Z-001.zip › Takeout/Location History/Records.json: Google records",
      );
      for (const left of [
        "1 .DS_Store",
        "1 index page",
        "1 Google settings",
        "1 Tombstones.csv",
        "1 jpg",
        "1 txt",
        "1 empty",
      ])
        expect(imported.error).toContain(left);
      expect(countsOf(imported.out)).toMatchObject({ new: 154, "already there": 0 });
      expect(imported.out).toContain("1 without position");
      expect(imported.out).toContain("derived from positions that are imported too");
      const records = await recordsOf(place);
      expect(records.count).toBe(154);

      const again = await importAll();
      expect([again.code, countsOf(again.out)]).toMatchObject([
        NOTHING_CAME_IN,
        { new: 0, "already there": 154 },
      ]);
      expect(await recordsOf(place)).toEqual(records);
      expect(readdirSync(join(place.dataDir, "imports"))).toEqual(["log.ndjson"]);
    });

    test("a day long ago is answered, and a server that is handed the same has the same", async () => {
      await run(["settings", "set", "retention", "forever"]);
      expect((await importAll()).code).toBe(NOTHING_CAME_IN);
      const records = await recordsOf(place);
      const server = await startReady(runtime, place);
      const client = { url: server.url, key: readFirstKey(place) };
      for (const day of DAYS) {
        const path = `/api/v1/devices/bike/locations/history?start_date=${day}&end_date=${day}&limit=1000`;
        const { locations } = (await (await get(client, path)).json()) as {
          locations: readonly { latitude: number }[];
        };
        expect([day, locations.map(({ latitude }) => latitude).sort()]).toEqual([
          day,
          Array.from({ length: POINTS_A_DAY }, (_, index) => 52.5 + index / 1000),
        ]);
      }
      const devices = ["Google Pixel 7", "google--99887766"];
      for (const device of devices) {
        const path = `/api/v1/devices/${encodeURIComponent(device)}/locations/current`;
        expect([device, (await get(client, path)).status]).toEqual([device, 200]);
      }
      expect((await server.stop()).code).toBe(0);

      const other = { ...place, dataDir: join(place.directory, "other") };
      await run(["settings", "set", "retention", "forever"], other);
      const second = await startReady(runtime, other);
      const flags = ["--url", second.url, "--key", readFirstKey(other)];
      const sent = await run(["import", ...all, ...flags], {
        ...place,
        dataDir: join(place.directory, "client"),
      });
      expect([sent.code, countsOf(sent.out)]).toMatchObject([NOTHING_CAME_IN, { new: 154 }]);
      expect((await second.stop()).code).toBe(0);
      expect(await recordsOf(other)).toEqual(records);
    });

    test("all of it leaves as files that another directory becomes the same of", async () => {
      await run(["settings", "set", "retention", "forever"]);
      expect((await importAll()).code).toBe(NOTHING_CAME_IN);
      const records = await recordsOf(place);
      for (const [format, more] of runtime.name === "Bun" ? LOSSLESS : LOSSLESS.slice(-1)) {
        const file = join(place.directory, `everything.${format}`);
        const app = ["--app", "default"];
        const exported = await run(["export", ...app, "--format", format, ...more, "--out", file]);
        expect([format, exported.code, exported.out]).toEqual([
          format,
          0,
          expect.stringContaining("154 records"),
        ]);
        const other = { ...place, dataDir: join(place.directory, `${format}-data`) };
        await run(["settings", "set", "retention", "forever"], other);
        expect([format, (await run(["import", file, ...app], other)).code]).toEqual([format, 0]);
        expect([format, await recordsOf(other)]).toEqual([format, records]);
        const packed = join(place.directory, `${format}.zip`);
        writeFileSync(packed, zipOf([{ path: `everything.${format}`, content: readFileSync(file) }]));
        const again = await run(["import", packed, ...app], other);
        expect([format, countsOf(again.out)]).toMatchObject([format, { new: 0, "already there": 154 }]);
      }
    });

    test("through a pipe comes what a file would have brought, into a directory that is not there yet", async () => {
      const piped = await run(["import", "-", "--app", "default", "--skip-old"], place, recentTrack());
      expect([piped.error, piped.code]).toEqual([expect.stringContaining("standard input: GPX"), 0]);
      expect(countsOf(piped.out)).toMatchObject({ new: POINTS_A_DAY });
      expect(readdirSync(place.directory).sort()).toEqual(["data", "files"]);
    });

    testOnBunAlone(runtime)(
      "a wrong file is answered by what it is, and a folder without history says so",
      async () => {
        const files = join(place.directory, "files");
        const page = join(files, "archive_browser.html");
        writeFileSync(page, sample("google/not-history-archive_browser.html"));
        const named = await run(["import", page, "--app", "default"]);
        expect([named.code, named.error]).toEqual([
          1,
          expect.stringContaining("give the folder or Records.json"),
        ]);
        mkdirSync(join(files, "photos"));
        writeFileSync(join(files, "photos/1.png"), "\x89PNG", "latin1");
        const photos = await run(["import", join(files, "photos"), "--app", "default"]);
        expect([photos.code, photos.error]).toEqual([1, expect.stringContaining("1 png")]);
        const takeout = join(files, "takeout.zip");
        const note = { path: "Takeout/Timeline/Encrypted Backups.txt", content: sample(ENCRYPTED) };
        writeFileSync(takeout, zipOf([note]));
        const encrypted = await run(["import", takeout, "--app", "default"]);
        expect([encrypted.code, encrypted.error]).toEqual([
          1,
          expect.stringContaining("export it on the phone"),
        ]);
        expect(existsSync(place.dataDir)).toBe(false);
      },
    );
  });
}

const ENCRYPTED = "google/not-history-Encrypted Backups.txt";

/** New, already there and skipped, of all files of a summary. */
function countsOf(out: string): Record<string, number> {
  const count = (what: string) =>
    [...out.matchAll(new RegExp(`([\\d,]+) ${what}`, "g"))].reduce(
      (sum, [, digits]) => sum + Number(digits!.replaceAll(",", "")),
      0,
    );
  return Object.fromEntries(["new", "already there", "skipped"].map((what) => [what, count(what)]));
}

function recentTrack(): string {
  return trackOf(new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10));
}

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32, gzipSync, zstdCompressSync } from "node:zlib";
import { type ZipMember, zipOf } from "../../../support/formats/zip.ts";
import type { Described, WalkRequest } from "./described-walk.ts";
import { WALKS } from "./walks.ts";

/*
 * Goal: whatever is packed, in whichever way, comes out whole or says what is wrong with it, and nothing of it leads
 * anywhere. Method: archives made byte by byte, walked through on both runtimes in a process of their own.
 */

const MEBIBYTE = 1024 * 1024;

for (const [runtime, walk] of Object.entries(WALKS)) {
  describe(`on ${runtime}`, () => {
    let directory: string;
    let spoolDirectory: string;

    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), "wherehouse-sources-"));
      spoolDirectory = mkdtempSync(join(tmpdir(), "wherehouse-spool-"));
    });
    afterEach(() => {
      expect(readdirSync(spoolDirectory)).toEqual([]);
      for (const path of [directory, spoolDirectory]) rmSync(path, { recursive: true, force: true });
    });

    function put(name: string, content: Uint8Array | string): string {
      const path = join(directory, name);
      writeFileSync(path, content);
      return path;
    }

    async function walked(paths: string[], more: Partial<WalkRequest> = {}, input?: Uint8Array) {
      const found = await walk({ paths, spoolDirectory, ...more }, input);
      return found.map((each) => ({ ...each, label: each.label.replaceAll(`${directory}/`, "") }));
    }

    const zip = (name: string, members: ZipMember[], isZip64 = false) => put(name, zipOf(members, isZip64));

    test("what is packed is known by its bytes, and named by what it holds", async () => {
      const paths = [
        put("a.gpx.gz", gzipSync("<gpx/>")),
        put("b.ZST", zstdCompressSync("b")),
        put("c", gzipSync("c")),
        put("d.gz", "plain"),
        put("e", ""),
        put("f", "P"),
      ];
      const found = await walked(paths);
      expect(found.map(({ label, name, content }) => [label, name, content])).toEqual([
        ["a.gpx.gz", "a.gpx", "<gpx/>"],
        ["b.ZST", "b", "b"],
        ["c", "c", "c"],
        ["d.gz", "d.gz", "plain"],
        ["e", "e", ""],
        ["f", "f", "P"],
      ]);
      expect(found.every(({ isNamed, failure }) => isNamed && failure === undefined)).toBe(true);
      for (const { packedBytes, packedBytesRead } of found) expect(packedBytesRead).toBe(packedBytes ?? -1);
    });

    test("data joined of several gzip members or zstd frames comes out whole", async () => {
      const long = "0123456789".repeat(100_000);
      const paths = [
        put("a.gz", Buffer.concat([gzipSync("one "), gzipSync(long), gzipSync(" two")])),
        put("b.zst", Buffer.concat([zstdCompressSync("one "), zstdCompressSync(long)])),
      ];
      const found = await walked(paths);
      expect(found.map(({ content }) => content?.split(" ")[0])).toEqual(["1000008", "1000004"]);
      expect(found.map(({ failure }) => failure)).toEqual([undefined, undefined]);
    });

    test("what is cut off gives all before the cut, and says so", async () => {
      const text = Array.from({ length: 100_000 }, (_, line) => `line ${line * 7919}\n`).join("");
      const cut = (bytes: Uint8Array) => bytes.subarray(0, bytes.length / 2);
      const found = await walked([
        put("a.gz", cut(gzipSync(text))),
        put("b.zst", cut(zstdCompressSync(text))),
      ]);
      expect(found[0]!.failure).toMatch(/^its gzip data is damaged or cut off/);
      expect(found[1]!.failure).toMatch(/^its zstd data is damaged or cut off/);
      for (const { content } of found) expect(Number.parseInt(content!, 10)).toBeGreaterThan(text.length / 4);
    });

    test("an archive's files come one by one, as it lists them, with their folders", async () => {
      const path = zip("takeout-001.zip", [
        { path: "Takeout/", content: "" },
        { path: "Takeout/Location History/Records.json", content: "{}" },
        { path: "Takeout/Location History/Settings.json", content: "{ }", method: "stored" },
        { path: "Takeout\\Fotos\\ä.txt", content: "x", method: "zstd" },
        { path: "Takeout/Fotos/ä.txt", content: "the same name" },
      ]);
      const found = await walked([path]);
      expect(found.map(({ label, name, folders, content }) => [label, name, folders, content])).toEqual([
        [
          "takeout-001.zip › Takeout/Location History/Records.json",
          "Records.json",
          "Takeout/Location History",
          "{}",
        ],
        [
          "takeout-001.zip › Takeout/Location History/Settings.json",
          "Settings.json",
          "Takeout/Location History",
          "{ }",
        ],
        ["takeout-001.zip › Takeout/Fotos/ä.txt", "ä.txt", "Takeout/Fotos", "x"],
        ["takeout-001.zip › Takeout/Fotos/ä.txt", "ä.txt", "Takeout/Fotos", "the same name"],
      ]);
      expect(found.some(({ isNamed, failure }) => isNamed || failure !== undefined)).toBe(false);
      expect(new Set(found.map(({ identity }) => identity)).size).toBe(4);
      for (const { packedBytes, packedBytesRead } of found) expect(packedBytesRead).toBe(packedBytes ?? -1);
    });

    test("an archive of more than 4 GiB says its sizes elsewhere", async () => {
      const found = await walked([
        zip(
          "large",
          [
            { path: "a", content: "1" },
            { path: "b", content: "2" },
          ],
          true,
        ),
      ]);
      expect(found.map(({ label, content }) => [label, content])).toEqual([
        ["large › a", "1"],
        ["large › b", "2"],
      ]);
    });

    test("archives in an archive are looked into once, and each file may be packed by itself", async () => {
      const innermost = zipOf([{ path: "deep.gpx", content: "deep" }]);
      const inner = zipOf([
        { path: "2019/run.fit.gz", content: gzipSync("run"), method: "stored" },
        { path: "innermost.zip", content: innermost },
      ]);
      const path = zip("strava.zip", [
        { path: "activities/1.fit.gz", content: gzipSync("one") },
        { path: "activities/2.gz", content: gzipSync(gzipSync("two")) },
        { path: "inner.zip", content: inner },
        { path: "last.gpx", content: "last" },
      ]);
      for (const found of [await walked([path]), await walked([path], { times: 3 })])
        expect(summary(found)).toEqual([
          ["strava.zip › activities/1.fit.gz", "1.fit one"],
          ["strava.zip › activities/2.gz", "it is packed too many times over: unpack it once"],
          ["strava.zip › inner.zip › 2019/run.fit.gz", "run.fit run"],
          ["strava.zip › inner.zip › innermost.zip", "it is packed too many times over: unpack it once"],
          ["strava.zip › last.gpx", "last.gpx last"],
        ]);
    });

    test("of a KMZ its first KML counts, under the KMZ's name", async () => {
      const path = zip("Berlin.KMZ", [
        { path: "files/icon.png", content: "png" },
        { path: "doc.kml", content: "<kml/>" },
        { path: "links/other.kml", content: "<kml/>" },
      ]);
      expect(summary(await walked([path]))).toEqual([
        ["Berlin.KMZ › files/icon.png", "beside a KMZ's KML"],
        ["Berlin.KMZ › doc.kml", "Berlin.kml <kml/>"],
        ["Berlin.KMZ › links/other.kml", "beside a KMZ's KML"],
      ]);
    });

    test("documents, and what desktops put into archives, are left alone", async () => {
      const paths = [
        zip("table.xlsx", [
          { path: "[Content_Types].xml", content: "" },
          { path: "a.csv", content: "a" },
        ]),
        zip("text.odt", [{ path: "mimetype", content: "" }]),
        zip("mac.zip", [
          { path: "a.gpx", content: "a" },
          { path: "__MACOSX/._a.gpx", content: "a" },
          { path: ".DS_Store", content: "a" },
        ]),
      ];
      expect(summary(await walked(paths))).toEqual([
        ["table.xlsx", "document"],
        ["text.odt", "document"],
        ["mac.zip › a.gpx", "a.gpx a"],
        ["mac.zip › __MACOSX/._a.gpx", "hidden"],
        ["mac.zip › .DS_Store", ".DS_Store"],
      ]);
    });

    test("what is wrong with one file of an archive is said of it alone", async () => {
      const text = "a text that is packed into some bytes\n".repeat(20);
      const good = { path: "good.gpx", content: "good" };
      const path = zip("a.zip", [
        { path: "../../etc/passwd", content: "x" },
        { path: "/etc/passwd", content: "x" },
        { path: "C:/boot.ini", content: "x" },
        { path: "secret", content: "x", says: { flags: 0x801 } },
        { path: "rare", content: "x", says: { method: 9 } },
        { path: "odd", content: "x", says: { method: 77 } },
        { path: "checksum", content: text, says: { crc32: 1 } },
        { path: "longer", content: text, says: { unpackedBytes: 5 } },
        { path: "shorter", content: text, says: { packedBytes: 9 } },
        { path: "beyond", content: text, says: { packedBytes: 90_000 } },
        { path: "elsewhere", content: text, says: { position: 3 } },
        { path: "nowhere", content: text, says: { position: 3e9 } },
        good,
      ]);
      const found = await walked([path]);
      const failures = Object.fromEntries(
        found.map(({ label, failure }) => [label.slice("a.zip › ".length), failure]),
      );
      const outside = "its path leads out of the archive";
      expect(failures).toEqual({
        "../../etc/passwd": outside,
        "/etc/passwd": outside,
        "C:/boot.ini": outside,
        secret: "it is encrypted: unpack it with its password and give what comes out",
        rare: "it is packed by Deflate64, which is not read here: unpack it and give what comes out",
        odd: "it is packed by method 77, which is not read here: unpack it and give what comes out",
        checksum: "its checksum is wrong: it is damaged in its archive",
        longer: `it has ${text.length} bytes, and its archive says 5`,
        shorter: "it is damaged in its archive (unexpected end of file)",
        beyond: "its archive ends before it does",
        elsewhere: "it lies across other entries of its archive",
        nowhere: "it does not lie where its archive says",
        "good.gpx": undefined,
      });
      expect(found.find(({ label }) => label.endsWith("checksum"))?.content).toMatch(/^760 bytes/);
      expect(found.at(-1)?.content).toBe("good");
    });

    test("an archive cut off anywhere says that its end is missing, and what lies beside it goes on", async () => {
      const whole = zipOf([
        { path: "a.gpx", content: "a" },
        { path: "b.gpx", content: "b" },
      ]);
      const paths = [30, 60, whole.length - 1].map((bytes) =>
        put(`cut-${bytes}.zip`, whole.subarray(0, bytes)),
      );
      const ends = "its end is missing, where a zip lists its files: it was not downloaded or copied whole";
      const found = await walked([...paths, put("z.gpx", "z")]);
      expect(found.slice(0, 2).map(({ failure }) => failure)).toEqual([ends, ends]);
      expect(found[2]!.failure).toMatch(/^its (end is missing|list of files is damaged)/);
      expect(found[3]!.content).toBe("z");
    });

    test("an archive whose list is damaged gives the files before the damage", async () => {
      const whole = zipOf(["a", "b", "c"].map((path) => ({ path, content: path })));
      whole[whole.lastIndexOf("PK\x01\x02")] = 0;
      const found = await walked([put("a.zip", whole)]);
      expect(found.map(({ label }) => label)).toEqual(["a.zip › a", "a.zip › b", "a.zip"]);
      expect(found[2]!.failure).toMatch(/^its list of files is damaged/);
    });

    test("bombs end with an error, and what lies beside them goes on", async () => {
      const zeros = Buffer.alloc(64 * MEBIBYTE);
      const ratio = "it unpacks to more than 1,000 times its size, as no history does";
      const paths = [
        put("bomb.gz", gzipSync(zeros)),
        put("bomb.zst", zstdCompressSync(zeros)),
        zip("bomb.zip", [
          { path: "zeros", content: zeros },
          { path: "good", content: "good" },
        ]),
        zip("twice.zip", [{ path: "inner.zip", content: zipOf([{ path: "zeros", content: zeros }]) }]),
        put("good", "good"),
      ];
      const found = await walked(paths);
      expect(found.map(({ label, failure, content }) => [label, failure ?? content])).toEqual([
        ["bomb.gz", ratio],
        ["bomb.zst", ratio],
        ["bomb.zip › zeros", ratio],
        ["bomb.zip › good", "good"],
        ["twice.zip › inner.zip › zeros", ratio],
        ["good", "good"],
      ]);
    });

    test("entries that lie across each other are told from those of real archives", async () => {
      const text = Buffer.from(Array.from({ length: 2000 }, (_, line) => `line ${line * 7919}\n`).join(""));
      const whole = { path: "kernel", content: text };
      const { length } = zipOf([whole]);
      const packedBytes = length - zipOf([{ ...whole, content: "", method: "stored" }]).length;
      const across = { crc32: crc32(text), method: 8, packedBytes, unpackedBytes: text.length, position: 0 };
      const path = zip("overlapping.zip", [
        whole,
        ...Array.from({ length: 9 }, (_, index) => ({ path: `${index}`, content: "", says: across })),
      ]);
      const found = await walked([path]);
      expect(found[0]!.failure).toBeUndefined();
      expect(found.at(-1)?.failure).toBe("it lies across other entries of its archive");
      expect(found.filter(({ failure }) => failure === undefined)).toHaveLength(1);
    });

    test("an archive of many entries that lie across each other is refused by its directory, and one entry alone", async () => {
      const content = "52.5 13.4\n".repeat(40);
      const across = { crc32: crc32(content), method: 0, packedBytes: 400, unpackedBytes: 400, position: 0 };
      const members = Array.from(
        { length: 20 },
        (_, index) => ({ path: `${index}`, content, method: "stored" }) as const,
      );
      for (const isZip64 of [false, true]) {
        const bomb = members.map((member, index) =>
          index === 0 ? member : { ...member, content: "", says: across },
        );
        const long = members.with(3, { ...members[3]!, says: { packedBytes: 4000 } } as never);
        const found = await walked([
          put("bomb.zip", zipOf(bomb, isZip64)),
          put("long.zip", zipOf(long, isZip64)),
        ]);
        expect(found.map(({ label, failure }) => [label, failure])).toEqual([
          ["bomb.zip", "its files lie across each other, as those of no real archive do"],
          ...members.map(({ path }) => [
            `long.zip › ${path}`,
            path === "3" ? "it lies across other entries of its archive" : undefined,
          ]),
        ]);
      }
    });

    test("an archive of very many archives is read up to a bound", async () => {
      const inner = zipOf([]);
      const members = Array.from({ length: 1003 }, (_, index) => ({ path: `${index}.zip`, content: inner }));
      const found = await walked([put("many.zip", zipOf(members))]);
      expect(found.map(({ label, failure }) => [label, failure])).toEqual(
        [1000, 1001, 1002].map((index) => [
          `many.zip › ${index}.zip`,
          "its archive holds more than 1000 archives",
        ]),
      );
    });

    test("no more is unpacked than is allowed, of all together and each byte once", async () => {
      const content = Array.from({ length: 100 }, (_, line) => `line ${line * 7919}\n`).join("");
      const members = ["a", "b", "c"].map((path) => ({ path, content }));
      const paths = [zip("a.zip", members), put("plain", content)];
      const enough = { unpackedBytesMax: content.length * 3, times: 2 };
      expect((await walked(paths, enough)).map(({ failure }) => failure)).toEqual(Array(4).fill(undefined));
      const less = await walked(paths, { unpackedBytesMax: content.length * 3 - 1 });
      expect(less.map(({ failure }) => failure)).toEqual([
        undefined,
        undefined,
        `more than ${content.length * 3 - 1} bytes would be unpacked: --max-bytes allows more`,
        undefined,
      ]);
    });

    test("an archive from standard input is put aside, and gone afterwards", async () => {
      const members = [
        { path: "a", content: "1" },
        { path: "b", content: gzipSync("2") },
      ];
      const found = await walked(["-"], { times: 2 }, zipOf(members));
      expect(found.map(({ label, content, identity }) => [label, content, identity])).toEqual([
        ["standard input › a", "1", null],
        ["standard input › b", "2", null],
      ]);
    });
  });
}

function summary(found: readonly Described[]): string[][] {
  return found.map(({ label, name, content, failure, leftAlone }) => [
    label,
    failure ?? leftAlone ?? `${name} ${content}`,
  ]);
}

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beginningOf, readBeginning } from "../../../../src/formats/read/beginning.ts";
import type { Format } from "../../../../src/formats/read/format.ts";
import { FORMATS } from "../../../../src/formats/read/formats.ts";
import { type Recognition, recognise } from "../../../../src/formats/read/recognise.ts";

/*
 * Goal: a file is taken for what it is, whatever it is called, and what holds no positions is named, with what to give
 * instead. Method: samples, and beginnings of files as programs write them, under names that say nothing or lie.
 */

const SAMPLES = join(import.meta.dir, "../../../data/samples");

function recognised(
  content: string | Uint8Array,
  name = "x",
  formats: readonly Format[] = FORMATS,
): Recognition {
  return recognise(beginningOf(Buffer.from(content), true, name), formats);
}

function answered(content: string | Uint8Array, name = "x"): string {
  const recognition = recognised(content, name);
  return recognition.kind === "history" ? `history: ${recognition.reason}` : recognition.what.answer;
}

function kindOf(content: string | Uint8Array, name = "x"): string {
  const recognition = recognised(content, name);
  return recognition.kind === "history" ? `history: ${recognition.reason}` : recognition.what.kind;
}

function formatOf(content: string | Uint8Array, name = "x", formats: readonly Format[] = FORMATS): string {
  const recognition = recognised(content, name, formats);
  if (recognition.kind === "not_history") return recognition.what.kind;
  return typeof recognition.format === "string" ? `own ${recognition.format}` : recognition.format.name;
}

const sample = (path: string) => readFileSync(join(SAMPLES, path));

describe("files without positions", () => {
  test("those of a Takeout are answered with what to give instead", () => {
    for (const [path, answer] of [
      [
        "google/not-history-archive_browser.html",
        "the index page of a Takeout; give the folder or Records.json",
      ],
      [
        "google/not-history-Encrypted Backups.txt",
        "Timeline is encrypted on Google's side; export it on the phone: Settings → Location → Timeline → Export",
      ],
      ["google/not-history-Settings.json", "settings, no positions"],
    ] as const)
      expect(answered(sample(path))).toContain(answer);
  });

  test("Google's other files are named by what they hold, some by their names", () => {
    const place = (properties: object) =>
      JSON.stringify({
        type: "FeatureCollection",
        features: [{ type: "Feature", geometry: { type: "Point", coordinates: [13.4, 52.5] }, properties }],
      });
    for (const [kind, content, name] of [
      ["Tombstones.csv", "a,b,c\n1,2,3\n", "Tombstones.csv"],
      [
        "Maps reviews",
        place({ date: "2024-01-01T00:00:00Z", five_star_rating_published: 5 }),
        "Reviews.json",
      ],
      [
        "saved places",
        place({ date: "2024-01-01T00:00:00Z", google_maps_url: "http://x" }),
        "Gespeichert.json",
      ],
      ["saved places", place({ "Google Maps URL": "http://x", Published: "2017-01-01" }), "x"],
      ["saved places", place({ name: "Home", address: "x" }), "Labelled places.json"],
      ["saved places", "Title,Note,URL,Comment\nCafé,,http://x,\n", "Favourites.csv"],
      ["My Activity", '[{\n  "header": "Maps",\n  "title": "Searched for x"', "MeineAktivitäten.json"],
      ["My Activity", "<html><body>Maps", "MyActivity.html"],
      ["index page", "<html><head><title>Takeout</title>", "x.html"],
      ["index page", "<html lang=de><title>Google Takeout-Archiv</title>", "archive_browser.html"],
      ["note that Timeline is encrypted", "in another language", "Encrypted Backups.txt"],
      ["Google settings", '{"createdTime": "2013", "modifiedTime": "x", "gaiaId": 1}', "Einstellungen.json"],
    ] as const)
      expect([name, kindOf(content, name)]).toEqual([name, kind]);
  });

  test("nothing is called empty, also in as many words", () => {
    for (const nothing of [
      "",
      "{}",
      "[]",
      " [ ] \n",
      '{"locations": []}',
      '{\n "semanticSegments": [],\n "rawSignals": [], "userLocationProfile": {}\n}',
      "\ufeff{}",
    ])
      expect([nothing, kindOf(nothing)]).toEqual([nothing, "empty"]);
    for (const something of ['{"a": 1}', '{"a": [0]}', "[null]", '{"a": ""}'])
      expect([something, kindOf(something)]).not.toEqual([something, "empty"]);
    const cut = beginningOf(Buffer.from("[]"), false, "x");
    expect(recognise(cut, FORMATS)).not.toMatchObject({ what: { kind: "empty" } });
  });

  test("files of other kinds are known by their first bytes", () => {
    for (const [kind, content] of [
      ["pdf", "%PDF-1.7\n"],
      ["jpg", "\xff\xd8\xff\xe0JFIF"],
      ["png", "\x89PNG\r\n\x1a\n"],
      ["gif", "GIF89a"],
      ["webp", "RIFF\x24\x00\x00\x00WEBPVP8 "],
      ["photo or film", "\x00\x00\x00\x18ftypheic"],
      ["rar", "Rar!\x1a\x07\x01"],
      ["7z", "7z\xbc\xaf\x27\x1c\x00\x04"],
      ["bz2", "BZh91AY&SY\x00"],
      ["sound", "ID3\x04\x00"],
      ["tar", `a.gpx${"\0".repeat(252)}ustar`],
      ["document", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"],
      ["database", "SQLite format 3\0\x10\0"],
      ["plist", "bplist00"],
      [".DS_Store", "\x00\x00\x00\x01Bud1\x00"],
    ] as const)
      expect([kind, kindOf(Buffer.from(content, "latin1"), "a.gpx")]).toEqual([kind, kind]);
  });

  test("texts that only look like a format are known by how they begin", () => {
    const xml = '<?xml version="1.0" encoding="UTF-8"?>\n';
    for (const [kind, content] of [
      ["html", "<!DOCTYPE html>\n<html>"],
      ["html", `${xml}<html xmlns="x">`],
      ["plist", `${xml}<!DOCTYPE plist PUBLIC>`],
      ["Apple Health records", `${xml}<!DOCTYPE HealthData [\n<!ELEMENT HealthData`],
      ["Apple Health records", `${xml}<ClinicalDocument xmlns="x">`],
      ["calendar or contacts", "BEGIN:VCALENDAR\nVERSION:2.0"],
    ] as const)
      expect([kind, kindOf(content, "a.gpx")]).toEqual([kind, kind]);
  });

  test("JSON from the middle of a file is called a fragment", () => {
    const records = sample("google/Records.json").toString();
    const middle = records.indexOf('"latitudeE7"') + 40;
    for (const from of [middle, middle + 4, records.indexOf(",", middle), records.indexOf("}", middle)])
      expect([from, answered(records.slice(from))]).toEqual([
        from,
        "is a fragment; the file was split, so join its parts and import the result",
      ]);
    expect(kindOf('{"latitudeE7": 1, "a": "}"},\n{"latitudeE7": 2}')).toBe("fragment of JSON");
    expect(kindOf('{"a": {"b": 1}}\n', "x.json")).toBe("json");
    expect(kindOf('{"a": 1, "b": "cut off \\"}, ', "x.json")).toBe("json");
    expect(kindOf(`{"a": 1, "${'\\"'.repeat(100_000)}\\`, "x.json")).toBe("json"); // Within the test's time.
  });

  test("anything else says what was seen, and which formats there are", () => {
    const names = ["csv", "ndjson", ...FORMATS.map(({ name }) => name)];
    const answer = answered("Dear diary,\ntoday ...", "Diary.TXT");
    expect(answer).toStartWith('has no known format: it begins with "Dear diary,"; ');
    for (const name of names) expect(answer).toContain(name);
    expect(answered("\x1b[2Jevil")).toContain('begins with "\ufffd[2Jevil"');
    expect(answered(Buffer.from([1, 2, 0, 255]))).toContain("begins with the bytes 01 02 00 ff;");
    expect(kindOf("Dear diary", "Diary.TXT")).toBe("txt");
    expect(kindOf("all: x", "Makefile")).toBe("file without extension");
  });
});

describe("formats of this program", () => {
  const header = "device_id,timestamp,latitude,longitude";

  test("are known by what every report has", () => {
    expect(formatOf(sample("csv/wherehouse.csv"))).toBe("own csv");
    expect(formatOf(`${header}\na,1700000000000,1,2\n`)).toBe("own csv");
    expect(formatOf(`longitude,timestamp_ms,speed_mps,device_id,latitude,time,note\n`)).toBe("own csv");
    const report = { device_id: "a", timestamp: 1.7e12, latitude: 1, longitude: 2 };
    expect(formatOf(JSON.stringify(report))).toBe("own ndjson");
    expect(formatOf(`{damaged\n${JSON.stringify({ ...report, latitude: "x" })}\n`)).toBe("own ndjson");
  });

  test("are left to others where times are not in milliseconds, or columns are others'", () => {
    expect(formatOf(`${header}\na,1700000000,1,2\n`)).toBe("csv");
    expect(formatOf(`${header}\na,2024-01-01T00:00:00Z,1,2\n`)).toBe("csv");
    expect(formatOf(`${header},accuracy\na,1700000000000,1,2,3\n`)).toBe("csv");
    expect(formatOf(`${header},damaged\n"a"b,1,1,2\na,1700000000000,1,2,3\n`)).toBe("own csv");
    expect(formatOf(header.replaceAll(",", ";"))).not.toBe("own csv");
    expect(formatOf('{"device_id": "a", "lat": 1}')).not.toBe("own ndjson");
  });
});

describe("formats of others", () => {
  const format = (name: string, extension: string, word: string): Format => ({
    name,
    title: name,
    extensions: [extension],
    placeUnit: "line",
    recognise: ({ text }) => (text.includes(word) ? `it has ${word}` : null),
    read: () => {
      throw new Error("It is not read here.");
    },
  });
  const formats = [format("first", ".one", "a"), format("second", ".two", "b")];

  test("win in their order, and by the file's name where several could", () => {
    expect(formatOf("a b", "x", formats)).toBe("first");
    expect(formatOf("a b", "X.TWO", formats)).toBe("second");
    expect(formatOf("a", "x.two", formats)).toBe("first");
    expect(recognised("b", "x.one", formats)).toMatchObject({ reason: "it has b" });
    expect(formatOf("c", "x.one", formats)).toBe("one");
  });
});

describe("beginningOf()", () => {
  test("leaves out a byte order mark and blanks", () => {
    for (const bytes of [Buffer.from(" \n\t<ä>"), Buffer.from("\ufeff \r\n<ä>")])
      expect(beginningOf(bytes, true, "A.GPX")).toMatchObject({ text: "<ä>", isWhole: true, name: "a.gpx" });
    expect(beginningOf(Buffer.from(" \n"), true, "x")).toMatchObject({ text: "", bytes: Buffer.alloc(0) });
  });

  test("has no text for a binary file, but all bytes", () => {
    const bytes = Buffer.from([32, 14, 0, 1, 2]);
    expect(beginningOf(bytes, true, "x")).toMatchObject({ text: "", bytes });
  });

  test("has text of 8-bit encodings as far as it can, and no half character at its end", () => {
    expect(beginningOf(Buffer.from("K\xf6ln", "latin1"), true, "x").text).toBe("K\ufffdln");
    expect(beginningOf(Buffer.from("Kö").subarray(0, 2), false, "x").text).toBe("K");
  });
});

test("readBeginning() reads no more than it needs, however the file comes", async () => {
  for (const [bytes, pieceBytes] of [
    [300 * 1024, 1000],
    [256 * 1024, 64 * 1024],
    [10, 3],
    [0, 1],
  ] as const) {
    let read = 0;
    async function* pieces() {
      for (let at = 0; at < bytes; at += pieceBytes) {
        const piece = Buffer.alloc(Math.min(pieceBytes, bytes - at), "x");
        read += piece.length;
        yield piece;
      }
    }
    const beginning = await readBeginning({ name: "X", pieces });
    expect(beginning.text).toBe("x".repeat(Math.min(bytes, 256 * 1024)));
    expect(beginning.isWhole).toBe(bytes <= 256 * 1024);
    expect(read).toBeLessThanOrEqual(256 * 1024 + pieceBytes);
  }
});

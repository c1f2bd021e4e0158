import { expect, test } from "bun:test";
import { lookLines } from "../../../../src/cli/import/screen.ts";
import { UnreadFiles } from "../../../../src/import/unread-files.ts";

const where = (label: string, isNamed = false) => ({ key: label, label, isNamed, packedBytes: null });

test("what was named and is no use is told each, what was found with it is counted", () => {
  const unread = new UnreadFiles();
  unread.addNotHistory(where("page.html", true), { kind: "html", answer: "is a web page, for reading" });
  for (const kind of ["jpg", "txt", "jpg"]) unread.addNotHistory(where("x"), { kind, answer: "is no use" });
  unread.addFailed(where("cut.zip › a"), "its checksum is wrong");
  unread.addFailed(where("missing.gpx", true), "there is none");
  const group = {
    label: "a.gpx",
    formatName: "gpx",
    title: "GPX",
    isOwn: false,
    reason: "it has a track",
    files: 3,
  };
  expect(lookLines({ groups: [group], unread })).toEqual([
    "a.gpx: GPX (it has a track), and 2 files more",
    "page.html is a web page, for reading.",
    "missing.gpx: there is none.",
    "cut.zip › a: its checksum is wrong.",
    "Ignored: 3 files (2 jpg, 1 txt).",
  ]);
});

test("an archive of a million files that are no use fills neither memory nor the screen", () => {
  const unread = new UnreadFiles();
  const files = 1_000_000;
  for (let file = 0; file < files; file++) {
    unread.addFailed(where(`${file}`), "its path leads out of the archive");
    unread.addNotHistory(where(`${file}`), { kind: `kind${file}`, answer: "is no use" });
  }
  unread.addFailed(where("named", true), "there is none");
  expect([unread.failed.length, unread.leftAlone.size, unread.failedCount]).toEqual([1001, 101, files + 1]);
  const lines = lookLines({ groups: [], unread });
  expect(lines.length).toBe(27);
  expect(lines[0]).toBe("named: there is none.");
  expect(lines.at(-7)).toBe("999,981 files more can't be read.");
  expect(lines.at(-6)).toStartWith("Ignored: 1,000,000 files (999,900 of other kinds, 1 kind0, 1 kind1,");
  expect(lines.at(-6)).toEndWith(", 1 kind10, 89 of 89 other kinds).");
});

test("where nothing was found the rarer files say why", () => {
  const unread = new UnreadFiles();
  for (let photo = 0; photo < 9; photo++)
    unread.addNotHistory(where(`${photo}.jpg`), { kind: "jpg", answer: "is a picture" });
  unread.addNotHistory(where("Encrypted Backups.txt"), { kind: "note", answer: "says why" });
  expect(lookLines({ groups: [], unread })).toEqual([
    "Ignored: 10 files (9 jpg, 1 note).",
    "0.jpg is a picture.",
    "Encrypted Backups.txt says why.",
  ]);
});

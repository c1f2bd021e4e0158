import { describe, expect, test } from "bun:test";
import { FormatError } from "../../../src/formats/read/format.ts";
import { googleRecords } from "../../../src/formats/read/google/records.ts";
import { GOOGLE_SETTINGS } from "../../../src/formats/read/not-history.ts";
import type { Recognition } from "../../../src/formats/read/recognise.ts";
import { gpx } from "../../../src/formats/read/xml/gpx.ts";
import { type Look, lookAt } from "../../../src/import/look.ts";
import type { Source, SourceItem } from "../../../src/import/sources/source.ts";

interface Seen {
  readonly name: string;
  readonly is: Recognition | FormatError;
  readonly isNamed?: boolean;
  readonly content?: string;
  readonly identity?: string | null;
  readonly packedBytes?: number | null;
}

const history = (format: typeof gpx | "csv"): Recognition => ({ kind: "history", format, reason: "so" });
const other = (kind: string): Recognition => ({
  kind: "not_history",
  what: { kind, answer: "is no history" },
});

function look(files: readonly Seen[], more: readonly SourceItem[] = []): Promise<Look> {
  const sources = files.map(
    ({ name, isNamed = false, content = "", identity = name, packedBytes = 10 }): Source => ({
      name,
      folders: [],
      label: `dir/${name}`,
      key: name,
      isNamed,
      packedBytes,
      identity: async () => identity,
      openRandom: () => Promise.reject(new Error("nobody reads it")),
      async *pieces() {
        yield new TextEncoder().encode(content);
      },
    }),
  );
  return lookAt({
    sources: {
      async *walk() {
        for (const source of sources) yield { kind: "file", source };
        yield* more;
      },
      close: async () => {},
    },
    async recognise({ name }) {
      const { is } = files.find((file) => file.name === name)!;
      if (is instanceof FormatError) throw is;
      return is;
    },
    signal: new AbortController().signal,
    onLooked() {},
  });
}

describe("lookAt()", () => {
  test("counts files of a format together, but those that were named alone", async () => {
    const found = await look([
      { name: "1", is: history(gpx) },
      { name: "2", is: history("csv") },
      { name: "3", is: history(gpx) },
      { name: "4", is: history(gpx), isNamed: true },
      { name: "5", is: history(gpx), isNamed: true },
    ]);
    expect(found.groups.map(({ label, title, isOwn, files }) => [label, title, isOwn, files])).toEqual([
      ["dir/1", "GPX", false, 2],
      ["dir/2", "Wherehouse CSV", true, 1],
      ["dir/4", "GPX", false, 1],
      ["dir/5", "GPX", false, 1],
    ]);
    const walked = await Array.fromAsync(found.walk());
    expect(
      walked.map(({ source, group, index, bytesBefore }) => [source.name, group, index, bytesBefore]),
    ).toEqual([
      ["1", 0, 0, 0],
      ["2", 1, 1, 10],
      ["3", 0, 2, 20],
      ["4", 2, 3, 30],
      ["5", 3, 4, 40],
    ]);
    expect(found.packedBytes).toBe(50);
  });

  test("tells what is no history by kind, and what was named by its answer", async () => {
    const found = await look(
      [
        { name: "a.jpg", is: other("jpg") },
        { name: "b.jpg", is: other("jpg") },
        { name: "c.html", is: other("index page"), isNamed: true },
        { name: "d", is: new FormatError("can't be read"), isNamed: true },
      ],
      [
        { kind: "left_alone", where: where("e.jpg"), what: { kind: "jpg", answer: "is an image" } },
        { kind: "failed", where: where("f"), reason: "no permission" },
      ],
    );
    expect([...found.unread.leftAlone]).toEqual([
      ["jpg", { count: 3, label: "dir/a.jpg", answer: "is no history" }],
    ]);
    expect(found.unread.wrong).toEqual([{ label: "dir/c.html", answer: "is no history" }]);
    expect(found.unread.failed).toEqual([
      { label: "dir/d", isNamed: true, reason: "can't be read" },
      { label: "f", isNamed: false, reason: "no permission" },
    ]);
    expect(found.groups).toEqual([]);
  });

  const where = (label: string) => ({ key: label, label, isNamed: false, packedBytes: null });

  test("knows Google's devices by the settings beside, and whether its records are there", async () => {
    const settings = { deviceSettings: [{ deviceTag: 5, devicePrettyName: "Pixel 7" }] };
    const content = `\uFEFF${JSON.stringify(settings)}`;
    const alone = await look([{ name: "Settings.json", is: other(GOOGLE_SETTINGS), content }]);
    expect([...alone.beside.googleDevices]).toEqual([["5", "Pixel 7"]]);
    expect(alone.beside.hasGoogleRecords).toBe(false);
    const both = await look([{ name: "Records.json", is: history(googleRecords) }]);
    expect(both.beside.hasGoogleRecords).toBe(true);
  });

  test("is identified by all files and what they are taken for, unless one of them is a pipe", async () => {
    const identity = async (files: readonly Seen[]) => (await look(files)).identity;
    const [a, b]: Seen[] = [
      { name: "a", is: history(gpx) },
      { name: "b", is: history("csv") },
    ] as const;
    const all = await Promise.all([
      identity([a!, b!]),
      identity([a!, b!]),
      identity([b!, a!]),
      identity([a!]),
      identity([a!, { ...b!, is: history(gpx) }]),
      identity([a!, { ...b!, identity: "edited" }]),
    ]);
    expect(all[0]).toBe(all[1]!);
    expect(new Set(all).size).toBe(5);
    expect(await identity([a!, { ...b!, identity: null }])).toBeNull();
  });
});

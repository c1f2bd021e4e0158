import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import * as fc from "../../../support/fast-check.ts";
import { zipOf } from "../../../support/formats/zip.ts";
import { type Described, describeWalk } from "./described-walk.ts";

/*
 * Goal: whatever is wrong with an archive is said, nothing that is damaged is taken for whole, and the walk ends.
 * Method: archives with any of their bytes changed, or cut anywhere; what comes out without a fault is what went in.
 */

const directory = mkdtempSync(join(tmpdir(), "wherehouse-damaged-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const CONTENTS: Readonly<Record<string, string>> = {
  "a.gpx": "one text\n".repeat(9),
  "folder/b.json": '{"b": 2}',
  "c.txt": "stored as it is",
};
const MEMBERS = Object.entries(CONTENTS).map(([path, content]) => ({ path, content }));
const NESTED = zipOf(MEMBERS);
const ARCHIVES = [
  zipOf(MEMBERS),
  zipOf(MEMBERS, true),
  zipOf([{ path: "nested.zip", content: NESTED, method: "stored" }, ...MEMBERS]),
  zipOf(MEMBERS.map(({ path, content }) => ({ path: `${path}.gz`, content: gzipSync(content) }))),
];

const damage = fc.record({
  archive: fc.nat({ max: ARCHIVES.length - 1 }),
  flips: fc.array(fc.record({ at: fc.nat(), byte: fc.nat({ max: 255 }) }), { maxLength: 4 }),
  cut: fc.option(fc.nat(), { freq: 3 }),
});

async function walked(bytes: Uint8Array): Promise<Described[]> {
  const path = join(directory, "a.zip");
  writeFileSync(path, bytes);
  return describeWalk({ paths: [path], spoolDirectory: directory, unpackedBytesMax: 1e7 });
}

test("a damaged archive ends with what is wrong, and gives nothing wrong for right", async () => {
  const whole = new Set(Object.values(CONTENTS));
  await fc.assert(
    fc.asyncProperty(damage, async ({ archive, flips, cut }) => {
      let bytes = Buffer.from(ARCHIVES[archive]!);
      for (const { at, byte } of flips) bytes[at % bytes.length] = byte;
      if (cut !== null) bytes = bytes.subarray(0, cut % bytes.length);
      for (const { label, content, failure } of await walked(bytes)) {
        const isPacked = label.includes(" › ");
        if (isPacked && content !== undefined && failure === undefined)
          expect([label, whole.has(content)]).toEqual([label, true]);
      }
      expect(readdirSync(directory)).toEqual(["a.zip"]);
    }),
    { numRuns: 600 },
  );
});

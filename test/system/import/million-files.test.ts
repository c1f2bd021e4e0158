import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zipOf } from "../../support/formats/zip.ts";
import { WALKS } from "../../unit/import/sources/walks.ts";

/* Walks through an archive with more files than memory should hold. test/unit/import/sources has all others. */

let directory: string;
let archive: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "wherehouse-sources-"));
  archive = join(directory, "a.zip");
  const members = Array.from({ length: 1_000_000 }, (_, index) => ({
    path: `.${index}`,
    content: "",
    method: "stored" as const,
  }));
  writeFileSync(archive, zipOf([...members, { path: "last", content: "last" }], true));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

for (const [runtime, walk] of Object.entries(WALKS)) {
  test(`a million files of an archive come one by one on ${runtime}`, async () => {
    const found = await walk({ paths: [archive], spoolDirectory: directory, isBrief: true });
    expect(found.map(({ name, content, failure }) => [name, content, failure])).toEqual([
      ["last", "last", undefined],
    ]);
  });
}

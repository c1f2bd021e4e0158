import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "../../support/fast-check.ts";
import { someNames, writeFile } from "../../unit/formats/write/arbitrary-records.ts";
import { arbitraryTracks } from "../../unit/formats/write/arbitrary-tracks.ts";

const xmllint = Bun.which("xmllint");
if (xmllint === null) console.warn("Left out: GPX against its schema, which needs xmllint (libxml2-utils).");

const SCHEMA = join(import.meta.dir, "gpx-1.1-tracks.xsd");

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "schema-"));
});
afterAll(() => rmSync(directory, { recursive: true }));

test.if(xmllint !== null)("GPX is valid by its schema, whatever the records", () => {
  const paths: string[] = [];
  fc.assert(
    fc.property(arbitraryTracks, fc.constantFrom(null, 10), ({ batches }, simplifyMeters) => {
      const path = join(directory, `${paths.length}.gpx`);
      writeFileSync(path, writeFile("gpx", batches, { simplifyMeters }, someNames));
      paths.push(path);
    }),
  );
  const { stderr, exitCode } = Bun.spawnSync([xmllint!, "--noout", "--schema", SCHEMA, ...paths]);
  const complaints = stderr
    .toString()
    .split("\n")
    .filter((line) => line !== "" && !line.endsWith(" validates"));
  expect(complaints).toEqual([]);
  expect(exitCode).toBe(0);
});

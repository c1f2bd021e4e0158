import { expect, test } from "bun:test";
import { readBeginning } from "../../../../src/formats/read/beginning.ts";
import { FORMATS } from "../../../../src/formats/read/formats.ts";
import { recognise } from "../../../../src/formats/read/recognise.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../../../../src/model/location-fields.ts";
import * as fc from "../../../support/fast-check.ts";
import { contentOf, readWhole } from "../../../support/formats/read-file.ts";
import type { Report } from "../../../support/reports/batches.ts";
import { formatNamed, someNames, writeFile } from "./arbitrary-records.ts";
import { arbitraryTracks, xmlNumber, xmlText } from "./arbitrary-tracks.ts";

/*
 * What formats of others carry of a record comes back by `import` as it was.
 */

/** What a file of a format must bring back of a report's details. */
const ALL_DETAILS = [...NUMBER_FIELDS, ...PROFILE_FIELDS, ...STATE_FIELDS]
  .map(({ name }) => name)
  .filter((name) => !["latitude", "longitude", "user_id"].includes(name));
const DETAILS: Readonly<Record<string, readonly string[]>> = {
  geojson: ALL_DETAILS,
  geojsonseq: ALL_DETAILS,
  gpx: "horizontal_accuracy vertical_accuracy altitude speed bearing".split(" "),
  kml: "horizontal_accuracy altitude speed bearing".split(" "),
};

async function readBack(name: string, reports: readonly (readonly Report[])[]) {
  const bytes = writeFile(name, reports, {}, someNames);
  const content = contentOf(bytes, { name: `export${formatNamed(name).extension}` });
  const recognised = recognise(await readBeginning(content), FORMATS);
  expect(recognised.kind === "history" && nameOf(recognised.format)).toBe(name);
  const findings = await readWhole(FORMATS.find((format) => format.name === name)!, content);
  expect(findings.error).toBeNull();
  return findings;
}

for (const name of ["geojson", "geojsonseq", "gpx", "kml"]) {
  test(`${name} brings back time, place and what else it carries`, async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryTracks, async ({ reports, batches }) => {
        fc.pre(reports.length > 0);
        const { points } = await readBack(name, batches);
        const expected = reports.map((report) => expectedPoint(name, report));
        // Names of KML say anything, and of GPX with several tracks too: a reader takes none for a device.
        const devices = new Set(reports.map(({ device_id }) => device_id)).size;
        const isNameless = name === "kml" || (name === "gpx" && devices > 1);
        const told: unknown[] = points.map(({ timestampMs, latitude, longitude, device, details }) => ({
          timestampMs,
          latitude,
          longitude,
          device: isNameless ? undefined : device,
          ...Object.fromEntries(
            DETAILS[name]!.map((field) => [field, details[field as keyof typeof details]]),
          ),
        }));
        expect(told).toEqual(expected.map((point) => (isNameless ? { ...point, device: undefined } : point)));
      }),
      { numRuns: 200 },
    );
  });
}

function expectedPoint(name: string, report: Report) {
  const isXml = name === "gpx" || name === "kml";
  const value = (field: string) => {
    const found = report[field];
    if (typeof found !== "number") return found;
    if (name === "gpx" && field === "bearing" && found === 360) return 0;
    return isXml ? xmlNumber(found) : found + 0;
  };
  const longitude = value("longitude");
  return {
    timestampMs: report.timestamp,
    latitude: value("latitude"),
    longitude: name === "gpx" && longitude === 180 ? -180 : longitude,
    device: isXml ? xmlText(report.device_id as string).trim() || null : report.device_id, // Readers of XML trim names.
    ...Object.fromEntries(DETAILS[name]!.map((field) => [field, value(field)])),
  };
}

test("every format is known again by how it begins", async () => {
  const report = { device_id: "a", timestamp: 1_768_435_200_000, latitude: 1, longitude: 2 };
  const known: Record<string, unknown> = {};
  for (const name of ["ndjson", "csv", "geojson", "geojsonseq", "gpx", "kml", "owntracks"]) {
    const bytes = writeFile(name, [[report, { ...report, device_id: "b" }]]);
    const recognised = recognise(await readBeginning(contentOf(bytes)), FORMATS);
    known[name] = recognised.kind === "history" ? nameOf(recognised.format) : recognised.what;
  }
  expect(known).toEqual({
    ndjson: "ndjson",
    csv: "csv",
    geojson: "geojson",
    geojsonseq: "geojsonseq",
    gpx: "gpx",
    kml: "kml",
    owntracks: "owntracks-json",
  });
});

function nameOf(format: string | { readonly name: string }): string {
  return typeof format === "string" ? format : format.name;
}

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { readBeginning } from "../../../../src/formats/read/beginning.ts";
import { FORMATS } from "../../../../src/formats/read/formats.ts";
import { recognise } from "../../../../src/formats/read/recognise.ts";

/*
 * Goal: every sample is taken for what it is, whatever it is called, also where most of it is missing. Method: each
 * under its own name and names that say nothing or lie, whole and cut off.
 */

const SAMPLES = join(import.meta.dir, "../../../data/samples");

/** By sample, the format's name, or what is said of a file that is no history. */
const EXPECTED: Readonly<Record<string, string>> = {
  "csv/compass-letters.csv": "csv",
  "csv/e7.csv": "csv",
  "csv/semicolon-known-headers.csv": "csv",
  "csv/wherehouse.csv": "own csv",
  "dawarich/export-v2/points/2026/2026-02.jsonl": "dawarich",
  "dawarich/points.geojson": "geojson",
  "fit/example.fit": "fit",
  "fit/no-positions.fit": "fit",
  "geojson/linestring-coordtimes.geojson": "geojson",
  "geojson/points.geojsonseq": "geojsonseq",
  "google/2021_MARCH.json": "google-semantic",
  "google/Records-before-2022.json": "google-records",
  "google/Records.json": "google-records",
  "google/Timeline.json": "google-timeline",
  "google/location-history-ios.json": "google-timeline-ios",
  "google/not-history-Encrypted Backups.txt": "not note that Timeline is encrypted",
  "google/not-history-Settings.json": "not Google settings",
  "google/not-history-archive_browser.html": "not index page",
  "gpx/apple-health-workout-route.gpx": "gpx",
  "gpx/cut-off-in-the-middle.gpx": "gpx",
  "gpx/garmin-extensions.gpx": "gpx",
  "gpx/gpslogger-1.0.gpx": "gpx",
  "gpx/osmand-1.1.gpx": "gpx",
  "gpx/route-points-only.gpx": "gpx",
  "gpx/strava-gpxtpx.gpx": "gpx",
  "kml/gxmultitrack.kml": "kml",
  "kml/gxtrack-speed-accuracy.kml": "kml",
  "kml/gxtrack.kml": "kml",
  "kml/linestring-no-times.kml": "kml",
  "kml/points-with-timestamp.kml": "kml",
  "nmea/log.nmea": "nmea",
  "owntracks/ocat.json": "owntracks-json",
  "owntracks/rec/anna/pixel7/2026-02.rec": "owntracks-rec",
  "polarsteps/locations.json": "polarsteps",
  "tcx/garmin-sup.tcx": "tcx",
  "tcx/positions-at-zero.tcx": "tcx",
  "tcx/sample.tcx": "tcx",
  "tcx/strava-leading-blanks.tcx": "tcx",
  "traccar/api-positions.json": "traccar-json",
  "traccar/positions.csv": "csv",
  "traccar/positions.gpx": "gpx",
};

/** The first says nothing, the others lie. */
const OTHER_NAMES = ["x", "x.gpx", "x.json", "x.csv"];

async function recognised(bytes: Uint8Array, name: string): Promise<string> {
  async function* pieces() {
    yield bytes;
  }
  const recognition = recognise(await readBeginning({ name, pieces }), FORMATS);
  if (recognition.kind === "not_history") return `not ${recognition.what.kind}`;
  return typeof recognition.format === "string" ? `own ${recognition.format}` : recognition.format.name;
}

for (const [path, expected] of Object.entries(EXPECTED)) {
  const bytes = readFileSync(join(SAMPLES, path));

  test(`${path} is known under any name`, async () => {
    for (const name of [basename(path), ...OTHER_NAMES])
      expect([name, await recognised(bytes, name)]).toEqual([name, expected]);
  });

  test(`${path} is never taken for another format, wherever it is cut off`, async () => {
    const step = Math.max(1, Math.floor(bytes.length / CUTS));
    for (let length = 1; length < bytes.length; length += step) {
      const found = await recognised(bytes.subarray(0, length), "x");
      if (!found.startsWith("not "))
        expect([length, expected]).toEqual([length, expect.stringContaining(found)]);
      else expect([length, found]).not.toEqual([length, "not fragment of JSON"]);
      if (length > ENOUGH_BYTES) expect([length, found]).toEqual([length, expected]);
    }
  });
}

const CUTS = 200;

/** The longest first object or line of a sample. */
const ENOUGH_BYTES = 1500;

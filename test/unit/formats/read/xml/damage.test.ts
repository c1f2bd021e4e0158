import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Format } from "../../../../../src/formats/read/format.ts";
import { gpx } from "../../../../../src/formats/read/xml/gpx.ts";
import { kml } from "../../../../../src/formats/read/xml/kml.ts";
import { tcx } from "../../../../../src/formats/read/xml/tcx.ts";
import * as fc from "../../../../support/fast-check.ts";
import {
  contentOf,
  type Findings,
  readWhole,
  SAMPLES,
  sampleContent,
} from "../../../../support/formats/read-file.ts";
import { nativeDeno } from "../../../../support/native-deno.ts";
import { xmlFindings } from "./xml-findings.ts";

/*
 * Whatever happens to a file on its way, every point that is complete before the damage comes in, the same in pieces of
 * any size; and what can't be read is said with a FormatError, never with another.
 */

/** How many points are complete in the beginning of a file. */
type Complete = (beginning: string) => number;

const ends = (text: string, end: string) => text.split(end).length - 1;

const trackpoints: Complete = (text) => ends(text, "</trkpt>");

const FILES: readonly [path: string, Format, Complete][] = [
  ["gpx/cut-off-in-the-middle.gpx", gpx, trackpoints],
  ["gpx/gpslogger-1.0.gpx", gpx, trackpoints],
  ["gpx/osmand-1.1.gpx", gpx, trackpoints],
  ["gpx/garmin-extensions.gpx", gpx, trackpoints],
  ["traccar/positions.gpx", gpx, trackpoints],
  ["gpx-gpxpy/gpx1.1_with_all_fields.gpx", gpx, trackpoints],
  ["kml/gxtrack.kml", kml, (text) => ends(text, "</gx:coord>")], // All times stand before the first place.
  ["kml/gxtrack-speed-accuracy.kml", kml, (text) => ends(text, "</gx:coord>") + ends(text, "<gx:coord/>")],
  ["kml/gxmultitrack.kml", kml, (text) => ends(text, "</gx:coord>") + ends(text, "</coordinates>")],
  ["kml/points-with-timestamp.kml", kml, (text) => ends(text, "</coordinates>")],
  ["tcx/positions-at-zero.tcx", tcx, (text) => ends(text, "</Trackpoint>")],
];

/** Without the device, which may be named behind the cut, and the arrays of a KML's track, which stand there too. */
function placesOf({ points }: Findings) {
  return points.map(({ timestampMs, latitude, longitude }) => [timestampMs, latitude, longitude]);
}

const CUT_OFF = /^line \d+, column \d+: the file is cut off/;

describe("a file that is cut off anywhere gives what is complete, and says that it is cut", () => {
  for (const [path, format, complete] of FILES) {
    test(path, async () => {
      const bytes = readFileSync(join(SAMPLES, path));
      const whole = await readWhole(format, contentOf(bytes));
      const rootEnd = bytes.lastIndexOf(">") + 1;
      for (let cut = 0; cut < bytes.length; cut++) {
        const beginning = bytes.subarray(0, cut);
        const found = await readWhole(format, contentOf(beginning));
        expect(placesOf(found)).toEqual(placesOf(whole).slice(0, complete(beginning.toString("latin1"))));
        if (cut < rootEnd || whole.error !== null)
          expect(found.error?.message).toMatch(cut === 0 ? /: the file is not XML$/ : CUT_OFF);
      }
    });
  }
});

test("a file gives the same in pieces of any size", async () => {
  const wholes = await Promise.all(FILES.map(([path, format]) => readWhole(format, sampleContent(path))));
  await fc.assert(
    fc.asyncProperty(
      fc.nat(FILES.length - 1),
      fc.integer({ min: 1, max: 300 }),
      async (index, pieceBytes) => {
        const [path, format] = FILES[index]!;
        expect(await readWhole(format, sampleContent(path, pieceBytes))).toEqual(wholes[index]!);
      },
    ),
  );
});

test("Deno reads all samples as Bun does", async () => {
  const child = Bun.spawn([nativeDeno(), "run", "-A", `${import.meta.dir}/xml-findings-on-deno.ts`], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const bun = JSON.parse(await xmlFindings());
  expect(bun).toHaveLength(45);
  expect(JSON.parse(await new Response(child.stdout).text())).toEqual(bun);
});

test("a file with noise in it gives what is complete before, and no other error", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(FILES.length - 1),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 20 }), markup),
      async (index, share, noise) => {
        const [path, format, complete] = FILES[index]!;
        const bytes = readFileSync(join(SAMPLES, path));
        const at = Math.floor(share * bytes.length);
        const whole = await readWhole(format, contentOf(bytes));
        const noisy = Buffer.concat([bytes.subarray(0, at), noise, bytes.subarray(at)]);
        const count = complete(bytes.subarray(0, at).toString("latin1"));
        expect(placesOf(await readWhole(format, contentOf(noisy))).slice(0, count)).toEqual(
          placesOf(whole).slice(0, count),
        );
      },
    ),
    { numRuns: 500 },
  );
});

/** Pieces of the formats themselves, where they don't belong. */
const markup = fc
  .array(
    fc.constantFrom(
      "<gx:Track>",
      "</gx:Track>",
      '<gx:SimpleArrayData name="speed">',
      "<gx:value>1</gx:value>",
      "<when/>",
      "<gx:coord>1 2</gx:coord>",
      "<trkpt>",
      "</trkpt>",
      "<trk>",
      "<Trackpoint>",
      "</Placemark>",
      "<Point><coordinates>1,2</coordinates></Point>",
      "<![CDATA[",
      "<!--",
      "]]>",
      "&",
      '"',
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => new TextEncoder().encode(parts.join("")));

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BASE_MS } from "../../support/reports/arbitrary-reports.ts";
import { ODD_TEXTS } from "../../support/reports/odd-texts.ts";
import { formatNamed, writeFile } from "../../unit/formats/write/arbitrary-records.ts";

/*
 * Files as GDAL sees them, by which QGIS and most others read.
 */

const ogrinfo = Bun.which("ogrinfo");
if (ogrinfo === null) console.warn("Left out: files as GDAL reads them, which is not here (gdal-bin).");

const DEVICES = 3;
const POINTS = 100;
/** Names that every one of these formats can hold. */
const NAMES = ["<bus> & ]]> 'x'", '=1+1,"q"', ODD_TEXTS.find((text) => text.includes("\u{1F68C}"))!];

const reports = Array.from({ length: DEVICES * POINTS }, (_, index) => {
  const step = index % POINTS;
  return {
    device_id: NAMES[Math.floor(index / POINTS)]!,
    user_id: "anna",
    timestamp: BASE_MS + step * 1000 + (step >= POINTS / 2 ? 3_600_000 : 0),
    latitude: -33.5 + step / 1000,
    longitude: 151.25 - step / 500,
    altitude: step / 10,
    speed: 8.3,
    bearing: step,
    horizontal_accuracy: 4.8,
  };
});
const EXTENT = [151.052, -33.5, 151.25, -33.401];

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "gdal-"));
});
afterAll(() => rmSync(directory, { recursive: true }));

interface Layer {
  readonly name: string;
  readonly featureCount: number;
  readonly extent: readonly number[] | null;
}

/** The layers of a file and what GDAL complained of. */
function layersOf(name: string, options: readonly string[] = []): { layers: Layer[]; complaints: string[] } {
  const path = join(directory, `export${formatNamed(name).extension}`);
  writeFileSync(path, writeFile(name, [reports.slice(0, 150), reports.slice(150)]));
  const { stdout, stderr, exitCode } = Bun.spawnSync([ogrinfo!, "-ro", "-al", "-so", ...options, path]);
  expect(exitCode).toBe(0);
  const layers = stdout
    .toString()
    .split(/^Layer name: /m)
    .slice(1)
    .map((text) => {
      const [, west, south, east, north] = /^Extent: \((.*), (.*)\) - \((.*), (.*)\)$/m.exec(text) ?? [];
      return {
        name: text.split("\n")[0]!,
        featureCount: Number(/^Feature Count: (\d+)$/m.exec(text)?.[1]),
        extent: west === undefined ? null : [west, south, east, north].map(Number),
      };
    });
  return { layers, complaints: stderr.toString().split("\n").filter(Boolean) };
}

for (const name of ["geojson", "geojsonseq"]) {
  test.if(ogrinfo !== null)(`GDAL reads ${name}: every record a point`, () => {
    const { layers, complaints } = layersOf(name);
    expect(layers).toEqual([{ name: "export", featureCount: reports.length, extent: EXTENT }]);
    expect(complaints).toEqual([]);
  });
}

test.if(ogrinfo !== null)("GDAL reads csv: every record a row", () => {
  const options = ["-oo", "X_POSSIBLE_NAMES=longitude", "-oo", "Y_POSSIBLE_NAMES=latitude"];
  const { layers, complaints } = layersOf("csv", options);
  expect(layers).toEqual([{ name: "export", featureCount: reports.length, extent: EXTENT }]);
  expect(complaints).toEqual([]);
});

test.if(ogrinfo !== null)("GDAL reads gpx: a track a device, every record a point of it", () => {
  const { layers, complaints } = layersOf("gpx");
  expect(layers.filter(({ featureCount }) => featureCount > 0)).toEqual([
    { name: "tracks", featureCount: DEVICES, extent: EXTENT },
    { name: "track_points", featureCount: reports.length, extent: EXTENT },
  ]);
  // It guesses that an extension is a number where it begins with one, and then says that Garmin's is more.
  expect(
    complaints.filter((line) => !line.includes("gpxtpx_TrackPointExtension parsed incompletely")),
  ).toEqual([]);
});

for (const name of ["kml", "kmz"]) {
  test.if(ogrinfo !== null)(`GDAL reads ${name}: a track a device`, () => {
    const { layers, complaints } = layersOf(name);
    expect(layers.map(({ featureCount, extent }) => ({ featureCount, extent }))).toEqual([
      { featureCount: DEVICES, extent: EXTENT },
    ]);
    expect(complaints).toEqual([]);
  });
}

import { describe, expect, test } from "bun:test";
import { parseZone } from "../../../../src/model/time/zone.ts";
import * as fc from "../../../support/fast-check.ts";
import { BASE_MS } from "../../../support/reports/arbitrary-reports.ts";
import type { Report } from "../../../support/reports/batches.ts";
import { arbitraryAnyReport, writeText } from "./arbitrary-records.ts";

/** The obvious way. */
function featureOf({ latitude, longitude, ...rest }: Report) {
  const altitude = typeof rest.altitude === "number" ? [rest.altitude] : [];
  const time = new Date(rest.timestamp as number).toISOString();
  return {
    type: "Feature",
    geometry: { type: "Point", coordinates: [longitude, latitude, ...altitude] },
    properties: { ...rest, time },
  };
}

/** JSON knows one zero. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
const batches = fc.array(fc.array(arbitraryAnyReport, { maxLength: 4 }), { maxLength: 3 });

describe("geojson", () => {
  test("is a FeatureCollection of Points with all else as properties, however it is written piece by piece", () => {
    fc.assert(
      fc.property(batches, (written) => {
        expect(JSON.parse(writeText("geojson", written))).toEqual({
          type: "FeatureCollection",
          features: plain(written.flat().map(featureOf)),
        });
      }),
    );
  });

  test("has a Feature a line between the first and the last", () => {
    const report = { device_id: "a", timestamp: BASE_MS, latitude: 1, longitude: 2, altitude: 3 };
    const lines = writeText("geojson", [[report], [report, report]]).split("\n");
    expect(lines).toHaveLength(6);
    expect(lines[0]).toBe('{"type":"FeatureCollection","features":[');
    for (const line of lines.slice(1, 4)) {
      expect(JSON.parse(line.replace(/,$/, ""))).toEqual(plain(featureOf(report)));
    }
    expect(lines.slice(4)).toEqual(["]}", ""]);
  });

  test("says so where tracks were simplified, and the local time where a zone was asked for", () => {
    const report = { device_id: "a", timestamp: BASE_MS, latitude: 1, longitude: 2 };
    const options = { simplifyMeters: 10, zone: parseZone("Asia/Tokyo") };
    const { simplified_meters, features } = JSON.parse(writeText("geojson", [[report]], options));
    expect(simplified_meters).toBe(10);
    expect(features[0].properties.local_time).toBe("2026-01-15T09:00:00.000+09:00");
  });
});

describe("geojsonseq", () => {
  test("is a Feature per line, after RFC 8142's separator if requested", () => {
    fc.assert(
      fc.property(batches, fc.boolean(), (written, recordSeparator) => {
        const lines = writeText("geojsonseq", written, { recordSeparator }).split("\n");
        expect(lines.pop()).toBe("");
        for (const line of lines) expect(line.startsWith("\u001e")).toBe(recordSeparator);
        const features = lines.map((line) => JSON.parse(line.replace("\u001e", "")));
        expect(features).toEqual(plain(written.flat().map(featureOf)));
      }),
    );
  });
});

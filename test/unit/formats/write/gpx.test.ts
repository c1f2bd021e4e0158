import { expect, test } from "bun:test";
import * as fc from "../../../support/fast-check.ts";
import { BASE_MS } from "../../../support/reports/arbitrary-reports.ts";
import { someNames, writeText } from "./arbitrary-records.ts";
import { arbitraryTracks, splitBefore, xmlNumber, xmlText } from "./arbitrary-tracks.ts";
import { childrenNamed, parseXml, textOf, type XmlElement } from "./xml-tree.ts";

const GAP_MS = 5 * 60_000;

/** What a point says; undefined where it says nothing. */
function pointOf(point: XmlElement) {
  const number = (name: string) => {
    const text = textOf(point, name);
    if (text !== undefined) expect(text).toMatch(/^-?\d+(\.\d+)?$/); // Decimals of a schema have no exponent.
    return text === undefined ? undefined : Number(text);
  };
  expect(point.attributes.lat).toMatch(/^-?\d+(\.\d+)?$/);
  return {
    latitude: Number(point.attributes.lat),
    longitude: Number(point.attributes.lon),
    altitude: number("ele"),
    time: textOf(point, "time"),
    speed: number("gpxtpx:speed"),
    bearing: number("gpxtpx:course"),
    horizontal_accuracy: number("wh:hAcc"),
    vertical_accuracy: number("wh:vAcc"),
  };
}

function namesOf(deviceId: string) {
  const name = someNames(deviceId);
  return { name: xmlText(name ?? deviceId), deviceId: name === null ? undefined : xmlText(deviceId) };
}

test("has a track a device, a segment a stretch without silence, and every point as it was", () => {
  fc.assert(
    fc.property(arbitraryTracks, ({ reports, batches }) => {
      const gpx = parseXml(writeText("gpx", batches, { gapMs: GAP_MS }, someNames));
      const tracks = childrenNamed(gpx, "trk").map((track) => ({
        name: textOf(track, "name"),
        deviceId: textOf(track, "wh:deviceId"),
        segments: childrenNamed(track, "trkseg").map((segment) => segment.children.map(pointOf)),
      }));
      const expected = splitBefore(reports, (a, b) => a.device_id !== b.device_id).map((ofDevice) => ({
        ...namesOf(ofDevice[0]!.device_id),
        segments: splitBefore(ofDevice, (a, b) => a.timestamp - b.timestamp > GAP_MS).map((stretch) =>
          stretch.map((report) => ({
            latitude: xmlNumber(report.latitude),
            longitude: report.longitude === 180 ? -180 : xmlNumber(report.longitude),
            altitude: xmlNumber(report.altitude),
            time: new Date(report.timestamp).toISOString(),
            speed: xmlNumber(report.speed),
            bearing: report.bearing === 360 ? 0 : xmlNumber(report.bearing),
            horizontal_accuracy: xmlNumber(report.horizontal_accuracy),
            vertical_accuracy: xmlNumber(report.vertical_accuracy),
          })),
        ),
      }));
      expect(tracks).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});

test("says so where tracks were simplified", () => {
  const report = { device_id: "a", timestamp: BASE_MS, latitude: 1, longitude: 2 };
  const gpx = parseXml(writeText("gpx", [[report]], { simplifyMeters: 10 }));
  expect(gpx.children.map(({ name }) => name)).toEqual(["metadata", "trk"]);
  expect(textOf(gpx, "desc")).toBe("Simplified: removed points are within 10 m of the tracks.");
});

test("is a whole file without records too, and none where it was cut off", () => {
  const report = { device_id: "a", timestamp: BASE_MS, latitude: 1, longitude: 2 };
  expect(parseXml(writeText("gpx", [])).children).toEqual([]);
  const text = writeText("gpx", [[report, { ...report, device_id: "b" }]]);
  const end = text.trimEnd().length;
  for (let length = 0; length < end; length += 7) expect(() => parseXml(text.slice(0, length))).toThrow();
});

import { describe, expect, test } from "bun:test";
import * as fc from "../../../support/fast-check.ts";
import { unzip } from "../../../support/formats/unzip.ts";
import { BASE_MS } from "../../../support/reports/arbitrary-reports.ts";
import { someNames, writeFile, writeText } from "./arbitrary-records.ts";
import { arbitraryTracks, splitBefore, xmlNumber, xmlText } from "./arbitrary-tracks.ts";
import { childrenNamed, parseXml, textOf, type XmlElement } from "./xml-tree.ts";

const GAP_MS = 5 * 60_000;

/** The points of a track, whose columns must be of one length. */
function pointsOf(track: XmlElement) {
  const isAbsolute = textOf(track, "altitudeMode") === "absolute";
  const whens = childrenNamed(track, "when");
  const coords = childrenNamed(track, "gx:coord");
  const data = childrenNamed(track, "ExtendedData")[0]?.children[0]?.children ?? [];
  const column = (name: string) => data.find(({ attributes }) => attributes.name === name)?.children;
  for (const values of [coords, ...data.map(({ children }) => children)])
    expect(values.length).toBe(whens.length);
  return whens.map(({ text }, index) => {
    const [longitude, latitude, altitude] = coords[index]!.text.split(" ").map(Number);
    const value = (name: string) => {
      const number = column(name)?.[index]?.text ?? "";
      return number === "" ? undefined : Number(number);
    };
    return {
      time: text,
      latitude,
      longitude,
      altitude: isAbsolute ? altitude : undefined,
      speed: value("speed"),
      horizontal_accuracy: value("accuracy"),
      bearing: value("bearing"),
    };
  });
}

function namesOf(deviceId: string) {
  const name = someNames(deviceId);
  const value = { name: "value", attributes: {}, children: [], text: xmlText(deviceId) };
  const data = { name: "Data", attributes: { name: "device_id" }, children: [value], text: "" };
  return { name: xmlText(name ?? deviceId), deviceId: name === null ? undefined : data };
}

describe("kml", () => {
  test("has a Placemark a device, a track a stretch without silence, and every point as it was", () => {
    fc.assert(
      fc.property(arbitraryTracks, ({ reports, batches }) => {
        const document = parseXml(writeText("kml", batches, { gapMs: GAP_MS }, someNames)).children[0]!;
        const placemarks = childrenNamed(document, "Placemark").map((placemark) => ({
          name: textOf(placemark, "name"),
          deviceId: placemark.children.find(({ name }) => name === "ExtendedData")?.children[0],
          tracks: childrenNamed(childrenNamed(placemark, "gx:MultiTrack")[0]!, "gx:Track").map(pointsOf),
        }));
        const hasAltitude = ({ altitude }: { altitude?: number }) => altitude !== undefined;
        const expected = splitBefore(reports, (a, b) => a.device_id !== b.device_id).map((ofDevice) => ({
          ...namesOf(ofDevice[0]!.device_id),
          tracks: splitBefore(
            ofDevice,
            (a, b) => a.timestamp - b.timestamp > GAP_MS || hasAltitude(a) !== hasAltitude(b),
          ).map((stretch) =>
            stretch.map((report) => ({
              time: new Date(report.timestamp).toISOString(),
              latitude: xmlNumber(report.latitude),
              longitude: xmlNumber(report.longitude),
              altitude: xmlNumber(report.altitude),
              speed: xmlNumber(report.speed),
              horizontal_accuracy: xmlNumber(report.horizontal_accuracy),
              bearing: xmlNumber(report.bearing),
            })),
          ),
        }));
        expect(placemarks).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  test("continues a long track in another one", () => {
    const reports = Array.from({ length: 9000 }, (_, index) => {
      return { device_id: "a", timestamp: BASE_MS + index, latitude: 1, longitude: 2 };
    });
    const later = (ms: number) => reports.map((report) => ({ ...report, timestamp: report.timestamp + ms }));
    const kml = parseXml(writeText("kml", [reports, later(10_000), later(20_000)]));
    const tracks = childrenNamed(
      childrenNamed(kml.children[0]!.children.at(-1)!, "gx:MultiTrack")[0]!,
      "gx:Track",
    );
    expect(tracks.map((track) => childrenNamed(track, "when").length)).toEqual([20_000, 7_000]);
  });

  test("has no column of what nothing is known of", () => {
    const report = { device_id: "a", timestamp: BASE_MS, latitude: 1, longitude: 2 };
    const text = writeText("kml", [
      [
        { ...report, speed: 1 },
        { ...report, timestamp: BASE_MS + 10 * GAP_MS },
      ],
    ]);
    expect(text.match(/<gx:SimpleArrayData name="\w+">/g)).toEqual(['<gx:SimpleArrayData name="speed">']);
  });

  test("says so where tracks were simplified", () => {
    const report = { device_id: "a", timestamp: BASE_MS, latitude: 1, longitude: 2 };
    const text = writeText("kml", [[report]], { simplifyMeters: 10 });
    expect(textOf(parseXml(text), "description")).toBe(
      "Simplified: removed points are within 10 m of the tracks.",
    );
  });
});

test("kmz is a zip with that KML in it", async () => {
  const batches = [1, 2, 3].map((batch) =>
    Array.from({ length: 500 }, (_, index) => {
      return { device_id: `bus ${batch}`, timestamp: BASE_MS + index, latitude: index / 100, longitude: 2 };
    }),
  );
  const entries = await unzip(writeFile("kmz", batches));
  expect(entries.map(({ name }) => name)).toEqual(["doc.kml"]);
  expect(entries[0]!.bytes).toEqual(writeFile("kml", batches));
});

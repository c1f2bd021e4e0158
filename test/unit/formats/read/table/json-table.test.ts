import { expect, test } from "bun:test";
import { readBeginning } from "../../../../../src/formats/read/beginning.ts";
import { HeaderError } from "../../../../../src/formats/read/format.ts";
import { FORMATS } from "../../../../../src/formats/read/formats.ts";
import { recognise } from "../../../../../src/formats/read/recognise.ts";
import { jsonTable } from "../../../../../src/formats/read/table/json-table.ts";
import { contentOf, readWhole } from "../../../../support/formats/read-file.ts";

const TIME_MS = 1_780_308_000_000;
const HERE = { timestampMs: TIME_MS, latitude: 52.5, longitude: 13.4, device: null, user: null };

const file = (value: unknown) => contentOf(JSON.stringify(value), { name: "location_data.json" });

async function formatOf(value: unknown): Promise<string | null> {
  const found = recognise(await readBeginning(file(value)), FORMATS);
  return found.kind === "history" && typeof found.format !== "string" ? found.format.name : null;
}

test("jsonTable reads a list of plain objects, by itself or in an object", async () => {
  const rows = [{ timestamp: TIME_MS, latitude: 52.5, longitude: 13.4 }];
  for (const value of [rows, { points: rows }, { data: rows, version: 1 }]) {
    expect(await formatOf(value)).toBe("json");
    expect((await readWhole(jsonTable, file(value))).points).toEqual([{ ...HERE, details: {} }]);
  }
  expect(await formatOf([{ name: "x", timestamp: TIME_MS }])).toBeNull();
});

test("jsonTable asks for the columns that it doesn't know, and takes them from the operator", async () => {
  const samsung = [{ start_time: TIME_MS, latitude: 52.5, longitude: 13.4, altitude: 30, accuracy: 4 }];
  expect(await formatOf(samsung)).toBe("json");
  const { error, points } = await readWhole(jsonTable, file(samsung));
  expect([error, points]).toEqual([expect.any(HeaderError), []]);
  expect(error?.message).toContain('"start_time", "latitude"');
  const columns = new Map([["timestamp", "start_time"]]);
  expect((await readWhole(jsonTable, file(samsung), { columns })).points).toEqual([
    { ...HERE, details: { horizontal_accuracy: 4, altitude: 30 } },
  ]);
});

test("jsonTable reads each object by the members that it has", async () => {
  const { points, skips } = await readWhole(
    jsonTable,
    file([
      { time: "2026-06-01T10:00:00Z", lat: "52.5", lon: "13.4" },
      { lat: 52.5, lon: 13.4, time: TIME_MS, ele: "high", speed: 2, is_mock: true, device: "d" },
      { tst: TIME_MS / 1000, latitude: 52.5, longitude: 13.4, alt: 7 },
      { lat: 52.5, lon: 13.4 },
      { lat: null, lon: "", time: "soon" },
      7,
    ]),
  );
  expect(points).toEqual([
    { ...HERE, details: {} },
    { ...HERE, device: "d", details: { speed: 2, is_mock: true }, unreadable: ["altitude"] },
    { ...HERE, details: { altitude: 7 } },
    { ...HERE, timestampMs: null, details: {} },
    { ...HERE, timestampMs: Number.NaN, latitude: null, longitude: null, details: {} },
  ]);
  expect(skips).toEqual({ unreadable: 1 });
});

import { expect, test } from "bun:test";
import { BASE_MS } from "../../../support/reports/arbitrary-reports.ts";
import { writeText } from "./arbitrary-records.ts";

const REPORT = {
  device_id: "anna:pixel",
  timestamp: BASE_MS + 999,
  latitude: 52.5,
  longitude: -13.25,
  horizontal_accuracy: 4.8,
  vertical_accuracy: 3,
  altitude: -0.2,
  speed: 8.3,
  bearing: 58.5,
  battery_level: 81.4,
  battery_status: "Charging",
};

test("owntracks is what the Recorder answers, with the count behind the locations", () => {
  const bare = { device_id: "bus/7", timestamp: BASE_MS, latitude: 0, longitude: 0 };
  const file = JSON.parse(writeText("owntracks", [[REPORT], [bare]]));
  expect(Object.keys(file)).toEqual(["locations", "count"]);
  expect(file).toEqual({
    count: 2,
    locations: [
      {
        _type: "location",
        lat: 52.5,
        lon: -13.25,
        tst: BASE_MS / 1000,
        acc: 5,
        vac: 3,
        alt: 0,
        vel: 30,
        cog: 59,
        batt: 81,
        bs: 2,
        tid: "el",
        topic: "owntracks/anna/pixel",
      },
      { _type: "location", lat: 0, lon: 0, tst: BASE_MS / 1000, tid: "/7", topic: "owntracks/bus_7" },
    ],
  });
});

test("owntracks without a location, and simplified", () => {
  expect(JSON.parse(writeText("owntracks", []))).toEqual({ locations: [], count: 0 });
  expect(JSON.parse(writeText("owntracks", [[REPORT]], { simplifyMeters: 5 })).simplified_meters).toBe(5);
});

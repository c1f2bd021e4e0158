import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { haversineMeters } from "../../../../src/model/geo/distance.ts";
import { diagnoseUnits } from "../../../../src/service/doctor/diagnoses.ts";
import { type Fix, SpeedRatios } from "../../../../src/service/doctor/speed-ratios.ts";
import { csvRows, readTestData } from "../../../support/test-data.ts";

/*
 * Real buses and trains, whose speeds are in the right unit and in each wrong one. A device is judged after every few
 * positions, as if somebody looked all the time.
 */

const LOOK_EVERY = 20;
const DAYS = 3;
const DAY_MS = 86_400_000;

/** Speeds as they are understood, by the verdict that they should get. */
const WRONG_UNITS = {
  "km/h that are taken for m/s": 3.6,
  "knots that are taken for m/s": 1 / 0.514444,
  "mph that are taken for m/s": 1 / 0.44704,
  "m/s that are taken for km/h": 1 / 3.6,
  "m/s that are taken for knots": 0.514444,
} as const;

type Tracks = ReadonlyMap<string, readonly Fix[]>;

/** What was said of each device, each thing once; devices of which nothing could be said are left out. */
function saidOf(tracks: Tracks, factor: number): Map<string, Set<string>> {
  const said = new Map<string, Set<string>>();
  for (const [deviceId, fixes] of tracks) {
    const ratios = new SpeedRatios();
    ratios.clear(0);
    for (const [index, fix] of fixes.entries()) {
      ratios.note(0, { ...fix, speed: fix.speed * factor });
      if (index % LOOK_EVERY !== 0) continue;
      const median = ratios.median(0);
      if (median === null) continue;
      const verdict =
        diagnoseUnits(median, "overland")?.what.slice("Speeds look like ".length, -1) ?? "nothing";
      said.set(deviceId, (said.get(deviceId) ?? new Set()).add(verdict));
    }
  }
  return said;
}

/** Of the verdicts that devices got the share that is this one; those of which nothing was said count against it. */
function shareOf(said: ReadonlyMap<string, ReadonlySet<string>>, verdict: string): number {
  return [...said.values()].filter((verdicts) => verdicts.has(verdict)).length / said.size;
}

function tracksOf(rows: readonly string[][], speedColumn: number | null): Tracks {
  const tracks = new Map<string, Fix[]>();
  for (const row of rows) {
    const speed = speedColumn === null || row[speedColumn] === "" ? Number.NaN : Number(row[speedColumn]);
    const fixes = tracks.get(row[0]!) ?? [];
    tracks.set(row[0]!, fixes);
    const [timestampMs, latitude, longitude] = row.slice(1, 4).map(Number) as [number, number, number];
    if (timestampMs > (fixes.at(-1)?.timestampMs ?? 0)) {
      fixes.push({ timestampMs, latitude, longitude, accuracyMeters: Number.NaN, speed });
    }
  }
  return tracks;
}

/** What a speedometer would have shown, where a track has none: the way to each position in its time, and bends. */
function withSpeeds(tracks: Tracks): Tracks {
  const BEND = 1.05;
  return new Map(
    [...tracks].map(([deviceId, fixes]) => [
      deviceId,
      fixes.map((fix, index) => {
        const from = fixes[index - 1];
        if (from === undefined) return fix;
        const meters = haversineMeters(from.latitude, from.longitude, fix.latitude, fix.longitude);
        return { ...fix, speed: (BEND * meters) / ((fix.timestampMs - from.timestampMs) / 1000) };
      }),
    ]),
  );
}

/** The same trips on some days, one after the other: a trip alone is too short to judge by. */
function onSomeDays(tracks: Tracks): Tracks {
  const days = Array.from({ length: DAYS }, (_, day) => day * DAY_MS);
  return new Map(
    [...tracks].map(([deviceId, fixes]) => [
      deviceId,
      days.flatMap((later) => fixes.map((fix) => ({ ...fix, timestampMs: fix.timestampMs + later }))),
    ]),
  );
}

describe("Liverpool's buses, with the speeds of their positions", () => {
  const sample = join(import.meta.dir, "../../../../data/samples/bus_liverpool_route14_20260126.csv.gz");
  const tracks = onSomeDays(withSpeeds(tracksOf(csvRows(gunzipSync(readFileSync(sample)).toString()), null)));

  test("are right in m/s", () => {
    const said = saidOf(tracks, 1);
    expect(said.size).toBe(8);
    expect(new Set([...said.values()].flatMap((verdicts) => [...verdicts]))).toEqual(new Set(["nothing"]));
  });

  test.each(Object.entries(WRONG_UNITS))("look like %s", (verdict, factor) => {
    const said = saidOf(tracks, factor);
    expect(new Set([...said.values()].flatMap((verdicts) => [...verdicts]))).toEqual(new Set([verdict]));
  });
});

const boston = readTestData("tracks/gtfsrt_mbta_20221122.csv.gz");

if (boston !== null) {
  describe("Boston's buses and trains, with the speeds they report", () => {
    const all = tracksOf(csvRows(boston), 4);

    test("are never said to be in a wrong unit", () => {
      const said = saidOf(all, 1);
      expect(said.size).toBeGreaterThanOrEqual(20);
      expect(new Set([...said.values()].flatMap((verdicts) => [...verdicts]))).toEqual(new Set(["nothing"]));
    });

    // Knots and mph are 15 % apart, and some of these devices report as much too little or too much.
    test.each(Object.entries(WRONG_UNITS))("mostly look like %s", (verdict, factor) => {
      expect(shareOf(saidOf(all, factor), verdict)).toBeGreaterThan(0.7);
    });
  });
}

import KDBush from "kdbush";
import type { MaybePromise } from "../lib/schedule/maybe-promise.ts";
import type { Scheduler } from "../lib/schedule/scheduler.ts";
import type { Steps } from "../lib/schedule/steps.ts";
import { DOT, LF, MINUS, TAB, ZERO } from "../lib/text/ascii.ts";
import { NEAR_METERS_MAX, PlaceGrid, Places } from "./places.ts";

/*
 * The file of places: their count, then a line for each, with latitude, longitude, country and name separated by tabs.
 * The lines are in kdbush's order, since sorting blocks the event loop for 30 to 160 ms. The file isn't compressed,
 * since Deno decompresses without yielding, too.
 *
 *   135143
 *   -16.50741	-151.74913	PF	Vaitape
 *   ...
 */

/** The points in a leaf of the tree. The order of the file's lines depends on it. */
export const LEAF_POINTS_MAX = 32;

/** About 0.1 ms. */
const STEP_LINES = 512;

/** Degrees have five decimals, so without their point they are integers in this unit. */
const UNITS_PER_DEGREE = 1e5;

/** Throws if the file is malformed. */
export function* readPlaces(file: Uint8Array): Steps<Places> {
  const linesAt = file.indexOf(LF) + 1;
  const count = Number(new TextDecoder().decode(file.subarray(0, linesAt)));
  const points = new KDBush(count, LEAF_POINTS_MAX);
  const grid = new PlaceGrid(NEAR_METERS_MAX);
  const namesAt = new Uint32Array(count);
  let start = linesAt;
  for (let row = 0; row < count; row++) {
    if (start === file.length) throw new Error(`the file holds ${row} places, and not ${count}`);
    const longitudeAt = file.indexOf(TAB, start) + 1;
    const countryAt = file.indexOf(TAB, longitudeAt) + 1;
    const latitude = degreesIn(file, start, longitudeAt - 1);
    const longitude = degreesIn(file, longitudeAt, countryAt - 1);
    if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180))
      throw new Error(`place ${row} is not on the earth`);
    points.add(longitude, latitude);
    grid.add(latitude, longitude);
    namesAt[row] = countryAt;
    start = file.indexOf(LF, countryAt) + 1;
    if (start === 0) throw new Error(`place ${row} is incomplete`);
    if (row % STEP_LINES === 0) yield;
  }
  if (count === 0 || start !== file.length) throw new Error(`the file holds more than ${count} places`);
  return new Places({ tree: KDBush.from(points.data), grid, file, namesAt });
}

/** Parses the bytes in place: by way of strings, reading all places took twice as long, and 20 MB more. */
function degreesIn(file: Uint8Array, start: number, end: number): number {
  let units = 0;
  for (let at = start; at < end; at++) {
    const byte = file[at]!;
    if (byte !== MINUS && byte !== DOT) units = units * 10 + byte - ZERO;
  }
  return (file[start] === MINUS ? -units : units) / UNITS_PER_DEGREE;
}

/** GeoNames' cities; data/places/README.md describes how the file was made. */
export const PLACES_FILE = import.meta.resolve("../../data/places/cities.tsv");

/** The scheduler's name for this work. It differs from every app, whose name is never empty. */
const OWNER = "";

/** Rejects if the file can't be read; the next call tries again. */
export type LoadPlaces = () => MaybePromise<Places>;

/** Reads the places at the first call, once for all concurrent callers. */
export function createPlacesLoader(
  readAsset: (specifier: string) => Promise<Uint8Array>,
  scheduler: Scheduler,
): LoadPlaces {
  let places: Places | null = null;
  let loading: Promise<Places> | null = null;

  async function load(): Promise<Places> {
    try {
      places = await scheduler.run(OWNER, readPlaces(await readAsset(PLACES_FILE)));
      return places;
    } catch (cause) {
      throw new Error("Cannot read the names of places", { cause });
    } finally {
      loading = null;
    }
  }

  return () => {
    if (places !== null) return places;
    loading ??= load();
    return loading;
  };
}

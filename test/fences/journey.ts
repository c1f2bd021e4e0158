import { createSite, type PlanePoint, type Site } from "./site.ts";

/*
 * Where a device really is for some days: stays deep inside the area, next door and far away, and straight ways between
 * them, on foot or by car. All ways cross the border at one place or pass by at a distance.
 */

/** A report before anything goes wrong with it. */
export interface TruePoint extends PlanePoint {
  readonly timestampMs: number;
  readonly depthMeters: number;
  /** Counts stays from 0; null on the way. */
  readonly stay: number | null;
}

/** When the device crosses the border. */
export interface Crossing {
  readonly kind: "enter" | "exit";
  readonly timestampMs: number;
}

export interface Journey {
  readonly site: Site;
  readonly points: readonly TruePoint[];
  readonly crossings: readonly Crossing[];
}

/** Stays inside are at least this deep, so that good fixes there are inside. */
const DEPTH_METERS = 50;
/** Next door: the edge of the plot, where a good fix is still outside. */
const NEXT_DOOR_METERS = 65;
const PASSING_METERS = 30;

const START_MS = Date.UTC(2026, 2, 27);
const MINUTE_MS = 60_000;

export function createJourney(random: () => number, days: number): Journey {
  const site = createSite(random);
  const points: TruePoint[] = [];
  const crossings: Crossing[] = [];
  let timestampMs = START_MS + random() * 24 * 60 * MINUTE_MS;
  const endMs = timestampMs + days * 24 * 60 * MINUTE_MS;
  let place = outsidePoint(site, random);
  for (let stay = 0; ; stay++) {
    const lengthMs = (20 + 200 * random() ** 2) * MINUTE_MS;
    const intervalMs = (0.5 + 4 * random()) * MINUTE_MS;
    for (const leaveMs = timestampMs + lengthMs; timestampMs < leaveMs; timestampMs += intervalMs)
      points.push(pointAt(site, timestampMs, place, stay));
    const isInside = site.depthMeters(place) > 0;
    if (timestampMs > endMs && !isInside) return { site, points, crossings };
    const next = nextPlace(site, place, random);
    const metersPerSecond = random() < 0.4 ? 1.2 : 8 + 15 * random();
    const wayMs = (metersBetween(place, next) / metersPerSecond) * 1000;
    const everyMs = (5 + 20 * random()) * 1000;
    for (let passedMs = everyMs / 2; passedMs < wayMs; passedMs += everyMs)
      points.push(pointAt(site, timestampMs + passedMs, between(place, next, passedMs / wayMs), null));
    if (isInside !== site.depthMeters(next) > 0) {
      const kind = isInside ? "exit" : "enter";
      crossings.push({ kind, timestampMs: timestampMs + wayMs * partAtBorder(site, place, next) });
    }
    timestampMs += wayMs;
    place = next;
  }
}

function pointAt(site: Site, timestampMs: number, point: PlanePoint, stay: number | null): TruePoint {
  return { ...point, timestampMs: Math.round(timestampMs), depthMeters: site.depthMeters(point), stay };
}

function nextPlace(site: Site, place: PlanePoint, random: () => number): PlanePoint {
  const isInside = site.depthMeters(place) > 0;
  for (;;) {
    const next = random() < 0.6 ? insidePoint(site, random) : outsidePoint(site, random);
    const isNextInside = site.depthMeters(next) > 0;
    if (isInside || isNextInside || passesBy(site, place, next)) return next;
  }
}

function insidePoint(site: Site, random: () => number): PlanePoint {
  for (;;) {
    const point = pointAround(site.reachMeters * random(), random);
    if (site.depthMeters(point) >= DEPTH_METERS) return point;
  }
}

/** Often next door. */
function outsidePoint(site: Site, random: () => number): PlanePoint {
  for (;;) {
    const beyond = NEXT_DOOR_METERS + (random() < 0.5 ? 60 : 3000) * random();
    const point = pointAround(site.reachMeters + beyond * random(), random);
    if (site.depthMeters(point) <= -NEXT_DOOR_METERS) return point;
  }
}

function pointAround(meters: number, random: () => number): PlanePoint {
  const direction = random() * 2 * Math.PI;
  return { east: meters * Math.cos(direction), north: meters * Math.sin(direction) };
}

function passesBy(site: Site, from: PlanePoint, to: PlanePoint): boolean {
  const steps = Math.ceil(metersBetween(from, to) / 5);
  for (let step = 0; step <= steps; step++)
    if (site.depthMeters(between(from, to, step / steps)) > -PASSING_METERS) return false;
  return true;
}

/** The areas are convex, so a way from one side to the other crosses the border once. */
function partAtBorder(site: Site, from: PlanePoint, to: PlanePoint): number {
  const isInside = site.depthMeters(from) > 0;
  let [low, high] = [0, 1];
  for (let step = 0; step < 40; step++) {
    const middle = (low + high) / 2;
    if (site.depthMeters(between(from, to, middle)) > 0 === isInside) low = middle;
    else high = middle;
  }
  return low;
}

function metersBetween(a: PlanePoint, b: PlanePoint): number {
  return Math.hypot(b.east - a.east, b.north - a.north);
}

function between(a: PlanePoint, b: PlanePoint, part: number): PlanePoint {
  return { east: a.east + (b.east - a.east) * part, north: a.north + (b.north - a.north) * part };
}

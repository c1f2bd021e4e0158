import type { Crossing, Journey, TruePoint } from "./journey.ts";

/*
 * What a server gets of a journey: fixes with errors, in batches, some late, some twice, some with a wrong clock, some
 * never. Errors are bounded, so what must be recognised follows: no good fix is inside 14 m outside the border, none is
 * outside 16 m inside that.
 */

/** As the body of a report has it. */
export interface Report {
  readonly timestamp: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly horizontal_accuracy: number;
}

/** An event that a program must make, and between which times. */
export interface Expected {
  readonly kind: Crossing["kind"];
  /** When the device crossed the border. */
  readonly timestamp: number;
  readonly earliest: number;
  readonly latest: number;
}

export interface DegradedJourney {
  readonly journey: Journey;
  /** In the order of arrival. */
  readonly batches: readonly (readonly Report[])[];
  readonly expected: readonly Expected[];
}

/** A fix before it is sent. */
interface Fix {
  readonly point: TruePoint;
  readonly report: Report;
  readonly isGood: boolean;
}

interface Arrival {
  readonly arrivalMs: number;
  readonly report: Report;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Errors are at most this many accuracies. */
const ERROR_MAX = 1.2;
const GOOD_ACCURACY_MIN = 4;
const GOOD_ACCURACY_MAX = 20;
/** Good fixes at this depth are surely inside, and beyond this distance surely outside. */
const SURE_DEPTH_METERS = 34;
const SURE_DISTANCE_METERS = 64;
/** Good fixes that a stay has after all losses. */
const STAY_FIXES_MIN = 4;
/** The constant error of a clock, and what a time of an event may be off. */
const CLOCK_ERROR_MS = 90 * SECOND_MS;
const SLACK_MS = 2 * MINUTE_MS;

export function degrade(journey: Journey, random: () => number): DegradedJourney {
  const clockErrorMs = random() < 0.3 ? Math.round((2 * random() - 1) * CLOCK_ERROR_MS) : 0;
  const measured = journey.points.map((point) => measure(journey, point, clockErrorMs, random));
  const fixes = loseSome(measured, random);
  const expected = journey.crossings.map((crossing) => expectedOf(crossing, fixes));
  const sent = withWrongTimes(fixes, random);
  return { journey, batches: deliver(sent, random), expected };
}

/** One fix in eight is poor: up to a kilometer off, as it says. */
function measure({ site }: Journey, point: TruePoint, clockErrorMs: number, random: () => number): Fix {
  const isGood = random() < 0.875;
  const accuracy = isGood
    ? GOOD_ACCURACY_MIN + (GOOD_ACCURACY_MAX - GOOD_ACCURACY_MIN) * random()
    : 60 * (1000 / 60) ** random();
  // Most errors are within the accuracy, as its definition asks for.
  const errorMeters = Math.min(ERROR_MAX, Math.sqrt(-2 * Math.log(1 - random())) / 1.515) * accuracy * 0.999;
  const direction = random() * 2 * Math.PI;
  const shown = {
    east: point.east + errorMeters * Math.cos(direction),
    north: point.north + errorMeters * Math.sin(direction),
  };
  const report = {
    timestamp: point.timestampMs + clockErrorMs,
    ...site.position(shown),
    horizontal_accuracy: Math.round(accuracy * 10) / 10,
  };
  return { point, report, isGood };
}

/** Loses single fixes and stretches of up to three hours, in which a device may cross the border, but no whole stay. */
function loseSome(fixes: readonly Fix[], random: () => number): Fix[] {
  let rest = fixes.filter(() => random() > 0.05);
  if (!hasAllStays(rest, fixes)) rest = [...fixes];
  const days = (fixes.at(-1)!.report.timestamp - fixes[0]!.report.timestamp) / DAY_MS;
  for (let gap = 0; gap < 4 * days; gap++) {
    const startMs = fixes[Math.floor(random() * fixes.length)]!.report.timestamp;
    const endMs = startMs + 3 * HOUR_MS * random();
    const remaining = rest.filter(({ report }) => report.timestamp < startMs || report.timestamp >= endMs);
    if (hasAllStays(remaining, fixes)) rest = remaining;
  }
  return rest;
}

function hasAllStays(rest: readonly Fix[], all: readonly Fix[]): boolean {
  const counts = new Map<number | null, number>();
  for (const { point, isGood } of rest) if (isGood) counts.set(point.stay, (counts.get(point.stay) ?? 0) + 1);
  return all.every(({ point }) => point.stay === null || (counts.get(point.stay) ?? 0) >= STAY_FIXES_MIN);
}

/** An event may be as early as the last fix that is surely on the old side, as late as the second on the new one. */
function expectedOf({ kind, timestampMs }: Crossing, fixes: readonly Fix[]): Expected {
  const isOnSide = ({ point, isGood }: Fix, isInside: boolean) =>
    isGood &&
    (isInside ? point.depthMeters >= SURE_DEPTH_METERS : point.depthMeters <= -SURE_DISTANCE_METERS);
  const isEnter = kind === "enter";
  const before = fixes.findLast((fix) => fix.point.timestampMs < timestampMs && isOnSide(fix, !isEnter));
  const after = fixes.filter((fix) => fix.point.timestampMs >= timestampMs && isOnSide(fix, isEnter));
  return {
    kind,
    timestamp: Math.round(timestampMs),
    earliest: (before?.point.timestampMs ?? Math.round(timestampMs)) - SLACK_MS,
    latest: (after[1] ?? after[0])!.point.timestampMs + SLACK_MS,
  };
}

/** Once a day a fix has a time that is up to five hours wrong. No other fix has that time. */
function withWrongTimes(fixes: readonly Fix[], random: () => number): readonly Report[] {
  const times = new Set(fixes.map(({ report }) => report.timestamp));
  let nextMs = fixes[0]!.report.timestamp + DAY_MS / 2;
  return fixes.map(({ report }) => {
    if (report.timestamp < nextMs) return report;
    nextMs += DAY_MS;
    const timestamp = report.timestamp + Math.round((2 * random() - 1) * 5 * HOUR_MS);
    return times.has(timestamp) ? report : { ...report, timestamp };
  });
}

/**
 * Most reports arrive at once. Several times a day the device is offline, and sends what it kept oldest first, newest
 * first, or in no order. Some reports are hours late, some come twice.
 */
function deliver(reports: readonly Report[], random: () => number): Report[][] {
  const arrivals: Arrival[] = [];
  let offlineUntilMs = 0;
  let order: (timestamp: number) => number = () => 0;
  for (const report of reports) {
    const { timestamp } = report;
    const isOnline = timestamp >= offlineUntilMs;
    if (isOnline && random() < 0.01) {
      offlineUntilMs = timestamp + 2 * HOUR_MS * random();
      const sign = Math.floor(random() * 3) - 1;
      order = (timeMs) => (sign === 0 ? random() : sign * (timeMs - timestamp) * 1e-9) * SECOND_MS;
    }
    const sentMs = timestamp < offlineUntilMs ? offlineUntilMs + order(timestamp) : timestamp + SECOND_MS;
    const delayMs = random() < 0.03 ? 2 * HOUR_MS * random() : 0;
    arrivals.push({ arrivalMs: sentMs + delayMs, report });
    if (random() < 0.05) arrivals.push({ arrivalMs: sentMs + HOUR_MS * random(), report });
  }
  return batchesOf(arrivals.sort((a, b) => a.arrivalMs - b.arrivalMs));
}

const BATCH_MAX = 50;

/** What arrives within some seconds comes in one request. */
function batchesOf(arrivals: readonly Arrival[]): Report[][] {
  const batches: Report[][] = [];
  let firstMs = Number.NEGATIVE_INFINITY;
  for (const { arrivalMs, report } of arrivals) {
    if (arrivalMs - firstMs > 5 * SECOND_MS || batches.at(-1)!.length === BATCH_MAX) {
      batches.push([]);
      firstMs = arrivalMs;
    }
    batches.at(-1)!.push(report);
  }
  return batches;
}

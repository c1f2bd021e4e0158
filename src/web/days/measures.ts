import {
  countText,
  distanceText,
  METERS_PER_MILE,
  speedFactor,
  speedText,
  speedUnit,
  type Units,
} from "../geo/units.ts";
import { durationText } from "../time/format.ts";
import { type Grouping, type PeriodFacts, periodText } from "./periods.ts";

/** A number of a day, week, month or year: in the table, in a chart and in the CSV file. */
export interface Measure {
  readonly name: string;
  /** Empty for counts. */
  readonly unit: (units: Units) => string;
  /** Null if it is unknown. */
  readonly value: (facts: PeriodFacts, units: Units) => number | null;
  readonly text: (facts: PeriodFacts, units: Units) => string;
  readonly decimals: number;
}

const SECONDS_PER_HOUR = 3600;
const METERS_PER_KILOMETER = 1000;

const noUnit = () => "";

export const DISTANCE: Measure = {
  name: "Distance",
  unit: (units) => (units === "metric" ? "km" : "mi"),
  value: ({ distanceMeters }, units) =>
    distanceMeters / (units === "metric" ? METERS_PER_KILOMETER : METERS_PER_MILE),
  text: ({ distanceMeters }, units) => distanceText(distanceMeters, units),
  decimals: 3,
};

const MOVING: Measure = {
  name: "Moving time",
  unit: () => "h",
  value: ({ movingSeconds }) => movingSeconds / SECONDS_PER_HOUR,
  text: ({ movingSeconds }) => durationText(movingSeconds * 1000),
  decimals: 3,
};

const STOPS: Measure = {
  name: "Stops",
  unit: noUnit,
  value: ({ stops }) => stops,
  text: ({ stops }) => countText(stops),
  decimals: 0,
};

const TOP_SPEED: Measure = {
  name: "Top speed",
  unit: speedUnit,
  value: ({ speedMax }, units) => (speedMax === null ? null : speedMax * speedFactor(units)),
  text: ({ speedMax }, units) => (speedMax === null ? "–" : speedText(speedMax, units)),
  decimals: 1,
};

export const DAYS_WITH_REPORTS: Measure = {
  name: "Days with reports",
  unit: noUnit,
  value: ({ daysWithReports }) => daysWithReports,
  text: ({ daysWithReports }) => countText(daysWithReports),
  decimals: 0,
};

export const REPORTS: Measure = {
  name: "Reports",
  unit: noUnit,
  value: ({ reports }) => reports,
  text: ({ reports }) => countText(reports),
  decimals: 0,
};

export const MEASURES: readonly Measure[] = [DISTANCE, MOVING, STOPS, TOP_SPEED, DAYS_WITH_REPORTS, REPORTS];

/** A measure with its unit: `Distance (km)`. */
export function measureTitle({ name, unit }: Measure, units: Units): string {
  const text = unit(units);
  return text === "" ? name : `${name} (${text})`;
}

/** A bar in words: `21 Nov: 12.3 km`. */
export function barText(measure: Measure, grouping: Grouping, facts: PeriodFacts, units: Units): string {
  const value = facts.daysWithReports === 0 ? "no reports" : measure.text(facts, units);
  return `${periodText(grouping, facts)}: ${value}`;
}

/** The bar that a key leads to; null if the key does not move. Without a bar the keys begin at the last one. */
export function barByKey(key: string, from: number | null, last: number): number | null {
  const before = from === null ? last : Math.max(0, from - 1);
  const after = from === null ? last : Math.min(last, from + 1);
  const targets: Readonly<Record<string, number>> = {
    ...{ ArrowLeft: before, ArrowDown: before, ArrowRight: after, ArrowUp: after },
    ...{ Home: 0, End: last },
  };
  return targets[key] ?? null;
}

const LINE_END = "\r\n";

/**
 * The periods as CSV by RFC 4180, with the units in the header. No field needs quotes: all are dates, numbers and our
 * own names. A value that is unknown is empty, and so are the values of a period without reports.
 */
export function csvText(periods: readonly PeriodFacts[], units: Units): string {
  const header = ["First day", "Last day", ...MEASURES.map((measure) => measureTitle(measure, units))];
  const rows = periods.map((facts) => {
    const numbers = MEASURES.map((measure) => numberText(measure, facts, units));
    return [facts.start, facts.end, ...numbers];
  });
  return [header, ...rows].map((fields) => fields.join(",") + LINE_END).join("");
}

function numberText(measure: Measure, facts: PeriodFacts, units: Units): string {
  const isCount = measure === DAYS_WITH_REPORTS || measure === REPORTS;
  const value = facts.daysWithReports === 0 && !isCount ? null : measure.value(facts, units);
  return value === null ? "" : String(Number(value.toFixed(measure.decimals)));
}

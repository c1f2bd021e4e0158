import type { ValueFault } from "../../clients/point.ts";
import { roughDuration } from "../../lib/text/duration.ts";
import type { RefusedFor, SenderClient } from "./ingested-reports.ts";
import type { Lacking } from "./outcomes.ts";
import type { Habit } from "./report-gaps.ts";

/**
 * What can be wrong with a device: its clock, its speeds' unit, that it repeats itself, is refused, sends values that
 * can't be used or no times, or is silent.
 */
export const FINDING_KINDS = ["clock", "units", "repeats", "refused", "values", "arrival", "silent"] as const;

export type FindingKind = (typeof FINDING_KINDS)[number];

/** A problem of a device, and its remedy. */
export interface Finding {
  readonly appId: string;
  readonly deviceId: string;
  readonly client: SenderClient;
  readonly kind: FindingKind;
  /** Since when it is known: the last report that it is based on, or when that was due. */
  readonly atMs: number;
  /** A sentence each. */
  readonly what: string;
  readonly measured: string;
  readonly advice: string;
}

/** The texts of a finding. */
export type Diagnosis = Pick<Finding, "what" | "measured" | "advice">;

/*
 * Texts for measurements, a sentence each: what is wrong, what shows it, and what to do.
 */

/** Seconds that a clock may be wrong without a finding. */
const CLOCK_SECONDS_MAX = 60;

export function diagnoseClock(lagSeconds: number | null): Diagnosis | null {
  if (lagSeconds === null || Math.abs(lagSeconds) <= CLOCK_SECONDS_MAX) return null;
  const isBehind = lagSeconds > 0;
  return {
    what: `The device's clock is ${isBehind ? "behind" : "ahead"}, so its positions are kept under wrong times.`,
    measured: `Fresh positions carry times ${roughDuration(Math.abs(lagSeconds))} ${isBehind ? "before" : "after"} their arrival (median).`,
    advice: "Switch on automatic date and time in the device's settings.",
  };
}

export interface UnitVerdict {
  readonly actualUnit: string;
  readonly assumedUnit: string;
  /** The actual unit, as `speed_unit` names it. */
  readonly speedUnit: string;
}

/** Wrong units, by the median ratio of reported speed to the speed between positions (from, and below). */
const UNIT_VERDICTS: readonly (UnitVerdict & { readonly from: number; readonly below: number })[] = [
  { from: 3.2, below: 4.2, actualUnit: "km/h", assumedUnit: "m/s", speedUnit: "kmh" },
  { from: 1.75, below: 2.1, actualUnit: "knots", assumedUnit: "m/s", speedUnit: "kn" },
  { from: 2.1, below: 2.5, actualUnit: "mph", assumedUnit: "m/s", speedUnit: "mph" },
  { from: 0.25, below: 0.31, actualUnit: "m/s", assumedUnit: "km/h", speedUnit: "mps" },
  { from: 0.46, below: 0.58, actualUnit: "m/s", assumedUnit: "knots", speedUnit: "mps" },
];

/** The unit that speeds seem to have, and the unit assumed; null if they look right. */
export function unitVerdict(ratio: number): UnitVerdict | null {
  return UNIT_VERDICTS.find(({ from, below }) => ratio >= from && ratio < below) ?? null;
}

export function diagnoseUnits(ratio: number | null, client: SenderClient): Diagnosis | null {
  const verdict = ratio === null ? null : unitVerdict(ratio);
  if (ratio === null || verdict === null) return null;
  const { actualUnit, assumedUnit, speedUnit } = verdict;
  return {
    what: `Speeds look like ${actualUnit} that are taken for ${assumedUnit}.`,
    measured: `Over its last 30 stretches the device reported ${ratio.toFixed(2)} times the speed that its positions tell (median).`,
    advice:
      client === "native"
        ? `Have its sender convert speeds: reports carry meters per second, and these look like ${actualUnit} where ${assumedUnit} are meant.`
        : `Add ?speed_unit=${speedUnit} to the URL in the app, or use the path that is meant for what sends.`,
  };
}

/** Fewer points say little. */
const POINTS_MIN = 20;

export function diagnoseRepeats(points: number, duplicates: number, client: SenderClient): Diagnosis | null {
  if (points < POINTS_MIN || 2 * duplicates <= points) return null;
  return {
    what: "The device mostly sends what it has sent before.",
    measured: `Of its last ${Math.round(points)} points ${percentText(duplicates, points)} changed nothing.`,
    advice: client === "gpslogger" ? STOP_AUTO_SEND : FIND_OUT_WHY_REPEATED,
  };
}

const STOP_AUTO_SEND =
  "Switch off auto-send of the whole file in GPSLogger, and leave on the custom URL alone.";
const FIND_OUT_WHY_REPEATED =
  "Nothing is lost by it; see that our answers reach the app (a proxy's timeout, a redirect), and that it sends to one URL.";

export function diagnoseRefused(
  points: number,
  refused: number,
  reason: RefusedFor,
  fault: ValueFault | null,
): Diagnosis | null {
  if (points < POINTS_MIN || 2 * refused <= points) return null;
  const because = fault === null || !HAS_VALUE.has(reason) ? "" : `, for a value that ${FAULT_WORDS[fault]}`;
  return {
    what: "Most of what the device sends can't be used.",
    measured: `Of its last ${Math.round(points)} points ${percentText(refused, points)} were refused, mostly as ${reason}${because}.`,
    advice: ADVICE[reason],
  };
}

/** Reasons that are about one value. */
const HAS_VALUE: ReadonlySet<RefusedFor> = new Set(["no_time", "bad_coordinates"]);

const FAULT_WORDS: Readonly<Record<ValueFault, string>> = {
  absent: "is absent",
  unreadable: "can't be read",
  out_of_range: "is out of range",
};

/** A wrong URL or template is wrong in every message, so a few points suffice. */
const SAME_POINTS_MIN = 3;

export function diagnoseValues(points: number, lacking: Lacking | null): Diagnosis | null {
  if (points < SAME_POINTS_MIN || lacking === null) return null;
  const { field, unreadable, outOfRange } = lacking;
  if (2 * Math.max(unreadable, outOfRange) <= points) return null;
  const fault = unreadable >= outOfRange ? "unreadable" : "out_of_range";
  const share = percentText(Math.min(Math.max(unreadable, outOfRange), points), points);
  return {
    what: "Values that the device sends are left out of its reports.",
    measured: `Of its last ${Math.round(points)} points ${share} had a value that ${FAULT_WORDS[fault]}; the last was for ${field}.`,
    advice:
      "See left_out in last-requests of the device, and correct these values in the app's URL or body: a placeholder that nothing fills in, a comma for a point, another unit.",
  };
}

export function diagnoseArrival(
  points: number,
  timedByArrival: number,
  client: SenderClient,
): Diagnosis | null {
  // Home Assistant's webhook carries no time, and sends immediately.
  if (client === "homeassistant" || points < SAME_POINTS_MIN || 2 * timedByArrival <= points) return null;
  return {
    what: "The device's positions carry no time, so they are kept under that of their arrival.",
    measured: `Of its last ${Math.round(points)} points ${percentText(Math.min(timedByArrival, points), points)} had no time.`,
    advice: "Add the time of the fix to the app's URL or body, as timestamp.",
  };
}

const REPLAY = "then replay what lies in the quarantine";

const ADVICE: Readonly<Record<RefusedFor, string>> = {
  bad_json: `See that nothing between the app and here cuts or rewrites bodies, ${REPLAY}.`,
  unknown_shape: `See that the app sends to the path of its own name, ${REPLAY}.`,
  no_position:
    "Let the app use the device's location at all times, and see that its URL or body names the position.",
  bad_coordinates: "See that latitude and longitude are where the app's URL or body has them, in degrees.",
  null_island: "The device has no fix and sends 0/0: let the app use precise location, and take it outdoors.",
  no_time: `Add the time of the fix to the app's URL or body, ${REPLAY}.`,
  future: "The device's clock is more than 10 minutes ahead: switch on automatic date and time.",
  too_old:
    "The device's clock is far behind, or it sends what is older than the retention: set its date and time.",
  bad_device: `Give the device a name: in the app, in its URL after the key, or by a key that is bound to it; ${REPLAY}.`,
  undecryptable: `Tell the server the pass phrase that is set in the app (keys passphrase), ${REPLAY}.`,
  erased:
    "It was erased, and what it sends is refused from then on: remove the app, or give the device another name.",
  invalid: "Read the messages in `rejected` of the answers, and mend what sends.",
};

export function diagnoseSilence(habit: Habit | null, lastMs: number, nowMs: number): Diagnosis | null {
  if (habit === null || nowMs < habit.overdueMs) return null;
  return {
    what: "The device has not reported for much longer than is usual for it.",
    measured: `Its last message came ${roughDuration((nowMs - lastMs) / 1000)} ago, and mostly one comes every ${roughDuration(habit.medianSeconds)}.`,
    advice:
      "See that the device is charged, has a network, and that its system lets the app run in the background.",
  };
}

function percentText(part: number, whole: number): string {
  return `${Math.round((100 * part) / whole)} %`;
}

import { FUTURE_MAX_MS } from "../../../../src/model/time/retention.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { type UtcDay, utcDayStartMs } from "../../../../src/model/time/utc-day.ts";
import type { Report } from "../../../support/reports/batches.ts";
import type { Draws } from "../run/draws.ts";
import { RUN_START_MS, type RunPlan } from "../run/plan.ts";
import { HUGE_SEQUENCES, hideFrame } from "./forgery.ts";
import { drawOddText } from "./odd-texts.ts";

/** Batches of reports as clients send them: new, late, replacing, again, forged, and silent devices heard once more. */
export interface ReportSource {
  /** A batch of one app. */
  draw(appId: string, at: Moment): readonly RunReport[];
  /** Batches so far that hold a whole frame of the log. */
  readonly forged: number;
}

/** What a client may know of the moment at which it sends. */
export interface Moment {
  /** When its reports are let in. */
  readonly nowMs: number;
  /** The first instant that is accepted. */
  readonly edgeMs: number;
  /** Days that the service has something to do with: sealed ones, and those past the retention. */
  readonly days: readonly UtcDay[];
  /** The last entry of the log, or near it. */
  readonly sequence: number;
}

export interface RunReport extends Report {
  readonly device_id: string;
  readonly timestamp: number;
}

/** Every report carries the number of its batch here, so that a frame and a record tell where they are from. */
export const BATCH_MARK = "altitude";

const REPORTS_MAX = 5;
const HOUR_MS = 3_600_000;
/** Of forged batches, which are long and would hide everything else. */
const FORGED_BATCHES_MAX = 2;

export function createReportSource(plan: RunPlan, draws: Draws): ReportSource {
  const sent = new Map<string, RunReport[][]>();
  let batches = 0;
  let forged = 0;

  function drawReport(at: Moment, earlier: readonly RunReport[]): RunReport {
    const isSilent = plan.silentDevices.length > 0 && draws.chance(0.1);
    const again = earlier.length > 0 && draws.chance(0.25) ? draws.pick(earlier) : null;
    const isKept = again !== null && isAccepted(again, at);
    const { device_id, timestamp } = isKept
      ? again
      : {
          device_id: draws.pick(isSilent ? plan.silentDevices : plan.devices),
          timestamp: drawTime(plan, draws, isSilent, at),
        };
    return {
      device_id,
      timestamp,
      latitude: draws.between(-900, 900) / 10,
      longitude: draws.between(-1800, 1800) / 10,
      [BATCH_MARK]: batches,
      ...(draws.chance(0.6) ? { user_id: draws.pick(plan.users) } : {}),
      ...(draws.chance(0.3) ? { speed: draws.between(0, 400) / 10 } : {}),
      ...(draws.chance(0.3) ? { battery_level: draws.between(0, 100) } : {}),
      ...(draws.chance(0.2) ? { is_mock: draws.chance(0.5) } : {}),
      ...(draws.chance(0.2) ? { type: draws.pick(["moving", "stopped", ""]) } : {}),
      ...(draws.chance(0.2) ? { model: drawOddText(draws) } : {}),
    };
  }

  /** A batch that holds a frame with a report of another app. */
  function drawForged(appId: string, { nowMs, sequence }: Moment): RunReport[] {
    forged++;
    const timestamp = Math.floor(nowMs / 60_000) * 60_000 - draws.between(1, 5) * 60_000;
    const place = { timestamp, latitude: 1, longitude: 2, [BATCH_MARK]: batches };
    const frame = {
      appId: draws.pick(plan.apps.filter((each) => each !== appId)),
      report: {
        ...place,
        ...READINGS,
        device_id: draws.pick(["nobody", ...plan.devices]),
        user_id: draws.pick(plan.users),
      },
      sequence: draws.chance(0.5) ? sequence + draws.between(1, 40) : draws.pick(HUGE_SEQUENCES),
    };
    return hideFrame(frame, { ...place, device_id: draws.pick(plan.devices) }, draws);
  }

  return {
    draw(appId, at) {
      const before = sent.get(appId) ?? [];
      sent.set(appId, before);
      const repeatable = before
        .slice(-6)
        .filter((reports) => reports.every((report) => isAccepted(report, at)));
      if (repeatable.length > 0 && draws.chance(0.15)) return draws.pick(repeatable);
      batches++;
      if (plan.isHostile && forged < FORGED_BATCHES_MAX && draws.chance(0.1)) return drawForged(appId, at);
      const earlier = before.flat();
      const reports = Array.from({ length: draws.between(1, REPORTS_MAX) }, () => drawReport(at, earlier));
      before.push(reports);
      return reports;
    },
    get forged() {
      return forged;
    },
  };
}

/** Within the times that are accepted, of today or of long ago. */
function drawTime(plan: RunPlan, draws: Draws, isSilent: boolean, { nowMs, edgeMs, days }: Moment): number {
  const late = isSilent || draws.chance(plan.hasSeals ? 0.5 : 0.2);
  return Math.min(nowMs + FUTURE_MAX_MS, Math.max(edgeMs, late ? old() : recent()));

  /** Few distinct instants a day, so that some are reported of again. */
  function old(): number {
    const hours = draws.between(-4, 4) * 2;
    if (days.length > 0 && draws.chance(0.6)) return utcDayStartMs(draws.pick(days)) + (12 + hours) * HOUR_MS;
    if (draws.chance(0.1)) return edgeMs + draws.between(0, 1) * 12 * HOUR_MS;
    return RUN_START_MS - draws.pick(plan.oldDays) * MS_PER_DAY + hours * HOUR_MS;
  }

  function recent(): number {
    const backMs = draws.chance(0.7)
      ? draws.between(0, 5) * 60_000
      : draws.between(0, 9) * MS_PER_DAY - HOUR_MS;
    return Math.floor(nowMs / 60_000) * 60_000 - backMs;
  }
}

/** Number fields that other reports leave out at times: a forged report has them all. */
const READINGS = {
  horizontal_accuracy: 1,
  vertical_accuracy: 1,
  speed: 1,
  bearing: 1,
  battery_level: 1,
};

function isAccepted({ timestamp }: RunReport, { nowMs, edgeMs }: Moment): boolean {
  return timestamp >= edgeMs && timestamp <= nowMs + FUTURE_MAX_MS;
}

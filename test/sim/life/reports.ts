import { FUTURE_MAX_MS, MS_PER_DAY, retentionStartMs } from "../../../src/time/retention.ts";
import type { Report } from "../../support/batches.ts";
import type { Draws } from "./draws.ts";
import { LIFE_START_MS, type LifePlan } from "./plan.ts";

/** Batches of reports as clients send them: new, late, replacing, again, and silent devices heard once more. */
export interface ReportSource {
  /** A batch of one app. */
  draw(appId: string, nowMs: number): readonly LifeReport[];
}

export interface LifeReport extends Report {
  readonly device_id: string;
  readonly timestamp: number;
}

/** Every report carries the number of its batch here, so that a frame and a record tell where they are from. */
export const BATCH_MARK = "altitude";

const REPORTS_MAX = 5;
const HOUR_MS = 3_600_000;

export function createReportSource(plan: LifePlan, draws: Draws): ReportSource {
  const sent = new Map<string, LifeReport[][]>();
  let batches = 0;

  function drawTime(isSilent: boolean, nowMs: number): number {
    const oldDay = LIFE_START_MS - draws.pick(plan.oldDays) * MS_PER_DAY;
    const late = draws.chance(plan.hasSeals ? 0.5 : 0.2);
    // Few distinct instants a day, so that some are reported of again.
    const around = isSilent || late ? oldDay + draws.between(-4, 4) * 2 * HOUR_MS : recent();
    return Math.min(nowMs + FUTURE_MAX_MS, Math.max(retentionStartMs(nowMs), around));

    function recent(): number {
      const backMs = draws.chance(0.7)
        ? draws.between(0, 5) * 60_000
        : draws.between(0, 9) * MS_PER_DAY - HOUR_MS;
      return Math.floor(nowMs / 60_000) * 60_000 - backMs;
    }
  }

  function drawReport(nowMs: number, earlier: readonly LifeReport[]): LifeReport {
    const isSilent = plan.silentDevices.length > 0 && draws.chance(0.1);
    const again = earlier.length > 0 && draws.chance(0.25) ? draws.pick(earlier) : null;
    const isKept = again !== null && isAccepted(again, nowMs);
    const { device_id, timestamp } = isKept
      ? again
      : {
          device_id: draws.pick(isSilent ? plan.silentDevices : plan.devices),
          timestamp: drawTime(isSilent, nowMs),
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
      ...(draws.chance(0.2) ? { model: draws.pick(["Pixel 9", 'odd, "name"', "ünï"]) } : {}),
    };
  }

  return {
    draw(appId, nowMs) {
      const before = sent.get(appId) ?? [];
      sent.set(appId, before);
      const repeatable = before
        .slice(-6)
        .filter((reports) => reports.every((report) => isAccepted(report, nowMs)));
      if (repeatable.length > 0 && draws.chance(0.15)) return draws.pick(repeatable);
      batches++;
      const earlier = before.flat();
      const reports = Array.from({ length: draws.between(1, REPORTS_MAX) }, () => drawReport(nowMs, earlier));
      before.push(reports);
      return reports;
    },
  };
}

function isAccepted({ timestamp }: LifeReport, nowMs: number): boolean {
  return timestamp >= retentionStartMs(nowMs) && timestamp <= nowMs + FUTURE_MAX_MS;
}

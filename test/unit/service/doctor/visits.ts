import { assert } from "../../../../src/lib/assert.ts";
import type { Visit } from "../../../../src/service/doctor/device-measures.ts";
import type { Finding, FindingKind } from "../../../../src/service/doctor/diagnoses.ts";
import type { Doctor } from "../../../../src/service/doctor/doctor.ts";
import {
  type LeftOutField,
  NONE,
  type RefusedReport,
  type SenderClient,
} from "../../../../src/service/doctor/ingested-reports.ts";
import { batchOf, type Report } from "../../../support/reports/batches.ts";

/** Whose messages are noted in tests. */
export const SENDER = { appId: "fleet", keyId: "k_1" };

/** More than a window of attention, so that nothing is passed over. */
export const UNHURRIED_MS = 200;

interface NotedMessage {
  readonly arrivedMs: number;
  readonly client?: SenderClient;
  readonly sender?: typeof SENDER;
  readonly reports?: readonly Report[];
  readonly duplicates?: number;
  readonly refused?: readonly RefusedReport[];
  readonly leftOut?: readonly LeftOutField[];
  readonly timedByArrival?: number;
}

/** Notes a message in which nothing was skipped. */
export function note(doctor: Doctor, { arrivedMs, client = "owntracks", ...message }: NotedMessage): void {
  const { sender = SENDER, reports = [], duplicates = 0, refused = [] } = message;
  const { leftOut = [], timedByArrival = 0 } = message;
  const batches = reports.length === 0 ? [] : [batchOf(reports)];
  const skipped = NONE;
  doctor.note(sender, client, { arrivedMs, batches, duplicates, refused, skipped, leftOut, timedByArrival });
}

export function findingsOf(
  doctor: Doctor,
  nowMs: number,
  newestFixMs: Visit["newestFixMs"] = () => Number.NEGATIVE_INFINITY,
  appId: string | null = null,
): Finding[] {
  const findings: Finding[] = [];
  const steps = doctor.examine(
    { appId, deviceId: null },
    { nowMs, newestFixMs, onFinding: (finding) => findings.push(finding) },
  );
  while (steps.next().done !== true);
  return findings;
}

export function kindsOf(doctor: Doctor, nowMs: number): FindingKind[] {
  return findingsOf(doctor, nowMs).map(({ kind }) => kind);
}

export function onlyFinding(doctor: Doctor, nowMs: number): Finding {
  const [finding, ...others] = findingsOf(doctor, nowMs);
  assert(finding !== undefined && others.length === 0, "there is one finding");
  return finding;
}

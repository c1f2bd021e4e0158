import type { MaybePromise } from "../../lib/schedule/maybe-promise.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { AppId } from "../../model/ids.ts";
import { FINDING_KINDS, type Finding, type FindingKind } from "../doctor/diagnoses.ts";
import type { Doctor } from "../doctor/doctor.ts";
import type { Caller, QueryDependencies } from "./find-device.ts";

/*
 * Problems of devices: of an app in full, of all apps in numbers.
 */

export interface FindingsDependencies extends QueryDependencies {
  readonly doctor: Pick<Doctor, "examine">;
}

export interface FindingsQuery {
  /** Null means all devices. */
  readonly deviceId: string | null;
  readonly limit: number;
}

export interface FindingsAnswer {
  /** The newest ones, newest first. */
  readonly findings: readonly Finding[];
  /** The number of all findings. */
  readonly total: number;
}

export type FindingCounts = Readonly<Record<FindingKind, number>>;

export interface Findings {
  ofApp(appId: AppId, query: FindingsQuery, caller: Caller): MaybePromise<FindingsAnswer>;
  /** The findings of all apps, at most a minute old. */
  count(): Promise<FindingCounts>;
}

export function createFindings({ doctor, hot, clock, scheduler }: FindingsDependencies): Findings {
  const newestFixMs = (appId: string, deviceId: string) =>
    hot.findApp(appId as AppId)?.find(deviceId)?.newestMs ?? Number.NEGATIVE_INFINITY;

  function* findNewest(appId: AppId, { deviceId, limit }: FindingsQuery): Steps<FindingsAnswer> {
    const newest = new NewestFindings(limit);
    const visit = { nowMs: clock.nowMs(), newestFixMs, onFinding: (finding: Finding) => newest.add(finding) };
    yield* doctor.examine({ appId, deviceId }, visit);
    return { findings: newest.inOrder(), total: newest.total };
  }

  function* countAll(): Steps<FindingCounts> {
    const counts = Object.fromEntries(FINDING_KINDS.map((kind) => [kind, 0])) as Record<FindingKind, number>;
    const onFinding = ({ kind }: Finding) => {
      counts[kind]++;
    };
    yield* doctor.examine({ appId: null, deviceId: null }, { nowMs: clock.nowMs(), newestFixMs, onFinding });
    return counts;
  }

  let counted: { readonly atMs: number; readonly counts: Promise<FindingCounts> } | null = null;

  return {
    ofApp: (appId, query, { signal }) => scheduler.runAtOnce(appId, signal, findNewest(appId, query)),
    count() {
      const nowMs = clock.nowMs();
      const ageMs = nowMs - (counted?.atMs ?? Number.NEGATIVE_INFINITY);
      if (counted === null || !(ageMs >= 0 && ageMs < COUNTS_KEPT_MS)) {
        counted = { atMs: nowMs, counts: scheduler.run(ALL_APPS, countAll()) };
      }
      return counted.counts;
    },
  };
}

/** Counting a hundred thousand devices takes a third of a second. */
const COUNTS_KEPT_MS = 60_000;

/** The owner in the scheduler for counting all apps. No app has this name. */
const ALL_APPS = "findings of all apps";

/** Retains only the newest findings, since there may be a hundred thousand. */
class NewestFindings {
  readonly #limit: number;
  #findings: Finding[] = [];
  total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(finding: Finding): void {
    this.total++;
    this.#findings.push(finding);
    if (this.#findings.length >= 2 * this.#limit) this.#findings = this.inOrder();
  }

  inOrder(): Finding[] {
    const isBefore = (a: Finding, b: Finding) => (a.deviceId < b.deviceId ? -1 : 1);
    return this.#findings.toSorted((a, b) => b.atMs - a.atMs || isBefore(a, b)).slice(0, this.#limit);
  }
}

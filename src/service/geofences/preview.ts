import type { FixRows } from "../../archive/read/archive-session.ts";
import type { Watch, WatchEvent } from "../../geofences/watch.ts";
import { createWatchVersion } from "../../geofences/watch-version.ts";
import { addFixes, type FixSink } from "../../hot/scan/memory-scan.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { WatchTerms } from "../../model/watches/watch-rules.ts";
import { type Caller, retainedRange } from "../queries/find-device.ts";
import {
  createReadStretches,
  type HistoryDependencies,
  type RangeAnswer,
  type StretchSink,
} from "../queries/history/read-stretches.ts";
import { type Fixes, FleetDecision, type FleetLimits } from "./fleet-decision.ts";

/*
 * The events that a fence would have made of the records of an app. Nothing of it is kept.
 */

export interface PreviewQuery {
  readonly terms: WatchTerms;
  /** The fence is in force from its start, and its end is the clock of timed events. */
  readonly range: TimeRange;
}

export type PreviewFence = (
  appId: AppId,
  query: PreviewQuery,
  caller: Caller,
) => Promise<Result<RangeAnswer<readonly WatchEvent[]>, ServiceError>>;

const LIMITS: FleetLimits = { eventsMax: 100_000, devicesMax: 250_000 };

const TOO_MUCH: ServiceError = {
  kind: "invalid_parameter",
  message: "the range has too many devices or events for a preview; ask for less time",
};

/** Answers the events, oldest first. */
export function createPreviewFence(dependencies: HistoryDependencies): PreviewFence {
  const readStretches = createReadStretches(dependencies);
  return async function previewFence(appId, { terms, range }, caller) {
    const version = createWatchVersion(terms, 1, range.startMs);
    const watch: Watch = { appId, id: "preview", versions: [version], deletedMs: null };
    const whose = { appId, device: null, range: retainedRange(dependencies, range) };
    const begin = () => previewSink(dependencies, new FleetDecision(watch, LIMITS), range.endMs);
    const read = await readStretches(whose, caller, begin);
    if (!read.ok) return read;
    const { value, isIncomplete } = read.value;
    return value === null ? fail(TOO_MUCH) : ok({ value, isIncomplete });
  };
}

function previewSink(
  { hot }: HistoryDependencies,
  fleet: FleetDecision,
  endMs: number,
): StretchSink<FixRows, readonly WatchEvent[] | null> {
  return {
    *addMemory(range) {
      const app = hot.findApp(fleet.watch.appId);
      if (app === null) return;
      const scan = hot.scan({ devices: app, range, userId: null, accuracyMetersMax: null });
      const fixes = new FixList();
      const adding = addFixes(scan, fixes);
      for (let isDone = false; !isDone; fixes.clear()) {
        isDone = adding.next().done === true;
        yield;
        yield* fleet.takeRows(fixes);
      }
    },
    read: (session, scan) => session.fixes(scan),
    addRows: (rows) => fleet.takeRows(rows),
    end: () => fleet.end(endMs),
  };
}

/** What a step reads of memory, to be decided in smaller steps. */
class FixList implements Fixes, FixSink {
  readonly deviceIds: DeviceId[] = [];
  readonly userIds: UserId[] = [];
  readonly timestampMs: number[] = [];
  readonly latitude: number[] = [];
  readonly longitude: number[] = [];
  readonly accuracyMeters: number[] = [];

  get count(): number {
    return this.deviceIds.length;
  }

  add(
    deviceId: DeviceId,
    userId: UserId,
    timestampMs: number,
    latitude: number,
    longitude: number,
    accuracyMeters: number,
  ): void {
    this.deviceIds.push(deviceId);
    this.userIds.push(userId);
    this.timestampMs.push(timestampMs);
    this.latitude.push(latitude);
    this.longitude.push(longitude);
    this.accuracyMeters.push(accuracyMeters);
  }

  clear(): void {
    const { deviceIds, userIds, timestampMs, latitude, longitude, accuracyMeters } = this;
    for (const column of [deviceIds, userIds, timestampMs, latitude, longitude, accuracyMeters])
      column.length = 0;
  }
}

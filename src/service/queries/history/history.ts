import type { HotStore } from "../../../hot/hot-store.ts";
import { addPositions, NO_DEVICES, OneDevice } from "../../../hot/scan/memory-scan.ts";
import { findTimeline } from "../../../hot/scan/timeline.ts";
import type { Result } from "../../../lib/result.ts";
import type { MaybePromise } from "../../../lib/schedule/maybe-promise.ts";
import type { Steps } from "../../../lib/schedule/steps.ts";
import type { ServiceError } from "../../../model/errors.ts";
import type { AppId, UserId } from "../../../model/ids.ts";
import { lastingPage } from "../../../model/record-page.ts";
import { utcDayOf } from "../../../model/time/utc-day.ts";
import { type Caller, findDevice, retainedRange } from "../find-device.ts";
import { createArchiveHistory } from "./archive-history.ts";
import type { HistoryAnswer, HistoryQuery, HistoryScan } from "./history-query.ts";
import { PathMeter } from "./path-meter.ts";
import { memoryOrArchive } from "./read-archive.ts";
import type { HistoryDependencies } from "./read-stretches.ts";

/*
 * The history of one device, of the reports of one user, or of a whole app.
 */

export type HistoryOutcome = MaybePromise<Result<HistoryAnswer, ServiceError>>;

/** Short answers from memory are returned directly; others are promises. */
export interface HistoryQueries {
  ofDevice(appId: AppId, deviceId: string, query: HistoryQuery, caller: Caller): HistoryOutcome;
  ofUser(appId: AppId, userId: UserId, query: HistoryQuery, caller: Caller): HistoryOutcome;
  ofApp(appId: AppId, query: HistoryQuery, caller: Caller): HistoryOutcome;
}

export function createHistoryQueries(dependencies: HistoryDependencies): HistoryQueries {
  const { hot, clock, retention, scheduler } = dependencies;
  const answerFromArchive = createArchiveHistory(dependencies);

  function answer(scan: HistoryScan, caller: Caller): HistoryOutcome {
    const { appId, range } = scan;
    return memoryOrArchive(dependencies.archive, range, {
      fromMemory: () => scheduler.runAtOnce(appId, caller.signal, answerFromMemory(hot, scan), lastingAnswer),
      fromArchive: () => answerFromArchive(scan, caller),
    });
  }

  const retained = ({ range }: HistoryQuery) => retainedRange(dependencies, range);

  return {
    ofDevice(appId, deviceId, query, caller) {
      const match = findDevice(dependencies, appId, deviceId);
      if (!match.ok) return match;
      const { device } = match.value;
      const whose = { device, userId: null, devices: new OneDevice(device), countQueried: () => 1 };
      const wants = query.withTotal === true ? "total" : "page";
      return answer({ ...query, ...whose, appId, range: retained(query), wants }, caller);
    },
    ofUser(appId, userId, query, caller) {
      const devices =
        hot.findApp(appId)?.users.devicesWithRecords(() => hot.dictionary.findUser(userId)) ?? NO_DEVICES;
      const whose = { device: null, userId, devices, countQueried: () => devices.size };
      return answer({ ...query, ...whose, appId, range: retained(query), wants: "total" }, caller);
    },
    ofApp(appId, query, caller) {
      const app = hot.findApp(appId);
      const devices = app ?? NO_DEVICES;
      const firstDay = utcDayOf(retention.startMs(clock.nowMs()));
      const countQueried = () => app?.newestTimes.countFrom(firstDay) ?? 0;
      const whose = { device: null, userId: null, devices, countQueried };
      return answer({ ...query, ...whose, appId, range: retained(query), wants: "devices" }, caller);
    },
  };
}

/** The whole answer, if memory has every record of the range. */
function* answerFromMemory(hot: HotStore, scan: HistoryScan): Steps<HistoryAnswer> {
  const { order, offset, limit, withDistance } = scan;
  const inMemory = hot.scan(scan);
  const meter = new PathMeter();
  const pathBytes = withDistance ? yield* addPositions(inMemory, meter) : 0;
  const paths = withDistance ? yield* meter.lengths() : null;
  // Last, since the page is valid only until reports arrive.
  const { page, total, devices, bytesRead } = yield* findTimeline(inMemory, order, offset, limit);
  return {
    pages: [page],
    count: page.count,
    hasMore: offset + page.count < total,
    total,
    devicesMatching: devices,
    devicesQueried: scan.countQueried(),
    paths,
    bytesRead: bytesRead + pathBytes,
    source: "hot",
    isIncomplete: false,
  };
}

/** A copy of the answer that outlasts reports, if it has to wait for anything. */
function lastingAnswer(answer: HistoryAnswer): HistoryAnswer {
  return { ...answer, pages: answer.pages.map(lastingPage) };
}

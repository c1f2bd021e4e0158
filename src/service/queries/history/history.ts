import type { HotStore } from "../../../hot/hot-store.ts";
import { addPositions, type DeviceBlocks, OneDevice } from "../../../hot/scan/memory-scan.ts";
import { findTimeline } from "../../../hot/scan/timeline.ts";
import type { Result } from "../../../lib/result.ts";
import type { MaybePromise } from "../../../lib/schedule/maybe-promise.ts";
import type { Steps } from "../../../lib/schedule/steps.ts";
import type { ServiceError } from "../../../model/errors.ts";
import type { AppId, UserId } from "../../../model/ids.ts";
import { lastingPage } from "../../../model/lasting-page.ts";
import { utcDayOf } from "../../../model/time/utc-day.ts";
import { type Client, findDevice, retainedRange } from "../find-device.ts";
import { createArchiveHistory, type HistoryDependencies } from "./archive-history.ts";
import { fromEitherStore } from "./either-store.ts";
import type { HistoryAnswer } from "./history-answer.ts";
import type { HistoryQuery } from "./history-query.ts";
import { type HistoryScan, scanMemory } from "./history-scan.ts";
import { PathMeter } from "./path-meter.ts";

/*
 * Where devices were: one device, the reports made under a user, a whole app.
 */

export type HistoryOutcome = MaybePromise<Result<HistoryAnswer, ServiceError>>;

/** Answers from memory are there at once where they are short work; others are promised. */
export interface HistoryQueries {
  ofDevice(appId: AppId, deviceId: string, query: HistoryQuery, client: Client): HistoryOutcome;
  ofUser(appId: AppId, userId: UserId, query: HistoryQuery, client: Client): HistoryOutcome;
  ofApp(appId: AppId, query: HistoryQuery, client: Client): HistoryOutcome;
}

export function createHistoryQueries(dependencies: HistoryDependencies): HistoryQueries {
  const { hot, clock, retention, scheduler } = dependencies;
  const answerFromArchive = createArchiveHistory(dependencies);

  function answer(scan: HistoryScan, client: Client): HistoryOutcome {
    const { appId, range } = scan;
    return fromEitherStore(dependencies.archive, range, {
      fromMemory: () => scheduler.runAtOnce(appId, client.signal, answerFromMemory(hot, scan), lastingAnswer),
      fromArchive: () => answerFromArchive(scan, client),
    });
  }

  return {
    ofDevice(appId, deviceId, query, client) {
      const found = findDevice(dependencies, appId, deviceId);
      if (!found.ok) return found;
      const { device } = found.value;
      const range = retainedRange(dependencies, query.range);
      const common = { appId, query, range, userId: null, wants: "page" } as const;
      return answer({ ...common, device, devices: new OneDevice(device), countQueried: () => 1 }, client);
    },
    ofUser(appId, userId, query, client) {
      const devices =
        hot.findApp(appId)?.users.heldDevices(() => hot.dictionary.findUser(userId)) ?? NO_DEVICES;
      const range = retainedRange(dependencies, query.range);
      const common = { appId, query, range, device: null, wants: "total" } as const;
      return answer({ ...common, userId, devices, countQueried: () => devices.size }, client);
    },
    ofApp(appId, query, client) {
      const app = hot.findApp(appId);
      const devices = app?.all ?? NO_DEVICES;
      const range = retainedRange(dependencies, query.range);
      const common = { appId, query, range, device: null, userId: null, wants: "devices" } as const;
      const firstDay = utcDayOf(retention.startMs(clock.nowMs()));
      const countQueried = () => app?.newestTimes.countFrom(firstDay) ?? 0;
      return answer({ ...common, devices, countQueried }, client);
    },
  };
}

/** The whole answer where memory has every record of the range. */
function* answerFromMemory(hot: HotStore, scan: HistoryScan): Steps<HistoryAnswer> {
  const { query } = scan;
  const inMemory = scanMemory(hot, scan, scan.range);
  const meter = new PathMeter();
  const pathBytes = query.withDistance ? yield* addPositions(inMemory, meter) : 0;
  const paths = query.withDistance ? yield* meter.lengths() : null;
  // Last, since the page is good until reports come in.
  const timeline = yield* findTimeline(inMemory, query.order, query.offset, query.limit);
  const { page, total, devices, bytesRead } = timeline;
  return {
    pages: [page],
    count: page.count,
    hasMore: query.offset + page.count < total,
    total,
    devicesMatching: devices,
    devicesQueried: scan.countQueried(),
    paths,
    bytesRead: bytesRead + pathBytes,
    source: "hot",
    isIncomplete: false,
  };
}

/** The same answer where it has to wait for anything. */
function lastingAnswer(answer: HistoryAnswer): HistoryAnswer {
  return { ...answer, pages: answer.pages.map(lastingPage) };
}

const NO_DEVICES: DeviceBlocks = { size: 0, blocks: () => [] };

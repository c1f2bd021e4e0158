import type { Archive } from "../../archive/archive.ts";
import type { Device } from "../../hot/devices/device.ts";
import { type DeviceBlocks, OneDevice } from "../../hot/scan/memory-scan.ts";
import { ok, type Result } from "../../lib/result.ts";
import { inTurns, type Steps } from "../../lib/schedule/in-turns.ts";
import { type MaybePromise, whenThere } from "../../lib/schedule/maybe-promise.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId, UserId } from "../../model/ids.ts";
import type { RecordPage } from "../../model/record-page.ts";
import type { Order, TimeRange } from "../../time/range.ts";
import { retentionStartMs } from "../../time/retention.ts";
import { type Client, findDevice, isRetained, type QueryDependencies } from "../find-device.ts";
import { createArchiveHistory } from "./archive-history.ts";
import { answerFromMemory, lastingAnswer } from "./memory-history.ts";
import type { PathLength } from "./path-meter.ts";
import { touchesSealed } from "./plan.ts";
import type { LateWindowSize } from "./stretch-reader.ts";

export interface HistoryQuery {
  readonly range: TimeRange;
  readonly order: Order;
  readonly offset: number;
  readonly limit: number;
  /** Leaves out records whose horizontal accuracy is greater. */
  readonly accuracyMetersMax: number | null;
  readonly withDistance: boolean;
}

export interface HistoryAnswer {
  /** The records, page after page; each page has a dictionary of its own. */
  readonly pages: readonly RecordPage[];
  readonly count: number;
  readonly hasMore: boolean;
  /** Matching records before paging; null where nobody asked. */
  readonly total: number | null;
  /** Devices with a matching record; null where nobody asked. */
  readonly devicesMatching: number | null;
  /** Devices that were asked. */
  readonly devicesQueried: number;
  /** Length of each device's path, in order of device ids; null where it was not asked for. */
  readonly paths: readonly PathLength[] | null;
  readonly bytesRead: number;
  readonly source: "hot" | "archive" | "hot+archive";
  /** Whether records are missing that an operator has acknowledged as lost. */
  readonly isIncomplete: boolean;
}

export type HistoryOutcome = MaybePromise<Result<HistoryAnswer, ServiceError>>;

/** Answers from memory are there at once where they are short work; others are promised. */
export interface HistoryQueries {
  ofDevice(appId: AppId, deviceId: string, query: HistoryQuery, client: Client): HistoryOutcome;
  ofUser(appId: AppId, userId: UserId, query: HistoryQuery, client: Client): HistoryOutcome;
  ofApp(appId: AppId, query: HistoryQuery, client: Client): HistoryOutcome;
}

/** A question about history, whatever it is asked of. */
export interface HistoryQuestion {
  readonly appId: AppId;
  readonly query: HistoryQuery;
  /** The query's range without what is past the retention. */
  readonly range: TimeRange;
  /** The one device, or null. */
  readonly device: Device | null;
  readonly userId: UserId | null;
  /** Devices that memory is asked about. */
  readonly devices: DeviceBlocks;
  /** How many devices are asked. */
  countQueried(): Steps<number>;
  /** What the answer needs besides a page. */
  readonly wants: "page" | "total" | "devices";
}

export interface HistoryDependencies extends QueryDependencies {
  /** Open by the time of the first question. */
  readonly archive: () => Archive;
  /** Files of parts whose loss an operator has acknowledged. */
  readonly acknowledgedParts: () => Promise<ReadonlySet<string>>;
  readonly lateWindow: LateWindowSize;
}

/** Where devices were: one device, the reports made under a user, a whole app. */
export function createHistoryQueries(dependencies: HistoryDependencies): HistoryQueries {
  const { hot, clock } = dependencies;
  const answerFromArchive = createArchiveHistory(dependencies);

  function answer(question: HistoryQuestion, client: Client): HistoryOutcome {
    const { manifest } = dependencies.archive();
    if (touchesSealed(manifest, question.range)) return answerFromArchive(question, client);
    const answered = inTurns(question.appId, client.signal, answerFromMemory(hot, question), lastingAnswer);
    // Meanwhile a seal may have moved records to the archive.
    const isWhole = () => dependencies.archive().manifest === manifest;
    return whenThere(answered, (found) => (isWhole() ? ok(found) : answer(question, client)));
  }

  function retainedRange({ range }: HistoryQuery): TimeRange {
    const startMs = Math.max(range.startMs, retentionStartMs(clock.nowMs()));
    return { startMs, endMs: Math.max(startMs, range.endMs) };
  }

  return {
    ofDevice(appId, deviceId, query, client) {
      const found = findDevice(dependencies, appId, deviceId);
      if (!found.ok) return found;
      const { device } = found.value;
      const range = retainedRange(query);
      const common = { appId, query, range, userId: null, wants: "page" } as const;
      return answer({ ...common, device, devices: new OneDevice(device), countQueried: () => one() }, client);
    },
    ofUser(appId, userId, query, client) {
      const devices = hot.findApp(appId)?.users.heldDevices(hot.dictionary.findUser(userId)) ?? NO_DEVICES;
      const range = retainedRange(query);
      const common = { appId, query, range, device: null, wants: "total" } as const;
      return answer({ ...common, userId, devices, countQueried: () => sizeOf(devices) }, client);
    },
    ofApp(appId, query, client) {
      const devices = hot.findApp(appId)?.list ?? NO_DEVICES;
      const range = retainedRange(query);
      const common = { appId, query, range, device: null, userId: null, wants: "devices" } as const;
      const startMs = retentionStartMs(clock.nowMs());
      return answer({ ...common, devices, countQueried: () => countRetained(devices, startMs) }, client);
    },
  };
}

const NO_DEVICES: DeviceBlocks & { readonly size: number } = { size: 0, blocks: () => [] };

// biome-ignore lint/correctness/useYield: it is done before a step is.
function* one(): Steps<number> {
  return 1;
}

// biome-ignore lint/correctness/useYield: it is done before a step is.
function* sizeOf({ size }: { readonly size: number }): Steps<number> {
  return size;
}

/** Devices that are not gone. */
function* countRetained(devices: DeviceBlocks, startMs: number): Steps<number> {
  let count = 0;
  for (const block of devices.blocks()) {
    for (const device of block) if (isRetained(device, startMs)) count++;
    yield;
  }
  return count;
}

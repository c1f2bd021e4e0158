import { expect, test } from "bun:test";
import { ok } from "../../../../src/lib/result.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { NUMBER_FIELDS } from "../../../../src/model/location-fields.ts";
import type { RecordPage } from "../../../../src/model/record-page.ts";
import { readRecords } from "../../../../src/service/corrections/read-records.ts";
import type { HistoryQueries } from "../../../../src/service/queries/history/history.ts";
import type { HistoryAnswer } from "../../../../src/service/queries/history/history-query.ts";

const APP = "app" as AppId;
const DEVICE = "bus" as DeviceId;
const CALLER = { signal: new AbortController().signal };

/** The records of a device, whose pages come at once, as those of memory do. */
function historyOf(times: readonly number[], onAsked: () => void): Pick<HistoryQueries, "ofDevice"> {
  return {
    ofDevice(_appId, _deviceId, { range, limit }) {
      onAsked();
      const within = times.filter((timeMs) => timeMs >= range.startMs && timeMs < range.endMs);
      const answer: HistoryAnswer = {
        pages: [pageOf(within.slice(0, limit))],
        count: Math.min(limit, within.length),
        hasMore: within.length > limit,
        ...{ total: null, devicesMatching: null, devicesQueried: 1, paths: null },
        ...{ bytesRead: 0, source: "hot", isIncomplete: false },
      };
      return ok(answer);
    },
  };
}

function pageOf(times: readonly number[]): RecordPage {
  return {
    count: times.length,
    deviceIds: times.map(() => DEVICE),
    timestampMs: Float64Array.from(times),
    numbers: new Float64Array(times.length * NUMBER_FIELDS.length),
    profile: new Uint32Array(times.length),
    state: new Uint32Array(times.length),
    dictionary: { profileText: () => null, stateText: () => null },
  };
}

test("readRecords() reads the wanted instants in pieces, and others have a turn after each page", async () => {
  const times = Array.from({ length: 4200 }, (_, i) => i);
  const wanted = Float64Array.from(times.filter((timeMs) => timeMs % 2 === 0 || timeMs > 3000));
  const turnsBefore: number[] = [];
  let turns = 0;
  let isOver = false;
  const countTurns = () => {
    turns++;
    if (!isOver) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  const history = historyOf(times, () => turnsBefore.push(turns));
  const records = await readRecords(history, APP, DEVICE, wanted, CALLER);
  isOver = true;
  if (!records.ok) throw new Error(records.error.kind);
  expect(records.value.timestampMs).toEqual(wanted);
  expect(records.value.pieces.map(({ count }) => count)).toEqual([1000, 1000, wanted.length - 2000]);
  expect(records.value.pieces.flatMap(({ timestampMs }) => [...timestampMs])).toEqual([...wanted]);
  expect(turnsBefore).toHaveLength(5);
  expect(turnsBefore.every((turn, page) => page === 0 || turn > turnsBefore[page - 1]!)).toBe(true);
});

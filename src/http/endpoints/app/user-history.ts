import { mapMaybe } from "../../../lib/schedule/maybe-promise.ts";
import type { HistoryAnswer, HistoryQuery } from "../../../service/queries/history/history-query.ts";
import type { PathLength } from "../../../service/queries/history/path-meter.ts";
import { queryEndpoint } from "../../endpoint.ts";
import {
  dates,
  distanceTravelled,
  HISTORY_PAGING,
  limit,
  offset,
  order,
  timezone,
} from "../../parameters/common.ts";
import { fieldsOf } from "../../parameters/fields.ts";
import { userId } from "../../parameters/path-parameter.ts";
import { readHistoryQuery } from "../../parameters/ranges.ts";
import {
  distance,
  distanceOf,
  EXAMPLE_QUERY_INFO,
  pageCountsOf,
  queryInfo,
  queryInfoOf,
} from "../../shapes/history.ts";
import { EXAMPLE_REPORT, exampleRecord } from "../../shapes/record-schemas.ts";
import { historyRecords } from "../../shapes/records.ts";
import {
  amount,
  count,
  EXAMPLE_ASKED,
  EXAMPLE_COUNTS,
  envelope,
  object,
  optional,
  pageAsked,
  pageCounts,
  plain,
  text,
} from "../../shapes/shape.ts";

const start = { user_id: text("The requested user."), locations: historyRecords("userHistory") };
const end = {
  pagination: object({
    ...pageCounts,
    total_estimated: count("Items before paging; never below offset + count."),
    ...pageAsked,
  }),
  query_info: object({
    ...queryInfo,
    source: plain<HistoryAnswer["source"]>({
      type: "string",
      enum: ["hot", "archive", "hot+archive"],
      description: "The source of the data: memory, the archive, or both.",
    }),
  }),
};
const byDevice = plain<Readonly<Record<string, number>>>({
  type: "object",
  description: "Meters by device; their sum is the total.",
  additionalProperties: amount("Meters.").schema,
});
const answer = envelope({
  ...start,
  distance_travelled: optional(object({ ...distance, by_device: byDevice })),
  ...end,
});
/** Ends after the records: with paths, the rest is written piece by piece. */
const answerStart = envelope(start);

export const userHistory = queryEndpoint({
  operationId: "getUserLocationHistory",
  tag: "Users",
  summary: "Positions of all devices of a user, by date",
  description: `Every report made under the user. ${HISTORY_PAGING}`,
  path: "/api/v1/users/:user_id/locations/history",
  inPath: { user_id: userId },
  query: {
    ...dates,
    limit,
    offset,
    timezone,
    distance_travelled: distanceTravelled,
    order,
    fields: fieldsOf("userHistory"),
  },
  wrongQuery: "order=newest",
  answer: {
    name: "UserHistory",
    description: "One page of the positions.",
    shape: answer,
    example: {
      user_id: EXAMPLE_REPORT.user_id,
      locations: [exampleRecord("userHistory")],
      pagination: { ...EXAMPLE_COUNTS, total_estimated: 1, ...EXAMPLE_ASKED },
      query_info: { ...EXAMPLE_QUERY_INFO, source: "hot" },
    },
  },
  open({ history, answers }) {
    return (call, values) => {
      const dated = readHistoryQuery(values, call.nowMs);
      if (!dated.ok) return call.fail(dated.error);
      const { user_id, timezone: zone, fields } = values;
      const { query } = dated.value;
      return mapMaybe(history.ofUser(call.appId, user_id, query, call.request), (result) => {
        if (!result.ok) return call.fail(result.error);
        const { pages, paths } = result.value;
        const first = { user_id, locations: { appId: call.appId, pages, zone, fields } };
        const last = endOf(result.value, query, call.elapsedMs());
        if (paths === null) return call.json(answers.write(answer, { ...first, ...last }));
        const json = answers.begin();
        answerStart.write(json, first); // Synchronously, while the pages of records are valid.
        json.length--; // Without the closing brace.
        const { meters, miles } = distanceOf(paths);
        json.text(`,"distance_travelled":{"meters":${meters},"miles":${miles},"by_device":{`);
        // A copy, because the next answer overwrites the buffer.
        return call.pieces(piecesOf(json.written().slice(), paths, `}},${JSON.stringify(last).slice(1)}`));
      });
    };
  },
});

function endOf(result: HistoryAnswer, query: HistoryQuery, elapsedMs: number) {
  const { offset, limit } = query;
  return {
    pagination: {
      ...pageCountsOf(result),
      // Exact, but at least as large as an offset past the end implies.
      total_estimated: Math.max(result.total ?? 0, offset + result.count),
      offset,
      limit,
    },
    query_info: { ...queryInfoOf(result, query, elapsedMs), source: result.source },
  };
}

/** The answer with the length of each device's path, piece by piece: a user may have a million devices. */
function* piecesOf(
  first: Uint8Array<ArrayBuffer>,
  paths: readonly PathLength[],
  last: string,
): Iterable<Uint8Array<ArrayBuffer>> {
  yield first;
  for (let from = 0; from < paths.length; from += PATHS_A_PIECE) {
    // Not an object, which would sort ids that look like numbers first, and lose `__proto__`.
    const texts = paths
      .slice(from, from + PATHS_A_PIECE)
      .map(([deviceId, pathMeters]) => `${JSON.stringify(deviceId)}:${pathMeters}`);
    yield encoder.encode(`${from === 0 ? "" : ","}${texts.join(",")}`);
  }
  yield encoder.encode(last);
}

const PATHS_A_PIECE = 1024;

const encoder = new TextEncoder();

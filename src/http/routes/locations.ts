import { Elysia } from "elysia";
import { whenThere } from "../../lib/schedule/maybe-promise.ts";
import type { CurrentQueries } from "../../service/current.ts";
import type { HistoryQueries } from "../../service/history/history.ts";
import { bearerToken, type Call, type Gate } from "../gate.ts";
import { presentAppCurrent } from "../present/current.ts";
import { presentAppHistory } from "../present/history.ts";
import { describeAppCurrent, describeAppHistory } from "../schema/describe.ts";
import { readHistoryQuery } from "../schema/history-query.ts";
import { readQuery } from "../schema/parameter.ts";
import { appCurrentParameters, appHistoryParameters } from "../schema/parameters.ts";

const CURRENT = "/api/v1/locations/current";
const HISTORY = "/api/v1/locations/history";

export interface LocationRoutesDependencies {
  readonly gate: Gate;
  readonly current: CurrentQueries;
  readonly history: HistoryQueries;
}

/** The app-wide questions. */
export function locationRoutes({ gate, current, history }: LocationRoutesDependencies) {
  function answerCurrent(call: Call) {
    const read = readQuery(call.request.url, appCurrentParameters);
    if (!read.ok) return call.fail(read.error);
    const { limit, offset, timestamp_after, timestamp_before, timezone } = read.value;
    const query = { limit, offset, afterMs: timestamp_after, beforeMs: timestamp_before };
    return whenThere(current.ofApp(call.appId, query, call.request), (answer) =>
      call.json(presentAppCurrent(call.appId, answer, query, timezone)),
    );
  }

  function answerHistory(call: Call) {
    const read = readQuery(call.request.url, appHistoryParameters);
    if (!read.ok) return call.fail(read.error);
    const dated = readHistoryQuery(read.value, call.nowMs);
    if (!dated.ok) return call.fail(dated.error);
    const { query } = dated.value;
    return whenThere(history.ofApp(call.appId, query, call.request), (found) => {
      if (!found.ok) return call.fail(found.error);
      const frame = { appId: call.appId, query, zone: read.value.timezone, elapsedMs: call.elapsedMs() };
      return call.json(presentAppHistory(found.value, frame));
    });
  }

  const admitCurrent = gate.keyed("GET", CURRENT, "read", answerCurrent);
  const admitHistory = gate.keyed("GET", HISTORY, "read", answerHistory);
  return new Elysia()
    .use(bearerToken())
    .get(CURRENT, ({ request, bearer }) => admitCurrent(request, bearer), { detail: describeAppCurrent })
    .get(HISTORY, ({ request, bearer }) => admitHistory(request, bearer), { detail: describeAppHistory });
}

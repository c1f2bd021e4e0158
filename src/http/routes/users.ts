import { Elysia } from "elysia";
import { whenThere } from "../../lib/schedule/maybe-promise.ts";
import type { CurrentQueries } from "../../service/current.ts";
import type { HistoryQueries } from "../../service/history/history.ts";
import type { UserDevices } from "../../service/user-devices.ts";
import { bearerToken, type Call, type Gate } from "../gate.ts";
import { presentUserCurrent } from "../present/current.ts";
import { presentUserHistory, presentUserPaths } from "../present/history.ts";
import { presentUserDevices } from "../present/user-devices.ts";
import { describeUserCurrent, describeUserDevices, describeUserHistory } from "../schema/describe.ts";
import { readHistoryQuery } from "../schema/history-query.ts";
import { readQuery } from "../schema/parameter.ts";
import { userCurrentParameters, userDevicesParameters, userHistoryParameters } from "../schema/parameters.ts";
import { readUserId } from "../schema/path-part.ts";

const MS_PER_SECOND = 1000;

export interface UserRoutesDependencies {
  readonly gate: Gate;
  readonly current: CurrentQueries;
  readonly history: HistoryQueries;
  readonly userDevices: UserDevices;
}

export function userRoutes({ gate, current, history, userDevices }: UserRoutesDependencies) {
  function answerCurrent(call: Call) {
    const userId = readUserId(call.request.url);
    if (!userId.ok) return call.fail(userId.error);
    const read = readQuery(call.request.url, userCurrentParameters);
    if (!read.ok) return call.fail(read.error);
    const { max_age, accuracy, limit, timezone } = read.value;
    const ageMsMax = max_age === null ? null : max_age * MS_PER_SECOND;
    const query = { ageMsMax, accuracyMetersMax: accuracy, limit };
    return whenThere(current.ofUser(call.appId, userId.value, query, call.request), (found) =>
      call.json(presentUserCurrent(userId.value, found, timezone)),
    );
  }

  function answerHistory(call: Call) {
    const userId = readUserId(call.request.url);
    if (!userId.ok) return call.fail(userId.error);
    const read = readQuery(call.request.url, userHistoryParameters);
    if (!read.ok) return call.fail(read.error);
    const dated = readHistoryQuery(read.value, call.nowMs);
    if (!dated.ok) return call.fail(dated.error);
    const { query } = dated.value;
    return whenThere(history.ofUser(call.appId, userId.value, query, call.request), (found) => {
      if (!found.ok) return call.fail(found.error);
      const frame = { appId: call.appId, query, zone: read.value.timezone, elapsedMs: call.elapsedMs() };
      const { paths } = found.value;
      if (paths === null) return call.json(presentUserHistory(userId.value, found.value, frame));
      return call.pieces(presentUserPaths(userId.value, found.value, paths, frame));
    });
  }

  function answerDevices(call: Call) {
    const userId = readUserId(call.request.url);
    if (!userId.ok) return call.fail(userId.error);
    const read = readQuery(call.request.url, userDevicesParameters);
    if (!read.ok) return call.fail(read.error);
    const { active_only, max_age } = read.value;
    const pages = userDevices(call.appId, userId.value, {
      ageMsMax: active_only ? max_age * MS_PER_SECOND : null,
    });
    return call.pieces(presentUserDevices(userId.value, pages));
  }

  const routes = new Elysia().use(bearerToken());
  const resources = [
    { path: "locations/current", answer: answerCurrent, detail: describeUserCurrent },
    { path: "locations/history", answer: answerHistory, detail: describeUserHistory },
    { path: "devices", answer: answerDevices, detail: describeUserDevices },
  ];
  for (const { path, answer, detail } of resources) {
    const whole = `/api/v1/users/:user_id/${path}`;
    const admit = gate.keyed("GET", whole, "read", answer);
    routes.get(whole, ({ request, bearer }) => admit(request, bearer), { detail });
    // An empty user id is a 400 of its own, but no router takes an empty part for a parameter.
    const empty = `/api/v1/users//${path}`;
    routes.get(empty, ({ request, bearer }) => admit(request, bearer), { detail: { hide: true } });
  }
  return routes;
}

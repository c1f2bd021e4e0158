import { Elysia } from "elysia";
import { whenThere } from "../../lib/schedule/maybe-promise.ts";
import type { CurrentQueries } from "../../service/current.ts";
import type { HistoryQueries } from "../../service/history/history.ts";
import { DEVICE_NOT_FOUND, timezoneMessage } from "../errors.ts";
import { bearerToken, type Call, type Gate } from "../gate.ts";
import { presentDeviceCurrent } from "../present/current.ts";
import { emptyDeviceHistory, presentDeviceHistory } from "../present/history.ts";
import { describeDeviceCurrent, describeDeviceHistory } from "../schema/describe.ts";
import { readHistoryQuery } from "../schema/history-query.ts";
import { readQuery } from "../schema/parameter.ts";
import { deviceCurrentParameters, deviceHistoryParameters } from "../schema/parameters.ts";
import { readDeviceId } from "../schema/path-part.ts";

const CURRENT = "/api/v1/devices/:deviceId/locations/current";
const HISTORY = "/api/v1/devices/:deviceId/locations/history";

export interface DeviceRoutesDependencies {
  readonly gate: Gate;
  readonly current: CurrentQueries;
  readonly history: HistoryQueries;
}

export function deviceRoutes({ gate, current, history }: DeviceRoutesDependencies) {
  function answerCurrent(call: Call) {
    const deviceId = readDeviceId(call.request.url);
    if (!deviceId.ok) return call.fail(deviceId.error);
    const read = readQuery(call.request.url, deviceCurrentParameters);
    if (!read.ok) return call.fail(read.error);
    const found = current.ofDevice(call.appId, deviceId.value);
    if (!found.ok) return call.fail(found.error);
    return call.json(presentDeviceCurrent(found.value, read.value.timezone));
  }

  function answerHistory(call: Call) {
    const deviceId = readDeviceId(call.request.url);
    if (!deviceId.ok) return call.fail(deviceId.error);
    const read = readQuery(call.request.url, deviceHistoryParameters);
    if (!read.ok) {
      if (read.error.kind !== "invalid_timezone") return call.fail(read.error);
      return call.object(
        emptyDeviceHistory(deviceId.value, "", "", timezoneMessage(read.error.supplied)),
        400,
      );
    }
    const dated = readHistoryQuery(read.value, call.nowMs);
    if (!dated.ok) return call.fail(dated.error);
    const { startDate, endDate, query } = dated.value;
    return whenThere(history.ofDevice(call.appId, deviceId.value, query, call.request), (found) => {
      if (!found.ok) {
        if (found.error.kind !== "device_not_found") return call.fail(found.error);
        return call.object(emptyDeviceHistory(deviceId.value, startDate, endDate, DEVICE_NOT_FOUND), 404);
      }
      const frame = { appId: call.appId, query, zone: read.value.timezone, elapsedMs: call.elapsedMs() };
      return call.json(presentDeviceHistory(deviceId.value, found.value, frame));
    });
  }

  const admitCurrent = gate.keyed("GET", CURRENT, "read", answerCurrent);
  const admitHistory = gate.keyed("GET", HISTORY, "read", answerHistory);
  return new Elysia()
    .use(bearerToken())
    .get(CURRENT, ({ request, bearer }) => admitCurrent(request, bearer), { detail: describeDeviceCurrent })
    .get(HISTORY, ({ request, bearer }) => admitHistory(request, bearer), { detail: describeDeviceHistory });
}

import { type Asked, type ReferenceAnswer, retained } from "./asked.ts";
import { appHistory, deviceHistory, emptyHistory, userHistory } from "./histories.ts";
import { appCurrent, deviceCurrent, nearby, userCurrent, userDevices } from "./positions.ts";
import type { ReferenceQuery } from "./query.ts";
import type { ReferenceRecords } from "./records.ts";

export const WRONG_ZONE = "Mars/Phobos";

const ANSWERS: Readonly<Record<ReferenceQuery["endpoint"], (asked: Asked) => ReferenceAnswer>> = {
  deviceCurrent,
  deviceHistory,
  userCurrent,
  userHistory,
  userDevices,
  appCurrent,
  appHistory,
  nearby,
};

/** The whole answer to a query, the obvious way: all records are filtered, sorted and cut each time. */
export function answerOf(app: ReferenceRecords, query: ReferenceQuery, nowMs: number): ReferenceAnswer {
  const { endpoint, device = "", user = "", parameters } = query;
  const zone = endpoint === "userDevices" ? null : (parameters.timezone ?? null);
  if (zone === WRONG_ZONE) return wrongZone(endpoint, device);
  return ANSWERS[endpoint]({
    appId: app.appId,
    device,
    user,
    parameters,
    nowMs,
    zone,
    ...retained(app, nowMs),
  });
}

function wrongZone(endpoint: ReferenceQuery["endpoint"], device: string): ReferenceAnswer {
  const message = `Invalid timezone: ${WRONG_ZONE}`;
  const body =
    endpoint === "deviceHistory" ? emptyHistory(device, "", "", message) : { success: false, message };
  return { status: 400, body };
}

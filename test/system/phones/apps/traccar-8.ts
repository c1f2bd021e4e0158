import { claimedPlace, type Point } from "../phone/point.ts";
import { inOrder } from "../rules/in-order.ts";
import { isSuccess, type Judge } from "../rules/rule.ts";
import type { Account, App } from "./app.ts";
import { knots, queryText, unixSeconds } from "./texts.ts";

/** Traccar Client 8, the native one: a POST without a body, all of it in the URL. */

const RETRY_MS = 30_000;

/** Anything below 400, even a redirect, takes it off. */
const judgeOnAndroid: Judge = (outcome) =>
  outcome.kind === "answer" && outcome.status < 400 ? "taken" : "kept";

/** Any answer at all takes it off: only a broken connection keeps it. */
const judgeOnIos: Judge = (outcome) => {
  if (outcome.kind === "failure") return "kept";
  return isSuccess(outcome)
    ? "taken"
    : { lost: `deleted on any answer, ${outcome.status}`, isServersFault: false };
};

export const traccar8Android: App = {
  name: "Traccar Client 8 Android",
  rule: inOrder({ judge: judgeOnAndroid, pauseMs: () => RETRY_MS }),
  timeoutMs: 15_000,
  queuesInMemory: false,
  wholeSeconds: true,
  oddities: ["rollover", "future", "null-island", "off-earth"],
  request: (points, account) => {
    const speed = { speed: knots(points[0]!), bearing: points[0]!.bearingDegrees };
    return requestOf(points[0]!, account, speed, "Dalvik/2.1.0 (Linux; U; Android 14)");
  },
  markOf: (point) => String(unixSeconds(point)),
  deviceIdOf: ({ device }) => device,
};

export const traccar8Ios: App = {
  ...traccar8Android,
  name: "Traccar Client 8 iOS",
  rule: inOrder({ judge: judgeOnIos, pauseMs: () => RETRY_MS }),
  request: (points, account) =>
    requestOf(points[0]!, account, {}, "TraccarClient/8.0 CFNetwork/1568.100.1 Darwin/24.0.0"),
};

function requestOf(point: Point, { key, device }: Account, speed: Record<string, number>, userAgent: string) {
  const { latitude: lat, longitude: lon } = claimedPlace(point);
  const { accuracyMeters: accuracy, batteryPercent: batt } = point;
  const values = {
    id: device,
    timestamp: unixSeconds(point),
    lat,
    lon,
    ...speed,
    altitude: 34,
    accuracy,
    batt,
  };
  return {
    method: "POST",
    path: `/ingest/traccar/k/${key}?${queryText(values)}`,
    headers: { "User-Agent": userAgent },
    body: "",
  } as const;
}

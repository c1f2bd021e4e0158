import { claimedPlace, type Point, photoOf } from "../phone/point.ts";
import { doubling, inOrder } from "../rules/in-order.ts";
import { isSuccess, type Judge } from "../rules/rule.ts";
import type { Account, App } from "./app.ts";
import { basicAuthorization, brokenJson, unixSeconds, wholeKmh } from "./texts.ts";

/** OwnTracks in HTTP mode, on both systems: one message a request, the oldest first. */

const SECOND_MS = 1000;

/** 2xx takes it off, unless the answer holds what the app must take for an attack. */
const judgeOnAndroid: Judge = (outcome) => {
  if (outcome.kind === "failure" || !isSuccess(outcome)) return "kept";
  return holdsEncrypted(outcome.body) ? "kept" : "taken";
};

/** It has a pass phrase of none: whatever is encrypted makes it think that the request failed. */
function holdsEncrypted(body: string): boolean {
  return /"_type"\s*:\s*"encrypted"/.test(body);
}

/** It takes a mistake that it is told of for its own, and deletes the point. */
const judgeOnIos: Judge = (outcome, { kind }) => {
  if (isSuccess(outcome)) return "taken";
  if (outcome.kind === "failure" || outcome.status < 400 || outcome.status >= 500) return "kept";
  const isPhotosSize = outcome.status === 413 && kind === "huge-photo";
  return { lost: `deleted on ${outcome.status}`, isServersFault: !isPhotosSize };
};

export const owntracksAndroid: App = {
  name: "OwnTracks Android",
  rule: inOrder({ judge: judgeOnAndroid, pauseMs: doubling(SECOND_MS, 120 * SECOND_MS) }),
  timeoutMs: 10 * SECOND_MS,
  queuesInMemory: false,
  wholeSeconds: true,
  oddities: ["rollover", "future", "null-island", "off-earth", "unreadable", "event"],
  request: (points, account) => ({
    method: "POST",
    path: "/ingest/owntracks",
    headers: { ...headersOf(account), "User-Agent": "Owntracks-Android/gms/420503001" },
    body: bodyOf(points[0]!, account, androidMembers),
  }),
  markOf: (point) => String(unixSeconds(point)),
  deviceIdOf: ({ user, device }) => `${user}:${device}`,
};

export const owntracksIos: App = {
  name: "OwnTracks iOS",
  rule: inOrder({ judge: judgeOnIos, pauseMs: doubling(SECOND_MS, 64 * SECOND_MS), gapMs: 100 }),
  timeoutMs: 60 * SECOND_MS,
  queuesInMemory: false,
  wholeSeconds: true,
  oddities: ["future", "null-island", "off-earth", "unreadable", "event", "photo", "huge-photo"],
  request: (points, account) => ({
    method: "POST",
    path: "/ingest/owntracks",
    headers: { ...headersOf(account), "User-Agent": "OwnTracks/26.8.1 CFNetwork/1568.100.1 Darwin/24.0.0" },
    body: bodyOf(points[0]!, account, iosMembers),
  }),
  markOf: (point) => String(unixSeconds(point)),
  deviceIdOf: ({ user, device }) => `${user}:${device}`,
};

function headersOf({ user, device, key }: Account) {
  return {
    "Content-Type": "application/json",
    Authorization: basicAuthorization(user, key),
    "X-Limit-U": user,
    "X-Limit-D": device,
  };
}

function bodyOf(point: Point, account: Account, members: typeof iosMembers): string {
  if (point.kind === "unreadable") return brokenJson(point);
  const topic = `owntracks/${account.user}/${account.device}`;
  if (point.kind === "event") return eventOf(point, account, topic);
  return JSON.stringify({ _type: "location", ...commonMembers(point), ...members(point), topic });
}

function commonMembers(point: Point) {
  const { bearingDegrees, accuracyMeters, batteryPercent } = point;
  const { latitude: lat, longitude: lon } = claimedPlace(point);
  return {
    created_at: unixSeconds(point),
    tst: unixSeconds(point),
    lat,
    lon,
    acc: accuracyMeters,
    batt: batteryPercent,
    bs: 1,
    vel: wholeKmh(point),
    cog: bearingDegrees,
    conn: "m",
    m: 2,
  };
}

/** Android leaves out a latitude and a longitude of 0. */
function androidMembers(point: Point) {
  const members = {
    _id: "0d871a61",
    source: "fused",
    vac: 3,
    alt: 34,
    tid: "ne",
    inregions: ["Home"],
    qos: 1,
  };
  return point.kind === "null-island" ? { ...members, lat: undefined, lon: undefined } : members;
}

function iosMembers(point: Point): object {
  const image = photoOf(point);
  const photo = image === null ? {} : { poi: "Cafe", imagename: "cafe.jpg", image };
  return { alt: 5, vac: 10, p: 102.191, tid: "27", motionactivities: ["walking"], inregions: [], ...photo };
}

/** In turns: somebody comes home, the settings with the key in them, and those broken off. */
function eventOf(point: Point, { user, key }: Account, topic: string): string {
  if (point.number % 3 === 0) return JSON.stringify(transitionOf(point, topic));
  const configuration = { _type: "configuration", mode: 3, auth: true, username: user, password: key };
  const dump = JSON.stringify({ _type: "dump", configuration, topic: `${topic}/dump` });
  return point.number % 3 === 1 ? dump : dump.slice(0, dump.indexOf(',"topic"'));
}

function transitionOf(point: Point, topic: string) {
  const { latitude: lat, longitude: lon, accuracyMeters: acc } = point;
  const times = { tst: unixSeconds(point), wtst: 1_700_000_000 };
  return {
    _type: "transition",
    ...times,
    lat,
    lon,
    acc,
    event: "enter",
    desc: "Home",
    t: "c",
    topic: `${topic}/event`,
  };
}

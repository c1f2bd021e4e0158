/*
 * Other devices in an answer, in the format of the apps. A member of the wrong type makes an app repeat its request
 * forever, so numbers are always numbers, and unknown values are omitted.
 */

/** Another device and its last report. Unknown numbers are null. */
export interface Friend {
  /** Two letters by which the apps distinguish friends. */
  readonly tid: string;
  readonly deviceId: string;
  readonly userId: string | null;
  readonly timestampMs: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly accuracyMeters: number | null;
  readonly altitudeMeters: number | null;
  readonly speedMps: number | null;
  readonly bearingDegrees: number | null;
  readonly batteryPercent: number | null;
}

export function friendLocation(friend: Friend): object {
  const { tid, latitude, longitude, timestampMs } = friend;
  const known = {
    acc: friend.accuracyMeters,
    alt: friend.altitudeMeters,
    vel: friend.speedMps === null ? null : friend.speedMps * 3.6,
    cog: friend.bearingDegrees,
    batt: friend.batteryPercent,
  };
  return {
    _type: "location",
    tid,
    lat: latitude,
    lon: longitude,
    tst: Math.floor(timestampMs / 1000),
    ...Object.fromEntries(
      Object.entries(known).flatMap(([name, value]) => (value === null ? [] : [[name, Math.round(value)]])),
    ),
    topic: topicOf(friend),
  };
}

/** The name that the app shows next to the letters. */
export function friendCard({ tid, deviceId, userId }: Friend): object {
  return { _type: "card", tid, name: userId ?? deviceId };
}

function topicOf({ deviceId, userId }: Friend): string {
  const [device, user] = nameAndUser(deviceId, userId);
  return `owntracks/${topicPart(user)}/${topicPart(device)}`;
}

function nameAndUser(deviceId: string, userId: string | null): [string, string] {
  const colon = deviceId.indexOf(":");
  if (colon < 0) return [deviceId, userId ?? "user"];
  return [deviceId.slice(colon + 1), userId ?? deviceId.slice(0, colon)];
}

/** Replaces characters that have a meaning in a topic. */
function topicPart(name: string): string {
  return name.replace(/[/+#]/g, "-");
}

/*
 * What an answer tells the apps of other devices, in their words. A member of the wrong type makes an app take its
 * request for failed and send it again for ever, so numbers are numbers, and what is not known is left out.
 */

/** Another device, as it was last heard of. Numbers that are not known are null. */
export interface Friend {
  /** Two letters, by which the apps tell friends apart. */
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

/** The name that the app shows beside the letters. */
export function friendCard({ tid, deviceId, userId }: Friend): object {
  return { _type: "card", tid, name: userId ?? deviceId };
}

function topicOf({ deviceId, userId }: Friend): string {
  const [device, user] = nameAndUser(deviceId, userId);
  return `owntracks/${topicPart(user)}/${topicPart(device)}`;
}

/** The other way round than `deviceOf`. */
function nameAndUser(deviceId: string, userId: string | null): [string, string] {
  const colon = deviceId.indexOf(":");
  if (colon < 0) return [deviceId, userId ?? "user"];
  return [deviceId.slice(colon + 1), userId ?? deviceId.slice(0, colon)];
}

/** Without what means something in a topic. */
function topicPart(name: string): string {
  return name.replace(/[/+#]/g, "-");
}

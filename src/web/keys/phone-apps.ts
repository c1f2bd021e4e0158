/** An app that reports to us, as people look for it. */
export interface PhoneApp {
  readonly name: string;
  /** As `POST /map/keys` knows it. */
  readonly client: string;
  /** What it runs on, or what it is for. */
  readonly on: string;
}

/** In the order of how easily they are set up. */
export const PHONE_APPS: readonly PhoneApp[] = [
  { name: "OwnTracks", client: "owntracks", on: "Android, iOS" },
  { name: "Overland", client: "overland", on: "iOS" },
  { name: "Traccar Client", client: "traccar", on: "Android, iOS" },
  { name: "Colota", client: "colota", on: "Android" },
  { name: "GPSLogger", client: "gpslogger", on: "Android" },
  { name: "OsmAnd", client: "osmand", on: "Android" },
  { name: "PhoneTrack", client: "phonetrack", on: "other loggers" },
  { name: "Home Assistant", client: "homeassistant", on: "its phone app" },
  { name: "OpenGTS", client: "opengts", on: "old trackers" },
  { name: "curl", client: "curl", on: "your programs" },
];

/** Hosts that mean, on a phone, the phone itself. */
const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])$/;

/** Whether no phone can reach a server that goes by this name. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

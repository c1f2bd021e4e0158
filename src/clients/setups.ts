import { inlineJson } from "../lib/text/links.ts";
import { CLIENT_NAMES, type ClientName } from "./client.ts";
import { addressOf, deviceAddressOf, inUrl, keyedAddressOf, type Setup, type SetupRequest } from "./setup.ts";

/** What can be set up: the clients, and reports by hand with curl. */
export type SetupName = ClientName | "curl";

export const SETUP_NAMES: readonly SetupName[] = [...CLIENT_NAMES, "curl"];

export const SETUPS: Readonly<Record<SetupName, (request: SetupRequest) => Setup>> = {
  owntracks: owntracksSetup,
  overland: overlandSetup,
  traccar: traccarSetup,
  osmand: osmandSetup,
  gpslogger: gpsloggerSetup,
  opengts: opengtsSetup,
  colota: colotaSetup,
  homeassistant: homeassistantSetup,
  phonetrack: phonetrackSetup,
  "traccar-forward": traccarForwardSetup,
  curl: curlSetup,
};

/** Defaults. Most apps report about one device. */
const EMPTY_SETUP = { fields: [], paste: null, link: null, isOneDevice: true, notes: [] };

/** The app's own default, which this server ignores. The app sends a password only together with a user name. */
const NO_USER = "user";

function owntracksSetup(request: SetupRequest): Setup {
  const { key, deviceId, userId } = request;
  const url = addressOf(request, "owntracks");
  return {
    ...EMPTY_SETUP,
    app: "OwnTracks",
    place: "Preferences > Connection (iOS: the i, then Settings)",
    fields: [
      { name: "Mode", value: "HTTP" },
      { name: "URL", value: url },
      {
        name: "Username",
        value: userId ?? (deviceId === null ? "the name of the phone's owner (required)" : NO_USER),
      },
      { name: "Password", value: key },
      { name: "Device ID", value: deviceId ?? "a name for the phone" },
    ],
    link: {
      url: `owntracks:///config?inline=${inlineJson({
        _type: "configuration",
        mode: 3,
        url,
        username: userId ?? NO_USER,
        password: key,
        ...(deviceId === null ? {} : { deviceId }),
        auth: true,
      })}`,
      opensApp: true,
    },
    notes: [
      "The link works only if the app's settings allow configuration by URI; otherwise the app ignores it.",
      "On Android a change of URL, user or mode deletes unsent points: wait until the app has sent all of them.",
    ],
  };
}

function overlandSetup(request: SetupRequest): Setup {
  const { key, deviceId } = request;
  const url = addressOf(request, "overland");
  const device = deviceId === null ? "" : `&device_id=${inUrl(deviceId)}`;
  return {
    ...EMPTY_SETUP,
    app: "Overland",
    place: "Settings > Receiver Endpoint",
    fields: [
      { name: "Endpoint URL", value: url },
      { name: "Access Token", value: key },
      { name: "Device ID", value: deviceId ?? "a name for the phone" },
    ],
    link: { url: `overland://setup?url=${inUrl(url)}&token=${key}${device}&unique_id=yes`, opensApp: true },
    notes: [
      'Leave "Consider HTTP 2XX successful" off: with it the app deletes points that the server has not stored.',
    ],
  };
}

/** Seconds, meters and accuracy that suit most people. The user can change them in the app. */
const SETTINGS = "interval=60&distance=75&accuracy=high";

function traccarSetup(request: SetupRequest): Setup {
  const { deviceId } = request;
  const url = keyedAddressOf(request, "traccar");
  const device = deviceId === null ? "" : `id=${inUrl(deviceId)}&`;
  return {
    ...EMPTY_SETUP,
    app: "Traccar Client",
    place: "Settings",
    fields: [
      { name: "Server URL", value: url },
      { name: "Device identifier", value: deviceId ?? "a name for the phone" },
    ],
    link: { url: `${url}?${device}${SETTINGS}`, opensApp: false },
    notes: [
      "Versions 9 and 10 have a button for QR codes in their settings; in version 8 type the two fields.",
      "Version 8 on iOS deletes a point on any answer, even if the server did not store it: update the app.",
    ],
  };
}

/** The app's placeholders by number. Its hdop is the accuracy in meters. */
const PARAMETERS = "lat={0}&lon={1}&timestamp={2}&hdop={3}&altitude={4}&speed={5}&bearing={6}";

function osmandSetup(request: SetupRequest): Setup {
  return {
    ...EMPTY_SETUP,
    app: "OsmAnd",
    place: "Plugins > Trip recording > Settings > Online tracking",
    fields: [{ name: "Web address", value: `${deviceAddressOf(request, "osmand")}?${PARAMETERS}` }],
    notes: [
      'Set "Time buffer" to the longest time that the phone may be offline: the app drops older points.',
      "The app holds unsent points in memory only, so they are lost when it ends.",
    ],
  };
}

function gpsloggerSetup(request: SetupRequest): Setup {
  return {
    ...EMPTY_SETUP,
    app: "GPSLogger",
    place: "Logging details > Log to custom URL",
    fields: [
      { name: "URL", value: `${addressOf(request, "gpslogger")}?%ALL` },
      { name: "HTTP Headers", value: `Authorization: Bearer ${request.key}` },
      { name: "HTTP Method", value: "GET" },
      { name: "HTTP Body", value: "empty" },
      { name: "Discard offline locations", value: "off" },
      { name: "Allow auto sending", value: "off" },
    ],
    notes: ["The app gives up a point after four tries: keep its log files if no point may be missing."],
  };
}

function opengtsSetup(request: SetupRequest): Setup {
  const { deviceId, userId } = request;
  const { scheme, host, port, path } = partsOf(keyedAddressOf(request, "opengts"));
  return {
    ...EMPTY_SETUP,
    app: "OpenGTS (GPSLogger's and old trackers')",
    place: "Auto send > OpenGTS",
    fields: [
      { name: "Server", value: host },
      { name: "Port", value: port },
      { name: "Communication method", value: scheme.toUpperCase() },
      { name: "Server path", value: path },
      { name: "Device ID", value: deviceId ?? "a name for the phone" },
      { name: "Account name", value: userId ?? "the name of the phone's owner" },
    ],
  };
}

/** Splits an address without `URL`, which would write a placeholder in lower case. */
function partsOf(address: string) {
  const [, scheme = "", host = "", port, path = ""] =
    /^(https?):\/\/([^/:[]+|\[[^\]]+\])(?::(\d+))?(.*)$/.exec(address) ?? [];
  return { scheme, host, port: port ?? (scheme === "https" ? "443" : "80"), path };
}

function colotaSetup(request: SetupRequest): Setup {
  const { key } = request;
  const endpoint = addressOf(request, "colota");
  const auth = { type: "bearer", bearerToken: key };
  return {
    ...EMPTY_SETUP,
    app: "Colota",
    place: "Settings > Connection",
    fields: [
      { name: "Endpoint", value: endpoint },
      { name: "Template", value: "GeoPulse" },
      { name: "Authentication", value: "Bearer token" },
      { name: "Token", value: key },
    ],
    link: {
      url: `colota://setup?config=${inlineJson({ endpoint, apiTemplate: "geopulse", httpMethod: "POST", auth })}`,
      opensApp: true,
    },
    notes: ["Colota accepts http only for addresses of a private network; for others use https."],
  };
}

function homeassistantSetup(request: SetupRequest): Setup {
  return {
    ...EMPTY_SETUP,
    app: "Home Assistant",
    place: "configuration.yaml; fill in the names of your tracker and battery sensor, then restart",
    paste: configuration(addressOf(request, "homeassistant"), request.key),
    notes: [
      "Home Assistant does not retry: reports that it can't send are lost. OwnTracks on the phone retries, so use both.",
      "If the tracker comes from its OwnTracks integration, speeds are in km/h: add ?speed_unit=kmh to the address.",
    ],
  };
}

/** The payload is one expression that Home Assistant writes as JSON, so it is JSON whatever values the tracker has. */
function configuration(address: string, key: string): string {
  return `\
rest_command:
  wherehouse:
    url: ${JSON.stringify(address)}
    method: POST
    content_type: application/json
    headers:
      Authorization: "Bearer ${key}"
    payload: >-
      {{ {"device_id": tracker,
      "timestamp": states[tracker].last_updated.isoformat(),
      "location": {"latitude": state_attr(tracker, "latitude"),
      "longitude": state_attr(tracker, "longitude"),
      "accuracy": state_attr(tracker, "gps_accuracy"),
      "altitude": state_attr(tracker, "altitude"),
      "speed": state_attr(tracker, "speed")},
      "battery": {"level": states("sensor.YOUR_PHONE_battery_level")}} | tojson }}

automation:
  - alias: Position to Wherehouse
    mode: queued
    triggers:
      - trigger: state
        entity_id: device_tracker.YOUR_PHONE
    conditions:
      - condition: template
        value_template: '{{ state_attr("device_tracker.YOUR_PHONE", "latitude") is not none }}'
    actions:
      - action: rest_command.wherehouse
        data:
          tracker: device_tracker.YOUR_PHONE
`;
}

function phonetrackSetup(request: SetupRequest): Setup {
  return {
    ...EMPTY_SETUP,
    app: "an app that reports to PhoneTrack",
    place: "the field for the address of a session",
    fields: [
      { name: "URL", value: deviceAddressOf(request, "phonetrack") },
      { name: "Parameters", value: "lat, lon, timestamp, alt, acc, bat, speed, bearing; by GET or POST" },
    ],
    notes: ["speed is in meters per second, timestamp in seconds."],
  };
}

function traccarForwardSetup(request: SetupRequest): Setup {
  return {
    ...EMPTY_SETUP,
    app: "a Traccar server that forwards positions",
    place: "conf/traccar.xml, among the properties; then restart",
    paste: entries(addressOf(request, "traccar-forward"), request.key),
    isOneDevice: false,
    notes: ["Traccar holds unsent positions in memory only, so don't rely on it for a permanent move."],
  };
}

function entries(address: string, key: string): string {
  return `\
<entry key='forward.type'>json</entry>
<entry key='forward.url'>${address.replaceAll("&", "&amp;")}</entry>
<entry key='forward.header'>Authorization: Bearer ${key}</entry>
<entry key='forward.retry.enable'>true</entry>
`;
}

/** Big Ben, easy to find on the map. */
const TRIAL = '"latitude":51.5007,"longitude":-0.1246,"speed":3,"battery_level":81';

/** For people who want to see a report arrive before they set up an app, or who write a program. */
function curlSetup({ serverUrl, key, deviceId }: SetupRequest): Setup {
  return {
    ...EMPTY_SETUP,
    app: "curl",
    place: "any shell; a program sends the same",
    paste: `\
curl ${serverUrl}/ingest/v1/locations \\
  -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\
  -d '{"device_id":${inQuotes(JSON.stringify(deviceId ?? "phone-1"))},"timestamp":'$(date +%s000)',${TRIAL}}'
`,
  };
}

function inQuotes(text: string): string {
  return text.replaceAll("'", "'\\''");
}

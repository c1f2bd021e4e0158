import {
  COMPAT_SERVERS,
  DEFAULT_ARCHIVE_CONFIG,
  DEFAULT_HOSTNAME,
  DEFAULT_PORT,
  DEFAULT_QUEUED_MESSAGES,
  DEFAULT_TOPIC_FILTER,
  DEFAULT_VIEWERS,
} from "../../app/config.ts";
import { fail, ok } from "../../lib/result.ts";
import { formatDuration, parseDuration } from "../../lib/text/duration.ts";
import { parseIpBlock } from "../../lib/text/ip-address.ts";
import type { BrokerAddress } from "../../service/mqtt/mqtt.ts";
import { isTopicFilter } from "../../service/mqtt/topic-filter.ts";
import type { FlagRows } from "../arguments/flag-row.ts";
import {
  APP,
  FILE,
  MEMORY,
  oneOf,
  PORT,
  parseWholeNumber,
  ruled,
  type ValueKind,
} from "../arguments/value-kinds.ts";
import { CLUSTER_FLAGS } from "../cluster/flags.ts";

/** Each level includes the levels before it. */
const LOG_LEVELS = ["error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const SEAL_INTERVAL_MS_MAX = 2 ** 31 - 1; // The longest time that a timer can wait.
const THREADS_MAX = 256;
const COUNT_MAX = 999_999_999;

const HOST = ruled("HOST", "be a host name or address", (text) => (/^[^\s/]+$/.test(text) ? text : null));

/** An origin as browsers send it: scheme, host and port. */
const ORIGIN = ruled("ORIGIN", "be * or an origin such as https://example.org", (text) =>
  text === "*" || (/^https?:/.test(text) && URL.parse(text)?.origin === text) ? text : null,
);

const BLOCK = ruled("CIDR", "be an address, or addresses such as 10.0.0.0/8", parseIpBlock);

const PROXY = ruled("URL", "be an address such as http://proxy.example:3128", (text) =>
  /^https?:/.test(text) && URL.parse(text)?.origin === text ? text : null,
);

const SEAL_INTERVAL: ValueKind<number> = {
  ...ruled("TIME", "be a time such as 15m, 1h or 1d, at most 24d", (text) => {
    const intervalMs = parseDuration(text);
    return intervalMs === null || intervalMs > SEAL_INTERVAL_MS_MAX ? null : intervalMs;
  }),
  format: formatDuration,
};

const THREADS = ruled("N", `be a whole number from 1 to ${THREADS_MAX}`, (text) =>
  parseWholeNumber(text, 1, THREADS_MAX),
);

const LOG_LEVEL = oneOf("LEVEL", LOG_LEVELS);

const COMPAT = oneOf("SERVER", COMPAT_SERVERS);

/** The error does not repeat the address: it may hold a password. */
const BROKER: ValueKind<BrokerAddress> = {
  placeholder: "URL",
  parse(text, name) {
    const url = URL.parse(text);
    if (url !== null && url.password !== "") return fail(`${name} ${NO_PASSWORD}`);
    const broker = url === null ? null : brokerOf(url);
    return broker === null
      ? fail(`${name} must be an address such as mqtts://user@broker.example:8883`)
      : ok(broker);
  },
};

const NO_PASSWORD =
  "must not hold a password: every user of this machine could read it; " +
  "put it into the variable WHEREHOUSE_MQTT_PASSWORD, or into a file for --mqtt-password-file";

const TOPIC_FILTER = ruled(
  "FILTER",
  "be a topic filter such as owntracks/+/+, and no topic of the broker itself",
  (text) => (isTopicFilter(text) ? text : null),
);

const COUNT = ruled("N", `be a whole number from 1 to ${COUNT_MAX}`, (text) =>
  parseWholeNumber(text, 1, COUNT_MAX),
);

const BROKER_PORTS: Readonly<Record<string, number>> = { "mqtt:": 1883, "mqtts:": 8883 };

function brokerOf({ protocol, hostname, port, username, pathname, search, hash }: URL): BrokerAddress | null {
  const defaultPort = BROKER_PORTS[protocol];
  const isMore = !["", "/"].includes(pathname) || search !== "" || hash !== "";
  if (defaultPort === undefined || hostname === "" || isMore) return null;
  return {
    hostname: hostname.replace(/^\[|\]$/g, ""), // The brackets of an IPv6 address.
    port: port === "" ? defaultPort : Number(port),
    isSecure: protocol === "mqtts:",
    user: username === "" ? null : decodeURIComponent(username),
  };
}

export const SERVE_FLAGS = {
  port: {
    name: "port",
    takes: PORT,
    default: DEFAULT_PORT,
    variable: "WHEREHOUSE_PORT",
    does: "port to listen on; 0 lets the system choose",
  },
  hostname: {
    name: "host",
    takes: HOST,
    default: DEFAULT_HOSTNAME,
    variable: "WHEREHOUSE_HOST",
    does: "name or address to listen on",
  },
  corsOrigins: {
    name: "cors-origin",
    takes: ORIGIN,
    repeats: true,
    otherwise: "none",
    does: "let web pages of this origin read responses; * allows any",
  },
  compat: {
    name: "compat",
    takes: COMPAT,
    otherwise: "none",
    does: "also accept what apps send to the paths of this kind of server",
  },
  mapFile: {
    name: "map",
    takes: FILE,
    otherwise: "what map fetch copied into the data directory",
    does: "show streets on the map, from this extract of a Protomaps basemap (PMTiles)",
  },
  sealIntervalMs: {
    name: "seal-every",
    takes: SEAL_INTERVAL,
    default: DEFAULT_ARCHIVE_CONFIG.sealIntervalMs,
    does: "how often completed days and late data move into the archive: 30s, 15m, 1h, 1d",
  },
  archiveThreads: {
    name: "archive-threads",
    takes: THREADS,
    default: DEFAULT_ARCHIVE_CONFIG.archiveThreads,
    does: "threads for queries of archived days",
  },
  archiveMemoryBytes: {
    name: "archive-memory",
    takes: MEMORY,
    default: DEFAULT_ARCHIVE_CONFIG.archiveMemoryBytes,
    does: "memory for these queries: 500MB, 4GB",
  },
  broker: {
    name: "mqtt",
    takes: BROKER,
    otherwise: "none",
    does: "receive what OwnTracks publishes to this MQTT broker; see docs/mqtt.md",
  },
  topicFilters: {
    name: "mqtt-topic",
    takes: TOPIC_FILTER,
    repeats: true,
    goesWith: "mqtt",
    otherwise: DEFAULT_TOPIC_FILTER,
    does: "topics to subscribe to; each filter has its own connection",
  },
  mqttAppId: { name: "mqtt-app", takes: APP, goesWith: "mqtt", does: "the app that receives its reports" },
  mqttEventApps: {
    name: "mqtt-events",
    takes: APP,
    repeats: true,
    goesWith: "mqtt",
    otherwise: "the app of --mqtt-app",
    does: "publish events of geofences and alerts of this app to the broker",
  },
  mqttPasswordFile: {
    name: "mqtt-password-file",
    takes: FILE,
    goesWith: "mqtt",
    otherwise: "WHEREHOUSE_MQTT_PASSWORD",
    does: "a file that holds the broker's password",
  },
  mqttAuthoritiesFile: {
    name: "mqtt-ca",
    takes: FILE,
    goesWith: "mqtt",
    otherwise: "those that the runtime trusts",
    does: "CA certificates (PEM) to verify the broker's certificate with",
  },
  queuedMessagesMax: {
    name: "mqtt-queue",
    takes: COUNT,
    goesWith: "mqtt",
    default: DEFAULT_QUEUED_MESSAGES,
    does: "how many messages the broker is set to queue while the server is down; for the doctor and the metrics",
  },
  webhookAllow: {
    name: "webhook-allow",
    takes: BLOCK,
    repeats: true,
    otherwise: "public addresses, by https",
    does: "let webhooks reach these addresses too, also by http; see docs/webhooks.md",
  },
  webhookProxy: {
    name: "webhook-proxy",
    takes: PROXY,
    otherwise: "none",
    does: "send webhooks through this HTTP proxy, which then decides what they may reach",
  },
  ...CLUSTER_FLAGS,
  friendsApps: {
    name: "friends",
    takes: APP,
    repeats: true,
    otherwise: "none",
    does: "show OwnTracks phones of this app its other devices, if the phone's key may read",
  },
  viewersMax: {
    name: "max-viewers",
    takes: COUNT,
    default: DEFAULT_VIEWERS,
    does: "the most viewers of the live stream; one app gets at most half of them",
  },
  logLevel: {
    name: "log-level",
    takes: LOG_LEVEL,
    default: "info",
    variable: "WHEREHOUSE_LOG_LEVEL",
    does: "how much to log",
  },
} as const satisfies FlagRows;

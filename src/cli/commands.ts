import {
  DEFAULT_ARCHIVE_CONFIG,
  DEFAULT_DATA_DIR,
  DEFAULT_DEMO_DIR,
  DEFAULT_DEMO_SPEED,
  DEFAULT_HOSTNAME,
  DEFAULT_PORT,
  DEFAULT_QUEUED_MESSAGES,
  DEFAULT_SERVER_URL,
  DEFAULT_TOPIC_FILTER,
  DEFAULT_VIEWERS,
} from "../app/config.ts";
import type { FlagRows, FlagValues } from "./arguments/flag-row.ts";
import {
  APP,
  BROKER,
  CLIENT,
  COMPAT,
  COUNT,
  DEVICE,
  DIRECTORY,
  FILE,
  HOST,
  KEY,
  LABEL,
  LOG_LEVEL,
  MEMORY,
  ORIGIN,
  PERMISSION,
  PORT,
  REASON,
  SEAL_INTERVAL,
  SERVER_URL,
  SPEED,
  THREADS,
  TIER,
  TOPIC_FILTER,
  USER,
} from "./arguments/value-kinds.ts";
import { CLUSTER_FLAGS, CLUSTER_INIT_FLAGS, JOIN_FLAGS } from "./cluster/flags.ts";
import { EXPORT_FLAGS } from "./export/flags.ts";
import { IMPORT_FLAGS } from "./import/flags.ts";
import { ENDING, VIEW_FLAGS } from "./keys/view-flags.ts";

const OWN_SERVER = `the server of the directory, else ${DEFAULT_SERVER_URL}`;

/** Of commands that change the quarantine of a running server. */
const SERVER_FLAGS = {
  url: { name: "url", takes: SERVER_URL, otherwise: OWN_SERVER, does: "a running server" },
  key: {
    name: "key",
    takes: KEY,
    variable: "WHEREHOUSE_KEY",
    does: "a key of it that may read and write and is not bound",
  },
} as const satisfies FlagRows;

/** Of commands that ask a running server, and change nothing. */
const ASKED_FLAGS = {
  url: {
    name: "url",
    takes: SERVER_URL,
    otherwise: `${OWN_SERVER} with a key`,
    does: "a running server, as phones reach it",
  },
  key: {
    name: "key",
    takes: KEY,
    variable: "WHEREHOUSE_KEY",
    does: "a key of it that may read; beside the server of the directory none is needed",
  },
  appId: { name: "app", takes: APP, otherwise: "all", does: "only this app of the directory, without a key" },
} as const satisfies FlagRows;

const ENTRY_FLAGS = {
  client: { name: "client", takes: CLIENT, otherwise: "all", does: "only what this app sent" },
  reason: { name: "reason", takes: REASON, otherwise: "all", does: "only what was refused for this reason" },
  deviceId: {
    name: "device",
    takes: DEVICE,
    otherwise: "all",
    does: "only what is this device's, as the list names it",
  },
} as const satisfies FlagRows;

const ALL_FLAG = { name: "all", does: "all entries, or all that the other options let through" } as const;

/**
 * Every flag of the command line, by command: the parser, what a command is given, `--help` and the documents' table
 * follow from its row. The name before it is that of its value in the program.
 */
export const FLAGS = {
  serve: {
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
      does: "lets pages of this origin read answers; * is any",
    },
    compat: {
      name: "compat",
      takes: COMPAT,
      otherwise: "none",
      does: "also takes what apps send to the paths of this server",
    },
    mapFile: {
      name: "map",
      takes: FILE,
      otherwise: "the world without streets",
      does: "shows the streets of this extract of a Protomaps basemap (PMTiles) on the map",
    },
    sealIntervalMs: {
      name: "seal-every",
      takes: SEAL_INTERVAL,
      default: DEFAULT_ARCHIVE_CONFIG.sealIntervalMs,
      does: "how often what is due and all late data move into the archive: 30s, 15m, 1h, 1d",
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
      does: "memory for them: 500MB, 4GB",
    },
    broker: {
      name: "mqtt",
      takes: BROKER,
      otherwise: "none",
      does: "takes what OwnTracks publishes to this MQTT broker; docs/mqtt.md has more",
    },
    topicFilters: {
      name: "mqtt-topic",
      takes: TOPIC_FILTER,
      repeats: true,
      goesWith: "mqtt",
      otherwise: DEFAULT_TOPIC_FILTER,
      does: "topics to subscribe to, over a connection of their own",
    },
    mqttAppId: { name: "mqtt-app", takes: APP, goesWith: "mqtt", does: "the app that its reports belong to" },
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
      does: "certificates (PEM), one of which must have signed the broker's",
    },
    queuedMessagesMax: {
      name: "mqtt-queue",
      takes: COUNT,
      goesWith: "mqtt",
      default: DEFAULT_QUEUED_MESSAGES,
      does: "messages that the broker keeps while the server is away, by its settings; for the doctor and the metrics",
    },
    ...CLUSTER_FLAGS,
    friendsApps: {
      name: "friends",
      takes: APP,
      repeats: true,
      otherwise: "none",
      does: "tells OwnTracks phones of this app where its other devices are, where their keys may read",
    },
    viewersMax: {
      name: "max-viewers",
      takes: COUNT,
      default: DEFAULT_VIEWERS,
      does: "how many may listen to the live stream at once; an app has half of them",
    },
    /** By default starts, stops, seals and trouble; no line for a request. */
    logLevel: {
      name: "log-level",
      takes: LOG_LEVEL,
      default: "info",
      variable: "WHEREHOUSE_LOG_LEVEL",
      does: "how much is logged",
    },
  },
  demo: {
    speed: {
      name: "speed",
      takes: SPEED,
      default: DEFAULT_DEMO_SPEED,
      does: "so many times faster than recorded",
    },
    path: {
      name: "file",
      takes: FILE,
      otherwise: "the samples in data/samples",
      does: "plays what is in a CSV, or whatever else import reads",
    },
    port: { name: "port", takes: PORT, default: 0, otherwise: "any that is free", does: "port to listen on" },
    dataDir: { name: "data-dir", takes: DIRECTORY, default: DEFAULT_DEMO_DIR, does: "the data directory" },
  },
  "keys create": {
    appId: { name: "app", takes: APP, required: true, does: "the app that the key belongs to" },
    permissions: {
      name: "permission",
      takes: PERMISSION,
      repeats: true,
      otherwise: "write with --for",
      does: "what the key may do",
    },
    client: {
      name: "for",
      takes: CLIENT,
      does: "says what to type into this app, so that it reports",
    },
    serverUrl: {
      name: "url",
      takes: SERVER_URL,
      goesWith: "for",
      otherwise: "https://YOUR-HOST",
      does: "the server as the app reaches it",
    },
    deviceId: {
      name: "device",
      takes: DEVICE,
      otherwise: "any",
      does: "the one device that the key may report as",
    },
    userId: { name: "user", takes: USER, otherwise: "any", does: "the one user that it may report as" },
    tier: { name: "tier", takes: TIER, default: "standard", does: "how fast the key may ask" },
    label: {
      name: "label",
      takes: LABEL,
      default: "",
      otherwise: "none",
      does: "what the key is for, shown by keys list",
    },
    ends: {
      name: "expires",
      takes: ENDING,
      otherwise: "never",
      does: "lifetime from now (90m, 12h, 30d, 2w), or an instant: 2026-04-01T18:00+02:00",
    },
    ...VIEW_FLAGS,
  },
  "keys list": {
    json: { name: "json", does: "as JSON, with times in Unix milliseconds" },
  },
  "keys link": {
    serverUrl: {
      name: "url",
      takes: SERVER_URL,
      otherwise: "where the server listens that has the directory",
      does: "the running server, as the browser reaches it",
    },
  },
  "keys revoke": {},
  "keys passphrase": {
    deviceId: {
      name: "device",
      takes: DEVICE,
      otherwise: "all of the key",
      does: "the device that encrypts, as answers show it or without its user",
    },
    remove: { name: "remove", does: "forget it: nothing is opened with it any more" },
  },
  "quarantine list": {
    ...ASKED_FLAGS,
    ...ENTRY_FLAGS,
    json: { name: "json", does: "as JSON, with times in Unix milliseconds" },
  },
  "quarantine show": {
    ...ASKED_FLAGS,
    json: { name: "json", does: "the whole entry as JSON" },
  },
  "quarantine replay": { ...SERVER_FLAGS, ...ENTRY_FLAGS, all: ALL_FLAG },
  "quarantine delete": { ...SERVER_FLAGS, ...ENTRY_FLAGS, all: ALL_FLAG },
  import: IMPORT_FLAGS,
  export: EXPORT_FLAGS,
  doctor: {
    ...ASKED_FLAGS,
    deviceId: { name: "device", takes: DEVICE, otherwise: "all", does: "the one device that is asked about" },
    json: { name: "json", does: "what was found as JSON" },
  },
  "settings list": {
    json: { name: "json", does: "as JSON" },
  },
  "settings set": {
    yes: { name: "yes", does: "do it though records go" },
  },
  seal: {
    json: { name: "json", does: "what was done as JSON" },
  },
  backup: {
    json: { name: "json", does: "what was done as JSON" },
  },
  restore: {
    json: { name: "json", does: "what was done as JSON" },
  },
  join: JOIN_FLAGS,
  verify: {
    json: { name: "json", does: "the report as JSON" },
    acknowledge: { name: "acknowledge", does: "note what was set aside as seen" },
    days: { name: "days", does: "list the records and the SHA-256 of each app and day (--json always does)" },
    quick: { name: "quick", does: "read log and files, and leave out whether their records agree" },
  },
  "cluster init": CLUSTER_INIT_FLAGS,
  "cluster nodes": {
    json: { name: "json", does: "the nodes as JSON" },
  },
} as const satisfies Record<string, FlagRows>;

/** Flags that every command takes, before its name or after it. */
export const COMMON_FLAGS = {
  dataDir: {
    name: "data-dir",
    takes: DIRECTORY,
    default: DEFAULT_DATA_DIR,
    variable: "WHEREHOUSE_DATA_DIR",
    does: "the data directory",
  },
  help: { name: "help", does: "what a command does, and its options" },
  version: { name: "version", does: "the version" },
} as const satisfies FlagRows;

export type CommandName = keyof typeof FLAGS;

/** What the flags of a command say. */
export type ValuesOf<Name extends CommandName> = FlagValues<(typeof FLAGS)[Name]>;

export function isCommandName(text: string): text is CommandName {
  return Object.hasOwn(FLAGS, text);
}

import { DEFAULT_LOG_BYTES, DEFAULT_NODE_TIMEOUT_MS, DEFAULT_STREAM } from "../../app/config.ts";
import type { FlagRows } from "../arguments/flag-row.ts";
import { FILE, KEY, MEMORY, SERVER_URL } from "../arguments/value-kinds.ts";
import { AUTHORITIES } from "./access.ts";
import { LOG_SERVERS, NODE_TIMEOUT, STREAM } from "./value-kinds.ts";

/** Of a server that is one of several over the same log. */
export const CLUSTER_FLAGS = {
  logServers: {
    name: "log",
    takes: LOG_SERVERS,
    otherwise: "none",
    does: "run as a node of the cluster whose log is on these NATS servers",
  },
  stream: {
    name: "stream",
    takes: STREAM,
    goesWith: "log",
    default: DEFAULT_STREAM,
    does: "the log's stream, made where there is none",
  },
  logBytesMax: {
    name: "log-size",
    takes: MEMORY,
    goesWith: "log",
    default: DEFAULT_LOG_BYTES,
    does: "size of the stream, if this start creates it; the servers reserve that much",
  },
  nodeTimeoutMs: {
    name: "node-timeout",
    takes: NODE_TIMEOUT,
    goesWith: "log",
    default: DEFAULT_NODE_TIMEOUT_MS,
    does: "how long the log is kept for a node that is away",
  },
  advertise: {
    name: "advertise",
    takes: SERVER_URL,
    goesWith: "log",
    otherwise: "where it listens",
    does: "the address at which other nodes and people reach this one",
  },
  natsAuthoritiesFile: {
    name: "nats-ca",
    takes: FILE,
    goesWith: "log",
    variable: AUTHORITIES,
    otherwise: "those that the runtime trusts",
    does: "certificates (PEM), one of which must have signed those of the NATS servers",
  },
} as const satisfies FlagRows;

/** Of a directory that moves in. */
export const CLUSTER_INIT_FLAGS = {
  logServers: {
    name: "log",
    takes: LOG_SERVERS,
    required: true,
    does: "the NATS servers of the cluster's log",
  },
  stream: CLUSTER_FLAGS.stream,
  logBytesMax: CLUSTER_FLAGS.logBytesMax,
  natsAuthoritiesFile: CLUSTER_FLAGS.natsAuthoritiesFile,
  json: { name: "json", does: "what was done as JSON" },
} as const satisfies FlagRows;

/** Of one more node. */
export const JOIN_FLAGS = {
  key: {
    name: "key",
    takes: KEY,
    variable: "WHEREHOUSE_KEY",
    does: "a key that may operate; better in the variable, which other users of the machine can't see",
  },
  again: { name: "again", does: "replace the archive of a node that has to copy again" },
  json: { name: "json", does: "what was done as JSON" },
} as const satisfies FlagRows;

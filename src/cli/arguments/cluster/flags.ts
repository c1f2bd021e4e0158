import { DEFAULT_LOG_BYTES, DEFAULT_NODE_TIMEOUT_MS, DEFAULT_STREAM } from "../../../config.ts";
import type { FlagRows } from "../flag-row.ts";
import { FILE, MEMORY, SERVER_URL } from "../value-kinds.ts";
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

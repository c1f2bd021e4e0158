import { DEFAULT_LOG_BYTES, DEFAULT_NODE_TIMEOUT_MS, DEFAULT_STREAM } from "../../app/config.ts";
import type {
  ClusterAccess,
  ClusterAddress,
  ClusterConfig,
  ClusterCredentials,
} from "../../cluster/cluster-config.ts";
import { isStreamName } from "../../cluster/cluster-file.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { formatDuration, parseDuration } from "../../lib/text/duration.ts";
import { parseHostPort } from "../../lib/text/links.ts";
import type { Environment, FlagRows, FlagValues } from "../arguments/flag-row.ts";
import { FILE, MEMORY, ruled, SERVER_URL, type ValueKind } from "../arguments/value-kinds.ts";

/* The flags that `serve` and `cluster init` share, and the environment variables with the cluster's credentials. */

const NATS_PORT = 4222; // The default of NATS.

const LOG_ADDRESS = /^(nats|tls):\/\/([^/]+)\/?$/;

/** The servers of a cluster's log. The error does not repeat the text: it may hold a password. */
export const LOG_SERVERS: ValueKind<Pick<ClusterAddress, "servers" | "isSecure">> = {
  placeholder: "URL",
  parse(text, name) {
    if (text.includes("@")) return fail(`${name} ${NO_CREDENTIALS}`);
    const [, scheme, list = ""] = LOG_ADDRESS.exec(text) ?? [];
    const servers: string[] = [];
    for (const part of list.split(",")) {
      const server = parseHostPort(part, NATS_PORT);
      if (server === null) return fail(`${name} ${LOG_RULE}`);
      if (!servers.includes(server)) servers.push(server);
    }
    return ok({ servers, isSecure: scheme === "tls" });
  },
};

const NO_CREDENTIALS =
  "must not hold a user, a password or a token: every user of this machine could read it; " +
  "put them into the variables WHEREHOUSE_NATS_USER and WHEREHOUSE_NATS_PASSWORD, or WHEREHOUSE_NATS_TOKEN";

const LOG_RULE = "must be an address such as nats://a.example:4222,b.example:4222 or tls://a.example";

const STREAM = ruled("NAME", "have 1 to 32 letters, digits, dashes and underscores", (text) =>
  isStreamName(text) ? text : null,
);

const NODE_TIMEOUT_MS_MIN = 60_000; // Twice what a node may be silent for.

const NODE_TIMEOUT: ValueKind<number> = {
  ...ruled("TIME", "be a time such as 12h or 7d, at least 1m", (text) => {
    const timeoutMs = parseDuration(text);
    return timeoutMs === null || timeoutMs < NODE_TIMEOUT_MS_MIN ? null : timeoutMs;
  }),
  format: formatDuration,
};

// Credentials are not flags, since every user of a machine can read the flags of its processes.
const USER = "WHEREHOUSE_NATS_USER";
const PASSWORD = "WHEREHOUSE_NATS_PASSWORD";
const TOKEN = "WHEREHOUSE_NATS_TOKEN";
const CREDENTIALS = "WHEREHOUSE_NATS_CREDENTIALS";

/** The variable of `--nats-ca`, for commands that have no such flag. */
const AUTHORITIES = "WHEREHOUSE_NATS_CA";

/** The flags of a server that is one of several over the same log. */
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
    does: "the stream of the log, created if it is missing",
  },
  logBytesMax: {
    name: "log-size",
    takes: MEMORY,
    goesWith: "log",
    default: DEFAULT_LOG_BYTES,
    does: "size of the stream if this start creates it; the servers reserve that space",
  },
  nodeTimeoutMs: {
    name: "node-timeout",
    takes: NODE_TIMEOUT,
    goesWith: "log",
    default: DEFAULT_NODE_TIMEOUT_MS,
    does: "how long the log is kept for a node that is down",
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
    does: "CA certificates (PEM) to verify the NATS servers with",
  },
} as const satisfies FlagRows;

/** Null for a single server. The error is a line without a full stop. */
export function parseCluster(
  values: FlagValues<typeof CLUSTER_FLAGS>,
  environment: Environment,
): Result<ClusterConfig | null, string> {
  const { logServers, stream, nodeTimeoutMs, advertise, logBytesMax, natsAuthoritiesFile } = values;
  if (logServers === null) return ok(null);
  const access = parseFlagAccess(logServers, natsAuthoritiesFile, environment);
  if (!access.ok) return access;
  return ok({
    address: { ...logServers, stream },
    access: access.value,
    logBytesMax,
    nodeTimeoutMs,
    advertise,
  });
}

/** The access to a cluster whose servers are in `--log`, with the authorities of `--nats-ca`. */
export function parseFlagAccess(
  { isSecure }: Pick<ClusterAddress, "isSecure">,
  authoritiesFile: string | null,
  environment: Environment,
): Result<ClusterAccess, string> {
  if (authoritiesFile !== null && !isSecure) return fail("--nats-ca needs TLS: use tls:// in --log");
  const credentials = parseCredentials(environment);
  return credentials.ok ? ok({ credentials: credentials.value, authoritiesFile }) : credentials;
}

/** The access to a cluster whose address is in the data directory. The error is a line without a full stop. */
export function parseAccess(environment: Environment): Result<ClusterAccess, string> {
  const credentials = parseCredentials(environment);
  if (!credentials.ok) return credentials;
  return ok({ credentials: credentials.value, authoritiesFile: environment[AUTHORITIES] || null });
}

/** Null if no variable is set. An empty one counts as unset. */
function parseCredentials(environment: Environment): Result<ClusterCredentials | null, string> {
  const user = environment[USER] || null;
  const password = environment[PASSWORD] || null;
  const token = environment[TOKEN] || null;
  const path = environment[CREDENTIALS] || null;
  if ([user ?? password, token, path].filter((one) => one !== null).length > 1)
    return fail(`Give one of ${USER} with ${PASSWORD}, ${TOKEN} and ${CREDENTIALS}`);
  if (token !== null) return ok({ kind: "token", token });
  if (path !== null) return ok({ kind: "file", path });
  if (user === null) return password === null ? ok(null) : fail(`${PASSWORD} needs ${USER}`);
  return password === null ? fail(`${USER} needs ${PASSWORD}`) : ok({ kind: "user", user, password });
}

import type { ClusterAccess, ClusterAddress } from "../../cluster/cluster-config.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import {
  defineCommand,
  definePlainCommand,
  type Given,
  oneArgument,
  type PlainOptions,
} from "../arguments/command.ts";
import type { FlagRows, FlagValues } from "../arguments/flag-row.ts";
import { KEY, SERVER_URL } from "../arguments/value-kinds.ts";
import { CLUSTER_FLAGS, LOG_SERVERS, parseFlagAccess } from "./flags.ts";

const CLUSTER_INIT_FLAGS = {
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

export const CLUSTER_INIT = defineCommand({
  name: "cluster init",
  takes: "",
  summary: "move the data directory into a cluster of several nodes",
  flags: CLUSTER_INIT_FLAGS,
  help: {
    before: `\
Turns the data directory into the first node of a cluster, whose log is a stream on NATS servers. What the
archive does not hold yet is published to the stream, in the order of the log; keys, settings and pass phrases
are then shared by all nodes. No server may run on the directory meanwhile, and the stream must be new: it is
created.

Interrupted anywhere, the directory is as it was, and the same command goes on: what is in the stream already
is compared with the log, so nothing is in it twice. At the end the log is renamed to wal.before-cluster.

Credentials for the servers are read from WHEREHOUSE_NATS_USER and WHEREHOUSE_NATS_PASSWORD, from
WHEREHOUSE_NATS_TOKEN, or from WHEREHOUSE_NATS_CREDENTIALS, the path of a .creds file.`,
    after: `Exit code 1 if the directory did not become a node: log or archive is damaged, the stream belongs to others,
or the servers can't be used.`,
    example: (program) =>
      `${program} cluster init --log nats://n1.example,n2.example,n3.example --stream wherehouse`,
  },
  parse: parseClusterInit,
});

/** Which directory moves into which cluster. */
export interface ClusterInitOptions {
  readonly dataDir: string;
  readonly address: ClusterAddress;
  readonly access: ClusterAccess;
  /** What the stream may hold. */
  readonly logBytesMax: number;
  readonly json: boolean;
}

function parseClusterInit({
  values,
  dataDir,
  environment,
}: Given<typeof CLUSTER_INIT_FLAGS>): Result<ClusterInitOptions, string> {
  const { logServers, stream, logBytesMax, natsAuthoritiesFile, json } = values;
  const access = parseFlagAccess(logServers, natsAuthoritiesFile, environment);
  if (!access.ok) return access;
  const address = { ...logServers, stream };
  return ok({ dataDir, address, access: access.value, logBytesMax, json });
}

const CLUSTER_NODES_FLAGS = {
  json: { name: "json", does: "the nodes as JSON" },
} as const satisfies FlagRows;

export const CLUSTER_NODES = definePlainCommand({
  name: "cluster nodes",
  takes: "",
  summary: "list the nodes of a cluster",
  flags: CLUSTER_NODES_FLAGS,
  help: {
    before: `\
Lists every node of the cluster that the data directory belongs to, as each told last: where it is, its
version, how far it lags, and the first message of the log that it needs. The log is kept for all of them,
also for those that stopped, until --node-timeout. One that told nothing for 30 s is silent.`,
  },
});

export type ClusterNodesOptions = PlainOptions<typeof CLUSTER_NODES_FLAGS>;

const JOIN_FLAGS = {
  key: {
    name: "key",
    takes: KEY,
    variable: "WHEREHOUSE_KEY",
    does: "a key that may operate; better in the variable, which other users of the machine can't see",
  },
  again: { name: "again", does: "replace the archive of a node that has to copy again" },
  json: { name: "json", does: "what was done as JSON" },
} as const satisfies FlagRows;

export const JOIN = defineCommand({
  name: "join",
  takes: "URL",
  summary: "make one more node of a cluster, from a copy of another",
  flags: JOIN_FLAGS,
  help: {
    before: `\
Copies the archive and quarantine of the running node at URL to a data directory that is empty or does not
exist yet, and notes where in the cluster's log to go on. Every file is checked. A copy that was broken off
goes on where it was when the same command is given again. At the end it prints what to start.

A node that was away for too long says at its start that it must copy again: --again copies into its
directory, and files that it already has are not sent. Its archive is replaced once the copy is complete.`,
    example: (program) => `${program} join https://node-a.example.org --data-dir /var/lib/wherehouse`,
  },
  parse: parseJoin,
});

/** Which node is copied, and where to. */
export interface JoinOptions extends Omit<FlagValues<typeof JOIN_FLAGS>, "key"> {
  readonly dataDir: string;
  readonly url: string;
  readonly key: string;
}

function parseJoin({ values, dataDir, positionals }: Given<typeof JOIN_FLAGS>): Result<JoinOptions, string> {
  const { key, ...others } = values;
  const given = oneArgument(positionals, "join", {
    needs: "the address of a running node",
    takes: "one address",
  });
  if (!given.ok) return given;
  const url = SERVER_URL.parse(given.value, "URL");
  if (!url.ok) return url;
  return key === null
    ? fail("join needs --key, or the key in WHEREHOUSE_KEY")
    : ok({ dataDir, url: url.value, key, ...others });
}

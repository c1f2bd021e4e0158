import type { ClusterAccess, ClusterAddress } from "../../cluster/cluster-config.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import {
  type CommandInput,
  defineCommand,
  definePlainCommand,
  oneArgument,
  type PlainOptions,
} from "../arguments/command.ts";
import type { FlagRows, FlagValues } from "../arguments/flag-row.ts";
import { KEY, SERVER_URL } from "../arguments/value-kinds.ts";
import { CLUSTER_FLAGS, LOG_SERVERS, parseFlagAccess } from "./flags.ts";

/* The commands of a cluster. */

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
  json: { name: "json", does: "print the result as JSON" },
} as const satisfies FlagRows;

export const CLUSTER_INIT = defineCommand({
  name: "cluster init",
  takes: "",
  summary: "turn the data directory into the first node of a cluster",
  flags: CLUSTER_INIT_FLAGS,
  help: {
    before: `\
Turns the data directory into the first node of a cluster, whose log is a stream on NATS servers. The command
creates the stream, which must not exist yet, and publishes all records that are not archived, in the order of
the log. Keys, settings and passphrases are then shared by all nodes. No server may run on the directory.

If the command is interrupted, the directory stays as it was, and the same command continues: it compares the
stream with the log and publishes nothing twice. At the end it renames the log to wal.before-cluster.

Credentials for the servers are read from WHEREHOUSE_NATS_USER and WHEREHOUSE_NATS_PASSWORD, from
WHEREHOUSE_NATS_TOKEN, or from WHEREHOUSE_NATS_CREDENTIALS, the path of a .creds file.`,
    after: `Exit code 1 if the directory did not become a node: the log or the archive is damaged, the stream belongs to
another cluster, or the servers can't be used.`,
    example: (program) =>
      `${program} cluster init --log nats://n1.example,n2.example,n3.example --stream wherehouse`,
  },
  parse: parseClusterInit,
});

export interface ClusterInitOptions {
  readonly dataDir: string;
  readonly address: ClusterAddress;
  readonly access: ClusterAccess;
  /** The largest size of the stream. */
  readonly logBytesMax: number;
  readonly json: boolean;
}

function parseClusterInit({
  values,
  dataDir,
  environment,
}: CommandInput<typeof CLUSTER_INIT_FLAGS>): Result<ClusterInitOptions, string> {
  const { logServers, stream, logBytesMax, natsAuthoritiesFile, json } = values;
  const access = parseFlagAccess(logServers, natsAuthoritiesFile, environment);
  if (!access.ok) return access;
  const address = { ...logServers, stream };
  return ok({ dataDir, address, access: access.value, logBytesMax, json });
}

const CLUSTER_NODES_FLAGS = {
  json: { name: "json", does: "print the nodes as JSON" },
} as const satisfies FlagRows;

export const CLUSTER_NODES = definePlainCommand({
  name: "cluster nodes",
  takes: "",
  summary: "list the nodes of a cluster",
  flags: CLUSTER_NODES_FLAGS,
  help: {
    before: `\
Lists every node of the cluster that the data directory belongs to, from its last status: its address, its
version, how far it lags, and the first message of the log that it needs. The log is kept for all nodes, also
for stopped ones, until --node-timeout. A node is silent if it sent no status for 30 s.`,
  },
});

export type ClusterNodesOptions = PlainOptions<typeof CLUSTER_NODES_FLAGS>;

const JOIN_FLAGS = {
  key: {
    name: "key",
    takes: KEY,
    variable: "WHEREHOUSE_KEY",
    does: "a key that may operate; prefer the variable, which other users of the machine can't see",
  },
  again: { name: "again", does: "replace the archive of a node that has to copy again" },
  json: { name: "json", does: "print the result as JSON" },
} as const satisfies FlagRows;

export const JOIN = defineCommand({
  name: "join",
  takes: "URL",
  summary: "add a node to a cluster by copying another node",
  flags: JOIN_FLAGS,
  help: {
    before: `\
Copies the archive and the quarantine of the running node at URL to a data directory that is empty or missing,
and records where to continue in the cluster's log. Every file is checked. After an interruption the same
command continues the copy. At the end it prints the command that starts the node.

A node that was down for too long reports at its start that it must copy again: --again copies into its
directory, without the files that it has already, and replaces its archive once the copy is complete.`,
    example: (program) => `${program} join https://node-a.example.org --data-dir /var/lib/wherehouse`,
  },
  parse: parseJoin,
});

export interface JoinOptions extends Omit<FlagValues<typeof JOIN_FLAGS>, "key"> {
  readonly dataDir: string;
  readonly url: string;
  readonly key: string;
}

function parseJoin({
  values,
  dataDir,
  positionals,
}: CommandInput<typeof JOIN_FLAGS>): Result<JoinOptions, string> {
  const { key, ...others } = values;
  const argument = oneArgument(positionals, "join", {
    needs: "the address of a running node",
    takes: "one address",
  });
  if (!argument.ok) return argument;
  const url = SERVER_URL.parse(argument.value, "URL");
  if (!url.ok) return url;
  return key === null
    ? fail("join needs --key, or the key in WHEREHOUSE_KEY")
    : ok({ dataDir, url: url.value, key, ...others });
}

import { type Config, DEFAULT_TOPIC_FILTER } from "../../app/config.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { MqttConfig } from "../../service/mqtt/mqtt.ts";
import { filtersOverlap } from "../../service/mqtt/topic-filter.ts";
import { type CommandInput, defineCommand } from "../arguments/command.ts";
import type { Environment, FlagValues } from "../arguments/flag-row.ts";
import { parseCluster } from "../cluster/flags.ts";
import { type LogLevel, SERVE_FLAGS } from "./flags.ts";

export const SERVE = defineCommand({
  name: "serve",
  takes: "",
  summary: "run the server",
  flags: SERVE_FLAGS,
  help: {
    before: `Runs until Ctrl-C or SIGTERM, finishes the requests that it accepted, and exits with 0. In an empty data
directory it creates a first key for the app "default". On a terminal it prints the key once, and a link
that signs in on the map once; otherwise it writes the key to the file first-key in the data directory.
Events go to standard error: as sentences on a terminal, otherwise as one line of JSON each. The log level
debug adds one event for each request.`,
    after: `Credentials for the servers of --log are read from WHEREHOUSE_NATS_USER and WHEREHOUSE_NATS_PASSWORD, from
WHEREHOUSE_NATS_TOKEN, or from WHEREHOUSE_NATS_CREDENTIALS, the path of a .creds file.`,
    example: (program) => `${program} serve --port 8080 --cors-origin https://map.example.org`,
  },
  parse: parseServe,
});

export interface ServeOptions {
  readonly config: Config;
  readonly logLevel: LogLevel;
}

type ServeValues = FlagValues<typeof SERVE_FLAGS>;

/** A variable and not a flag, since every user of a machine can read the flags of its processes. */
const PASSWORD_VARIABLE = "WHEREHOUSE_MQTT_PASSWORD";

function parseServe({
  values,
  dataDir,
  environment,
}: CommandInput<typeof SERVE_FLAGS>): Result<ServeOptions, string> {
  const mqtt = parseMqtt(values, environment);
  if (!mqtt.ok) return mqtt;
  const cluster = parseCluster(values, environment);
  if (!cluster.ok) return cluster;
  const { port, hostname, corsOrigins, friendsApps, compat, mapFile, logLevel } = values;
  const { sealIntervalMs, archiveThreads, archiveMemoryBytes, viewersMax } = values;
  const archive = { sealIntervalMs, archiveThreads, archiveMemoryBytes };
  const server = { port, hostname, corsOrigins, friendsApps, compat, viewersMax, mapFile };
  const webhookTargets = { allowed: values.webhookAllow };
  const others = { mqtt: mqtt.value, cluster: cluster.value };
  const config = {
    dataDir,
    ...server,
    ...archive,
    demoSpeed: null,
    ...others,
    webhookTargets,
    webhookProxy: values.webhookProxy,
  };
  return ok({ config, logLevel });
}

function parseMqtt(values: ServeValues, environment: Environment): Result<MqttConfig | null, string> {
  const { broker, mqttAppId, mqttPasswordFile, mqttAuthoritiesFile, queuedMessagesMax } = values;
  if (broker === null) return ok(null);
  if (mqttAppId === null) return fail("--mqtt needs --mqtt-app");
  const topicFilters = values.topicFilters.length > 0 ? values.topicFilters : [DEFAULT_TOPIC_FILTER];
  const overlap = findOverlap(topicFilters);
  if (overlap !== null)
    return fail(`--mqtt-topic ${overlap[0]} and ${overlap[1]} overlap: some messages would arrive twice`);
  const password = environment[PASSWORD_VARIABLE] || null;
  if (password !== null && mqttPasswordFile !== null)
    return fail(`Set the password by ${PASSWORD_VARIABLE} or by --mqtt-password-file, not both`);
  if ((password !== null || mqttPasswordFile !== null) && broker.user === null)
    return fail("A password needs a user: --mqtt mqtts://user@broker.example:8883");
  return ok({
    broker,
    password,
    passwordFile: mqttPasswordFile,
    authoritiesFile: mqttAuthoritiesFile,
    topicFilters,
    appId: mqttAppId,
    eventApps: values.mqttEventApps.length > 0 ? [...new Set(values.mqttEventApps)] : [mqttAppId],
    queuedMessagesMax,
  });
}

/** Two filters that match the same topic. */
function findOverlap(filters: readonly string[]): readonly [string, string] | null {
  for (const [index, filter] of filters.entries()) {
    const other = filters.slice(index + 1).find((later) => filtersOverlap(filter, later));
    if (other !== undefined) return [filter, other];
  }
  return null;
}

import { type Config, DEFAULT_TOPIC_FILTER } from "../../app/config.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { MqttConfig } from "../../service/mqtt/mqtt.ts";
import { filtersOverlap } from "../../service/mqtt/topic-filter.ts";
import { defineCommand, type Given } from "../arguments/command.ts";
import type { Environment, FlagValues } from "../arguments/flag-row.ts";
import { parseCluster } from "../cluster/flags.ts";
import { type LogLevel, SERVE_FLAGS } from "./flags.ts";

export const SERVE = defineCommand({
  name: "serve",
  takes: "",
  summary: "answer requests",
  flags: SERVE_FLAGS,
  help: {
    before: `Answers requests until it is told to stop (Ctrl-C, SIGTERM), finishes what it accepted, and exits with 0.
In an empty data directory it makes a first key for the app "default": shown once on a terminal, else
written to the file first-key in the data directory. A terminal is shown a link to the map too, which signs in
once. Events go to standard error, one line of JSON each (as sentences where that is a terminal); debug has
one for each request too.`,
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

/** No flag, since everybody on a machine can see the flags of its processes. */
const PASSWORD_VARIABLE = "WHEREHOUSE_MQTT_PASSWORD";

function parseServe({
  values,
  dataDir,
  environment,
}: Given<typeof SERVE_FLAGS>): Result<ServeOptions, string> {
  const mqtt = parseMqtt(values, environment);
  if (!mqtt.ok) return mqtt;
  const cluster = parseCluster(values, environment);
  if (!cluster.ok) return cluster;
  const { port, hostname, corsOrigins, friendsApps, compat, mapFile, logLevel } = values;
  const { sealIntervalMs, archiveThreads, archiveMemoryBytes, viewersMax } = values;
  const archive = { sealIntervalMs, archiveThreads, archiveMemoryBytes };
  const server = { port, hostname, corsOrigins, friendsApps, compat, viewersMax, mapFile };
  const others = { mqtt: mqtt.value, cluster: cluster.value };
  const config = { dataDir, ...server, ...archive, demoSpeed: null, ...others };
  return ok({ config, logLevel });
}

function parseMqtt(values: ServeValues, environment: Environment): Result<MqttConfig | null, string> {
  const { broker, mqttAppId, mqttPasswordFile, mqttAuthoritiesFile, queuedMessagesMax } = values;
  if (broker === null) return ok(null);
  if (mqttAppId === null) return fail("--mqtt needs --mqtt-app");
  const topicFilters = values.topicFilters.length > 0 ? values.topicFilters : [DEFAULT_TOPIC_FILTER];
  const overlap = findOverlap(topicFilters);
  if (overlap !== null)
    return fail(`--mqtt-topic ${overlap[0]} and ${overlap[1]} overlap: some messages would come twice`);
  const password = environment[PASSWORD_VARIABLE] || null;
  if (password !== null && mqttPasswordFile !== null)
    return fail(`Give the password by ${PASSWORD_VARIABLE} or by --mqtt-password-file, not both`);
  if ((password !== null || mqttPasswordFile !== null) && broker.user === null)
    return fail("A password needs a user: --mqtt mqtts://user@broker.example:8883");
  return ok({
    broker,
    password,
    passwordFile: mqttPasswordFile,
    authoritiesFile: mqttAuthoritiesFile,
    topicFilters,
    appId: mqttAppId,
    queuedMessagesMax,
  });
}

/** Two filters that some topic matches both. */
function findOverlap(filters: readonly string[]): readonly [string, string] | null {
  for (const [index, filter] of filters.entries()) {
    const other = filters.slice(index + 1).find((later) => filtersOverlap(filter, later));
    if (other !== undefined) return [filter, other];
  }
  return null;
}

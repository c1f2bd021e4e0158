import type { Config } from "../../app/config.ts";
import { DEFAULT_TOPIC_FILTER } from "../../app/config.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { MqttConfig } from "../../service/mqtt/mqtt.ts";
import { filtersOverlap } from "../../service/mqtt/topic-filter.ts";
import type { Environment } from "../arguments/flag-row.ts";
import { parseCluster } from "../cluster/parse-cluster.ts";
import type { ValuesOf } from "../commands.ts";
import type { LogLevel } from "../screen/event-log.ts";

export interface ServeCommand {
  readonly kind: "serve";
  readonly config: Config;
  readonly logLevel: LogLevel;
}

/** No flag, since everybody on a machine can see the flags of its processes. */
const PASSWORD_VARIABLE = "WHEREHOUSE_MQTT_PASSWORD";

export function parseServe(
  values: ValuesOf<"serve">,
  dataDir: string,
  environment: Environment,
): Result<ServeCommand, string> {
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
  return ok({ kind: "serve", config, logLevel });
}

function parseMqtt(values: ValuesOf<"serve">, environment: Environment): Result<MqttConfig | null, string> {
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

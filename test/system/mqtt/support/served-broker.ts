import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Place, type Runtime, type ServerProcess, startReady } from "../../../support/server-process.ts";
import { until } from "../../../support/until.ts";
import { type Broker, brokerFlags, startBroker } from "./mosquitto.ts";
import { openPublisher, type Publisher } from "./publisher.ts";

/** A broker with a directory of its own, phones that publish to it, and servers that take what they publish. */
export interface ServedBroker extends Broker {
  readonly phones: Publisher;
  /** Starts a server that subscribes, and waits until it is connected. */
  serve(runtime: Runtime, place: Place, topicFilters?: readonly string[]): Promise<ServerProcess>;
  close(): Promise<void>;
}

export async function openServedBroker(): Promise<ServedBroker> {
  const directory = mkdtempSync(join(tmpdir(), "wherehouse-mosquitto-"));
  const broker = await startBroker(directory);
  const phones = await openPublisher(broker.port);
  return {
    ...broker,
    phones,
    async serve(runtime, place, topicFilters = ["owntracks/+/+"]) {
      const topics = topicFilters.flatMap((filter) => ["--mqtt-topic", filter]);
      const before = topicFilters.map(broker.subscriptions);
      const server = await startReady(runtime, place, [...brokerFlags(broker), ...topics]);
      await until(() => server.error.split('"mqtt_connected"').length > topicFilters.length);
      await until(() => topicFilters.every((filter, index) => broker.subscriptions(filter) > before[index]!));
      return server;
    },
    async close() {
      await phones.close();
      await broker.stop("SIGKILL");
      rmSync(directory, { recursive: true });
    },
  };
}

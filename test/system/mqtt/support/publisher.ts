import mqtt, { type IClientOptions } from "mqtt";

/** A phone, or all of them: publishes with QoS 1 and waits until the broker has the messages. */
export interface Publisher {
  publish(
    topic: string,
    body: string | Uint8Array,
    how?: { qos?: 0 | 1 | 2; retain?: boolean },
  ): Promise<void>;
  close(): Promise<void>;
}

export async function openPublisher(port: number, how: IClientOptions = {}): Promise<Publisher> {
  const client = await mqtt.connectAsync({
    protocol: "mqtt",
    host: "127.0.0.1",
    port,
    reconnectPeriod: 100,
    ...how,
  });
  client.on("error", () => undefined); // While the broker is restarted: it connects again and sends again.
  return {
    async publish(topic, body, { qos = 1, retain = false } = {}) {
      await client.publishAsync(topic, Buffer.from(body), { qos, retain });
    },
    close: () => client.endAsync(),
  };
}

/** As OwnTracks publishes it. */
export function locationBody(number: number, timestampSeconds: number): string {
  return JSON.stringify({
    _type: "location",
    lat: 52 + (number % 1000) / 10_000,
    lon: 13,
    tst: timestampSeconds,
    acc: 10,
    batt: 80,
    vel: 36,
  });
}

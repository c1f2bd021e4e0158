import mqtt from "mqtt";

/**
 * The control of the MQTT bench: a subscriber that acknowledges each message immediately and stores none.
 * `bare-subscriber.ts PORT FILTER` answers every request with the number of messages.
 */
const [port, topicFilter] = process.argv.slice(2);

let count = 0;
const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`);
client.on("message", () => {
  count++;
});
await client.subscribeAsync(topicFilter!, { qos: 1 });

export const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: () => new Response(String(count)),
});
console.log(`http://127.0.0.1:${server.port}`);

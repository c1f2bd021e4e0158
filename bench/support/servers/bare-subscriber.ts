import mqtt from "mqtt";

/**
 * The control of the MQTT bench: a subscriber that acknowledges each message at once and keeps none.
 * `bare-subscriber.ts PORT FILTER` answers every request with how many it has had.
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

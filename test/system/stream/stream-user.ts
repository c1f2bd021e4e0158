/** What a node does with a stream, in a few lines, for `nats-stream.test.ts` to run on either runtime. */
import { readFileSync } from "node:fs";
import process from "node:process";
import { openNatsStream } from "../../../src/cluster/stream/nats-stream.ts";

const [servers = "", name = "", countText = "1", bytesText = "1", authorities = null] = process.argv.slice(2);
const count = Number(countText);
const stream = await openNatsStream({
  address: {
    servers: servers.split(","),
    isSecure: authorities !== null,
    stream: name,
    credentials: null,
    authorities: authorities === null ? null : readFileSync(authorities, "utf8"),
  },
  create: { firstMessage: 1, bytesMax: 1024 * 1024 * 1024 },
  onNote: () => undefined,
});
const body = new Uint8Array(Number(bytesText)).fill(7);
let sent = 0;
async function publishSome(): Promise<void> {
  while (sent < count) await stream.publish(body, `user-${sent++}`);
}
await Promise.all(Array.from({ length: 64 }, publishSome));

const controller = new AbortController();
const startedMs = performance.now();
let next = 1;
let isRight = true;
await stream.follow(
  1,
  ({ number, bytes }) => {
    isRight &&= number === next++ && bytes.length === body.length && bytes[0] === 7 && bytes.byteOffset === 0;
    if (number === count) controller.abort();
  },
  controller.signal,
);
const followedMs = performance.now() - startedMs;

const bucket = await stream.bucket(`${name}-nodes`);
const revision = await bucket.update("me", new TextEncoder().encode("here"), 0);
const value = new TextDecoder().decode((await bucket.get("me"))?.value);
await stream.close();
console.log(JSON.stringify({ followed: next - 1, isRight, revision, value, followedMs }));

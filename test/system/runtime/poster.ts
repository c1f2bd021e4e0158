/**
 * Sends one request and prints its outcome and how often the name was looked up, as JSON. Takes a request as JSON:
 * `addresses` are the answers to the look-ups in turn, `proxy` is used if there is one; a second lasts 20 ms.
 */

import { systemTimers } from "../../../src/lib/schedule/timers.ts";
import { parseIpBlock } from "../../../src/lib/text/ip-address.ts";
import { targetFault } from "../../../src/model/webhooks/target-addresses.ts";
import { createPost } from "../../../src/runtime/post/node-post.ts";
import { createProxiedPost } from "../../../src/runtime/post/proxied-post.ts";

const { url, addresses, allowed, authorities, proxy } = JSON.parse(process.argv[2] ?? "");
let lookups = 0;
const timers = {
  ...systemTimers,
  after: (ms: number, call: () => void) => systemTimers.after(ms / 50, call),
};
const direct = createPost({
  async resolve(hostname) {
    if (addresses === undefined) throw Object.assign(new Error(hostname), { code: "ENOTFOUND" });
    return addresses[Math.min(lookups++, addresses.length - 1)];
  },
  timers,
  authorities,
});
const post = proxy === undefined ? direct : createProxiedPost(proxy, timers);
const target = new URL(url);
const rules = { allowed: allowed.map(parseIpBlock) };
const outcome = await post({
  url: target,
  headers: { "content-type": "application/json", "webhook-id": "one" },
  body: '{"type":"enter"}',
  refusalOf: (address) => targetFault(address, target.protocol === "https:", rules),
  signal: new AbortController().signal,
});
console.log(JSON.stringify({ outcome, lookups }));
process.exit();

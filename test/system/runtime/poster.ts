/**
 * Sends one request and prints its outcome and how often the name was looked up, as JSON. Takes a request as JSON:
 * `addresses` are the answers to the look-ups in turn; a second lasts 20 ms.
 */

import { systemTimers } from "../../../src/lib/schedule/timers.ts";
import { parseIpBlock } from "../../../src/lib/text/ip-address.ts";
import { targetFault } from "../../../src/model/webhooks/target-addresses.ts";
import { createPost } from "../../../src/runtime/node-post.ts";

const { url, addresses, allowed, authorities } = JSON.parse(process.argv[2] ?? "");
let lookups = 0;
const post = createPost({
  async resolve(hostname) {
    if (addresses === undefined) throw Object.assign(new Error(hostname), { code: "ENOTFOUND" });
    return addresses[Math.min(lookups++, addresses.length - 1)];
  },
  timers: { ...systemTimers, after: (ms, call) => systemTimers.after(ms / 50, call) },
  authorities,
});
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

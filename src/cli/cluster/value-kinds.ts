import type { ClusterAddress } from "../../cluster/cluster-config.ts";
import { isStreamName } from "../../cluster/cluster-file.ts";
import { parseHostPort } from "../../lib/host-port.ts";
import { fail, ok } from "../../lib/result.ts";
import { formatDuration, parseDuration } from "../../lib/text/duration.ts";
import { ruled, type ValueKind } from "../arguments/value-kinds.ts";

/** NATS's own. */
const DEFAULT_PORT = 4222;

const LOG_ADDRESS = /^(nats|tls):\/\/([^/]+)\/?$/;

/** Servers of a cluster's log. Never shown where it is wrong: it may hold a password, which belongs elsewhere. */
export const LOG_SERVERS: ValueKind<Pick<ClusterAddress, "servers" | "isSecure">> = {
  placeholder: "URL",
  parse(text, name) {
    if (text.includes("@")) return fail(`${name} ${NO_CREDENTIALS}`);
    const [, scheme, list = ""] = LOG_ADDRESS.exec(text) ?? [];
    const servers: string[] = [];
    for (const part of list.split(",")) {
      const server = parseHostPort(part, DEFAULT_PORT);
      if (server === null) return fail(`${name} ${LOG_RULE}`);
      if (!servers.includes(server)) servers.push(server);
    }
    return ok({ servers, isSecure: scheme === "tls" });
  },
};

const NO_CREDENTIALS =
  "must not hold a user, a password or a token, which everybody on this machine could see: " +
  "put them into the variables WHEREHOUSE_NATS_USER and WHEREHOUSE_NATS_PASSWORD, or WHEREHOUSE_NATS_TOKEN";

const LOG_RULE = "must be an address such as nats://a.example:4222,b.example:4222 or tls://a.example";

export const STREAM = ruled("NAME", "have 1 to 32 letters, digits, dashes and underscores", (text) =>
  isStreamName(text) ? text : null,
);

const NODE_TIMEOUT_MS_MIN = 60_000; // Twice what a node may be silent for.

export const NODE_TIMEOUT: ValueKind<number> = {
  ...ruled("TIME", "be a time such as 12h or 7d, at least 1m", (text) => {
    const timeoutMs = parseDuration(text);
    return timeoutMs === null || timeoutMs < NODE_TIMEOUT_MS_MIN ? null : timeoutMs;
  }),
  format: formatDuration,
};

import { COMPAT_SERVERS } from "../../app/config.ts";
import { isWellFormedKey } from "../../auth/api-key.ts";
import { LABEL_CHARACTERS_MAX, parseLabel } from "../../auth/key-file.ts";
import { PERMISSIONS } from "../../auth/permissions.ts";
import { TIER_NAMES } from "../../auth/tiers.ts";
import { CLIENT_NAMES } from "../../clients/client.ts";
import { REFUSAL_REASONS } from "../../clients/refusal.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { formatDuration, parseDuration } from "../../lib/text/duration.ts";
import { parseServerUrl } from "../../lib/text/server-url.ts";
import type { DeviceId, UserId } from "../../model/ids.ts";
import { parseAppId } from "../../model/ids.ts";
import { deviceIdFault, userIdFault } from "../../model/report.ts";
import type { BrokerAddress } from "../../service/mqtt/mqtt.ts";
import { isTopicFilter } from "../../service/mqtt/topic-filter.ts";
import { LOG_LEVELS } from "../screen/event-log.ts";

/** What the flags of the command line take: how each kind of value is written, bounded and read. */
export interface ValueKind<Value> {
  /** How help writes it. */
  readonly placeholder: string;
  /** All there are, where they are few. */
  readonly choices?: readonly string[];
  /** The value of a text that came under this name, a flag's or a variable's; else a line that says what is wrong. */
  parse(text: string, name: string): Result<Value, string>;
  /** How help shows a default, where that is not the value as it is. */
  format?(value: Value): string;
}

const SEAL_INTERVAL_MS_MAX = 2 ** 31 - 1; // What a timer can wait.
const THREADS_MAX = 256;
const MEMORY_BYTES_MIN = 100_000_000;
const COUNT_MAX = 999_999_999;

export const DIRECTORY = path("DIR");

export const FILE = path("FILE");

export const PORT = ruled("PORT", "be a whole number from 0 to 65535", (text) =>
  parseWholeNumber(text, 0, 65_535),
);

export const HOST = ruled("HOST", "be a host name or address", (text) =>
  /^[^\s/]+$/.test(text) ? text : null,
);

/** As browsers send it: scheme, host and port, nothing after. */
export const ORIGIN = ruled("ORIGIN", "be * or an origin such as https://example.org", (text) =>
  text === "*" || (/^https?:/.test(text) && URL.parse(text)?.origin === text) ? text : null,
);

export const SEAL_INTERVAL: ValueKind<number> = {
  ...ruled("TIME", "be a time such as 15m, 1h or 1d, at most 24d", (text) => {
    const intervalMs = parseDuration(text);
    return intervalMs === null || intervalMs > SEAL_INTERVAL_MS_MAX ? null : intervalMs;
  }),
  format: formatDuration,
};

export const THREADS = ruled("N", `be a whole number from 1 to ${THREADS_MAX}`, (text) =>
  parseWholeNumber(text, 1, THREADS_MAX),
);

export const MEMORY: ValueKind<number> = {
  ...ruled("SIZE", "be a size such as 500MB or 4GB, at least 100MB", parseBytes),
  format: (bytes) => (bytes % 1e9 === 0 ? `${bytes / 1e9}GB` : `${bytes / 1e6}MB`),
};

export const LOG_LEVEL = oneOf("LEVEL", LOG_LEVELS);

export const COMPAT = oneOf("SERVER", COMPAT_SERVERS);

export const APP = ruled("APP", "have 1 to 64 letters, digits, dots, dashes and underscores", parseAppId);

export const PERMISSION = oneOf("NAME", PERMISSIONS);

export const TIER = oneOf("TIER", TIER_NAMES);

export const LABEL: ValueKind<string> = {
  placeholder: "TEXT",
  parse(text, name) {
    const label = parseLabel(text);
    const rule = `must have at most ${LABEL_CHARACTERS_MAX} characters, none of them a control character`;
    return label === null ? fail(`${name} ${rule}`) : ok(label);
  },
};

/** Too many for a line of help, which names them elsewhere. */
export const CLIENT = ruled(
  "CLIENT",
  `be one of ${CLIENT_NAMES.join(", ")}`,
  (text) => CLIENT_NAMES.find((name) => name === text) ?? null,
);

export const REASON = oneOf("REASON", REFUSAL_REASONS);

export const DEVICE: ValueKind<DeviceId> = {
  placeholder: "DEVICE",
  parse(text, name) {
    const fault = deviceIdFault(text);
    return fault === null ? ok(text as DeviceId) : fail(`${name}: ${fault}`);
  },
};

export const USER: ValueKind<UserId> = {
  placeholder: "USER",
  parse(text, name) {
    const fault = userIdFault(text);
    return fault === null ? ok(text as UserId) : fail(`${name}: ${fault}`);
  },
};

/** Never shown where it is wrong: it may hold a password, which belongs elsewhere. */
export const BROKER: ValueKind<BrokerAddress> = {
  placeholder: "URL",
  parse(text, name) {
    const url = URL.parse(text);
    if (url !== null && url.password !== "") return fail(`${name} ${NO_PASSWORD}`);
    const broker = url === null ? null : brokerOf(url);
    return broker === null
      ? fail(`${name} must be an address such as mqtts://user@broker.example:8883`)
      : ok(broker);
  },
};

const NO_PASSWORD =
  "must not hold a password, which everybody on this machine could see: " +
  "put it into the variable WHEREHOUSE_MQTT_PASSWORD, or into a file for --mqtt-password-file";

export const TOPIC_FILTER = ruled(
  "FILTER",
  "be a topic filter such as owntracks/+/+, and no topic of the broker itself",
  (text) => (isTopicFilter(text) ? text : null),
);

export const COUNT = ruled("N", `be a whole number from 1 to ${COUNT_MAX}`, (text) =>
  parseWholeNumber(text, 1, COUNT_MAX),
);

/** Without a slash at its end. */
const PLAIN_SERVER_URL = ruled("URL", "be an address such as http://127.0.0.1:3000", parseServerUrl);

/** Not shown where it holds a password. */
export const SERVER_URL: ValueKind<string> = {
  ...PLAIN_SERVER_URL,
  parse: (text, name) =>
    text.includes("@")
      ? fail(`${name} must not hold a user or a password, which everybody on this machine could see`)
      : PLAIN_SERVER_URL.parse(text, name),
};

const SPEED_MAX = 1000;

export const SPEED = ruled("N", `be a number from 1 to ${SPEED_MAX}`, (text) => {
  const speed = /^\d{1,4}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  return speed >= 1 && speed <= SPEED_MAX ? speed : null;
});

/** A secret: what is wrong with it is said without it. */
export const KEY: ValueKind<string> = {
  placeholder: "KEY",
  parse: (text, name) =>
    isWellFormedKey(text)
      ? ok(text)
      : fail(`${name} must be a whole key, as keys create printed it; a character is wrong or missing`),
};

function path(placeholder: string): ValueKind<string> {
  return {
    placeholder,
    parse: (text, name) => (text === "" ? fail(`${name} must not be empty`) : ok(text)),
  };
}

/** A kind whose refusal states its rule: `--port must be a whole number from 0 to 65535, not "x"`. */
export function ruled<Value>(
  placeholder: string,
  rule: string,
  parse: (text: string) => Value | null,
): ValueKind<Value> {
  return {
    placeholder,
    parse(text, name) {
      const value = parse(text);
      return value === null ? fail(`${name} must ${rule}, not "${text}"`) : ok(value);
    },
  };
}

export function oneOf<Choice extends string>(
  placeholder: string,
  choices: readonly Choice[],
): ValueKind<Choice> {
  const rule = choices.length === 2 ? `be ${choices.join(" or ")}` : `be one of ${choices.join(", ")}`;
  const parse = (text: string) => choices.find((choice) => choice === text) ?? null;
  return { ...ruled(placeholder, rule, parse), choices };
}

function parseWholeNumber(text: string, min: number, max: number): number | null {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : null;
}

function parseBytes(text: string): number | null {
  const [, count, unit] = /^(\d{1,6})(MB|GB)$/.exec(text) ?? [];
  const bytes = Number(count) * (unit === "GB" ? 1e9 : 1e6);
  return bytes >= MEMORY_BYTES_MIN ? bytes : null;
}

const BROKER_PORTS: Readonly<Record<string, number>> = { "mqtt:": 1883, "mqtts:": 8883 };

function brokerOf({ protocol, hostname, port, username, pathname, search, hash }: URL): BrokerAddress | null {
  const defaultPort = BROKER_PORTS[protocol];
  const isMore = !["", "/"].includes(pathname) || search !== "" || hash !== "";
  if (defaultPort === undefined || hostname === "" || isMore) return null;
  return {
    hostname: hostname.replace(/^\[|\]$/g, ""), // Of an IPv6 address.
    port: port === "" ? defaultPort : Number(port),
    isSecure: protocol === "mqtts:",
    user: username === "" ? null : decodeURIComponent(username),
  };
}

import { isWellFormedKey } from "../../auth/api-key.ts";
import { CLIENT_NAMES } from "../../clients/client.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { parseServerUrl } from "../../lib/text/links.ts";
import { type DeviceId, parseAppId, type UserId } from "../../model/ids.ts";
import { deviceIdFault, userIdFault } from "../../model/report.ts";

/** A kind of value that a flag takes. The kinds in this file serve several commands. */
export interface ValueKind<Value> {
  /** Stands for the value in help texts. */
  readonly placeholder: string;
  /** All values, if they are few. */
  readonly choices?: readonly string[];
  /** `name` names the flag or the variable in the error, a line without a full stop. */
  parse(text: string, name: string): Result<Value, string>;
  /** How help shows a default; defaults to the value as a string. */
  format?(value: Value): string;
}

const MEMORY_BYTES_MIN = 100_000_000;

export const DIRECTORY = path("DIR");

export const FILE = path("FILE");

export const PORT = ruled("PORT", "be a whole number from 0 to 65535", (text) =>
  parseWholeNumber(text, 0, 65_535),
);

export const MEMORY: ValueKind<number> = {
  ...ruled("SIZE", "be a size such as 500MB or 4GB, at least 100MB", parseBytes),
  format: (bytes) => (bytes % 1e9 === 0 ? `${bytes / 1e9}GB` : `${bytes / 1e6}MB`),
};

export const APP = ruled("APP", "have 1 to 64 letters, digits, dots, dashes and underscores", parseAppId);

/** Has no `choices`: the names are too many for a line of help. */
export const CLIENT = ruled(
  "CLIENT",
  `be one of ${CLIENT_NAMES.join(", ")}`,
  (text) => CLIENT_NAMES.find((name) => name === text) ?? null,
);

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

/** Without a slash at its end. */
const PLAIN_SERVER_URL = ruled("URL", "be an address such as http://127.0.0.1:3000", parseServerUrl);

/** The error does not repeat an address that holds a password. */
export const SERVER_URL: ValueKind<string> = {
  ...PLAIN_SERVER_URL,
  parse: (text, name) =>
    text.includes("@")
      ? fail(`${name} must not hold a user or a password: every user of this machine could read it`)
      : PLAIN_SERVER_URL.parse(text, name),
};

/** A key is a secret, so the error does not repeat it. */
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

/** A kind whose error states its rule: `--port must be a whole number from 0 to 65535, not "x"`. */
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

export function parseWholeNumber(text: string, min: number, max: number): number | null {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : null;
}

function parseBytes(text: string): number | null {
  const [, count, unit] = /^(\d{1,6})(MB|GB)$/.exec(text) ?? [];
  const bytes = Number(count) * (unit === "GB" ? 1e9 : 1e6);
  return bytes >= MEMORY_BYTES_MIN ? bytes : null;
}

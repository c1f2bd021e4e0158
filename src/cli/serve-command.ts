import { DEFAULT_HOSTNAME, DEFAULT_PORT } from "../config.ts";
import { ok, type Result } from "../lib/result.ts";
import type { Command, Environment, UsageError } from "./command.ts";
import { type Flags, noArguments, usage } from "./flags.ts";

export function parseServe(
  flags: Flags,
  dataDir: string,
  environment: Environment,
): Result<Command, UsageError> {
  const unexpected = noArguments(flags);
  if (unexpected !== null) return unexpected;
  const [portName, portText] = flagOrVariable("port", "WHEREHOUSE_PORT", flags, environment);
  const port = portText === null ? DEFAULT_PORT : parsePort(portText);
  if (port === null) return usage(`${portName} must be a whole number from 0 to 65535, not "${portText}"`);
  const [hostName, hostText] = flagOrVariable("host", "WHEREHOUSE_HOST", flags, environment);
  const hostname = hostText ?? DEFAULT_HOSTNAME;
  if (!/^[^\s/]+$/.test(hostname))
    return usage(`${hostName} must be a host name or address, not "${hostname}"`);
  const corsOrigins = flags.values("cors-origin");
  const wrong = corsOrigins.find((origin) => !isOrigin(origin));
  if (wrong !== undefined) {
    return usage(`--cors-origin must be * or an origin such as https://example.org, not "${wrong}"`);
  }
  return ok({ kind: "serve", config: { dataDir, hostname, port, corsOrigins } });
}

/** The value and the name it came under. The flag wins; an empty variable counts as unset. */
function flagOrVariable(
  flag: string,
  variable: string,
  flags: Flags,
  environment: Environment,
): [name: string, text: string | null] {
  const text = flags.value(flag);
  return text === null ? [variable, environment[variable] || null] : [`--${flag}`, text];
}

/** 0 lets the system choose. */
function parsePort(text: string): number | null {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
  return port <= 65535 ? port : null;
}

/** As browsers send it: scheme, host and port, nothing after. */
function isOrigin(text: string): boolean {
  return text === "*" || (/^https?:/.test(text) && URL.parse(text)?.origin === text);
}

import { type ArchiveConfig, DEFAULT_ARCHIVE_CONFIG, DEFAULT_HOSTNAME, DEFAULT_PORT } from "../../config.ts";
import { ok, type Result } from "../../lib/result.ts";
import { parseDuration } from "../../lib/text/duration.ts";
import { LOG_LEVELS, type LogLevel, parseLogLevel } from "../screen/event-log.ts";
import type { Command, Environment, UsageError } from "./command.ts";
import { type FlagKinds, type Flags, noArguments, usage } from "./flags.ts";

export const SERVE_FLAGS = {
  port: "value",
  host: "value",
  "cors-origin": "values",
  "seal-every": "value",
  "archive-threads": "value",
  "archive-memory": "value",
  "log-level": "value",
} as const satisfies FlagKinds;

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
  const archive = parseArchive(flags);
  if (!archive.ok) return archive;
  const [levelName, levelText] = flagOrVariable("log-level", "WHEREHOUSE_LOG_LEVEL", flags, environment);
  const logLevel = levelText === null ? DEFAULT_LOG_LEVEL : parseLogLevel(levelText);
  if (logLevel === null)
    return usage(`${levelName} must be one of ${LOG_LEVELS.join(", ")}, not "${levelText}"`);
  const config = { dataDir, hostname, port, corsOrigins, ...archive.value };
  return ok({ kind: "serve", config, logLevel });
}

/** Starts, stops, seals and trouble; no line for a request. */
const DEFAULT_LOG_LEVEL: LogLevel = "info";

function parseArchive(flags: Flags): Result<ArchiveConfig, UsageError> {
  const intervalText = flags.value("seal-every");
  const sealIntervalMs =
    intervalText === null ? DEFAULT_ARCHIVE_CONFIG.sealIntervalMs : parseDuration(intervalText);
  if (sealIntervalMs === null || sealIntervalMs > SEAL_INTERVAL_MS_MAX) {
    return usage(`--seal-every must be a time such as 15m, 1h or 1d, at most 24d, not "${intervalText}"`);
  }
  const threadsText = flags.value("archive-threads");
  const archiveThreads =
    threadsText === null ? DEFAULT_ARCHIVE_CONFIG.archiveThreads : parseCount(threadsText, THREADS_MAX);
  if (archiveThreads === null) {
    return usage(`--archive-threads must be a whole number from 1 to ${THREADS_MAX}, not "${threadsText}"`);
  }
  const memoryText = flags.value("archive-memory");
  const archiveMemoryBytes =
    memoryText === null ? DEFAULT_ARCHIVE_CONFIG.archiveMemoryBytes : parseBytes(memoryText);
  if (archiveMemoryBytes === null) {
    return usage(`--archive-memory must be a size such as 500MB or 4GB, at least 100MB, not "${memoryText}"`);
  }
  return ok({ sealIntervalMs, archiveThreads, archiveMemoryBytes });
}

const SEAL_INTERVAL_MS_MAX = 2 ** 31 - 1; // What a timer can wait.
const THREADS_MAX = 256;
const MEMORY_BYTES_MIN = 100_000_000;

function parseCount(text: string, max: number): number | null {
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  return count >= 1 && count <= max ? count : null;
}

function parseBytes(text: string): number | null {
  const [, count, unit] = /^(\d{1,6})(MB|GB)$/.exec(text) ?? [];
  const bytes = Number(count) * (unit === "GB" ? 1e9 : 1e6);
  return bytes >= MEMORY_BYTES_MIN ? bytes : null;
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

import {
  type Config,
  DEFAULT_ARCHIVE_CONFIG,
  DEFAULT_DEMO_DIR,
  DEFAULT_DEMO_SPEED,
  DEFAULT_HOSTNAME,
  DEFAULT_VIEWERS,
} from "../../app/config.ts";
import { ok, type Result } from "../../lib/result.ts";
import { type CommandInput, defineCommand } from "../arguments/command.ts";
import type { FlagRows } from "../arguments/flag-row.ts";
import { DIRECTORY, FILE, PORT, ruled } from "../arguments/value-kinds.ts";

/* The command `demo`. */

const SPEED_MAX = 1000;

const SPEED = ruled("N", `be a number from 1 to ${SPEED_MAX}`, (text) => {
  const speed = /^\d{1,4}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  return speed >= 1 && speed <= SPEED_MAX ? speed : null;
});

const DEMO_FLAGS = {
  speed: {
    name: "speed",
    takes: SPEED,
    default: DEFAULT_DEMO_SPEED,
    does: "how many times faster than recorded",
  },
  path: {
    name: "file",
    takes: FILE,
    otherwise: "the samples in data/samples",
    does: "replay this file: a CSV, or any other format that import reads",
  },
  port: { name: "port", takes: PORT, default: 0, otherwise: "any that is free", does: "port to listen on" },
  dataDir: { name: "data-dir", takes: DIRECTORY, default: DEFAULT_DEMO_DIR, does: "the data directory" },
} as const satisfies FlagRows;

export const DEMO = defineCommand({
  name: "demo",
  takes: "",
  summary: "replay recorded devices on the map",
  flags: DEMO_FLAGS,
  help: {
    before: `\
Serves its own data directory and replays recordings into it as if devices reported now: buses in Liverpool,
ships around Denmark, a bus in Limerick. The first half of each recording becomes history that ends now; the
rest follows live. At its end each device travels back. Silences are skipped, and speeds are shown as recorded.
Ships were recorded for half a minute: each keeps its speed and course for an hour before and after, up to a
coast. After Ctrl-C the same command continues from where the devices are.

Prints a link that signs in on the map once. If the output is a pipe, prints the map's address and the file
that holds the key.`,
    example: (program) => `${program} demo --speed 30
  ${program} demo --file rides.csv --data-dir data/demo-rides`,
  },
  parse: parseDemo,
});

export interface DemoOptions {
  /** The configuration of the demo's server. */
  readonly config: Config;
  /** How many times faster than recorded. */
  readonly speed: number;
  /** The recording; null plays the samples of the project. */
  readonly path: string | null;
}

/** Ignores WHEREHOUSE_DATA_DIR, so that a demo never writes into a real data directory by accident. */
function parseDemo({ values }: CommandInput<typeof DEMO_FLAGS>): Result<DemoOptions, never> {
  const { dataDir, port, speed, path } = values;
  const config: Config = {
    ...DEFAULT_ARCHIVE_CONFIG,
    dataDir,
    hostname: DEFAULT_HOSTNAME,
    port,
    corsOrigins: [],
    friendsApps: [],
    compat: null,
    viewersMax: DEFAULT_VIEWERS,
    mapFile: null,
    demoSpeed: speed,
    mqtt: null,
    webhookTargets: { allowed: [] },
    webhookProxy: null,
    cluster: null,
  };
  return ok({ config, speed, path });
}

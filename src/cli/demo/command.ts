import {
  type Config,
  DEFAULT_ARCHIVE_CONFIG,
  DEFAULT_DEMO_DIR,
  DEFAULT_DEMO_SPEED,
  DEFAULT_HOSTNAME,
  DEFAULT_VIEWERS,
} from "../../app/config.ts";
import { ok, type Result } from "../../lib/result.ts";
import { defineCommand, type Given } from "../arguments/command.ts";
import type { FlagRows } from "../arguments/flag-row.ts";
import { DIRECTORY, FILE, PORT, ruled } from "../arguments/value-kinds.ts";

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
    does: "so many times faster than recorded",
  },
  path: {
    name: "file",
    takes: FILE,
    otherwise: "the samples in data/samples",
    does: "plays what is in a CSV, or whatever else import reads",
  },
  port: { name: "port", takes: PORT, default: 0, otherwise: "any that is free", does: "port to listen on" },
  dataDir: { name: "data-dir", takes: DIRECTORY, default: DEFAULT_DEMO_DIR, does: "the data directory" },
} as const satisfies FlagRows;

export const DEMO = defineCommand({
  name: "demo",
  takes: "",
  summary: "show recorded devices on the map as if they moved now",
  flags: DEMO_FLAGS,
  help: {
    before: `\
Serves a data directory of its own and plays recordings into it, as devices would report them: buses in
Liverpool, ships round Denmark, a bus in Limerick. Their first half is history that ends now, and the rest
follows as time goes on. At its end each device goes back the way it came. All speeds are so many times
the real ones. Stopped by Ctrl-C and started again, the same devices go on from where they were.

Prints a link that opens the map once, or to a pipe its address and where the key is that signs in there.`,
    example: (program) => `${program} demo --speed 30
  ${program} demo --file rides.csv --data-dir data/demo-rides`,
  },
  parse: parseDemo,
});

/** What is shown, and how fast. */
export interface DemoOptions {
  /** Of the server that is shown. */
  readonly config: Config;
  /** So many times faster than recorded. */
  readonly speed: number;
  /** What is played; null for the samples of the project. */
  readonly path: string | null;
}

/** The data directory of other commands, which a variable may name, is never a demo's by accident: it has its own. */
function parseDemo({ values }: Given<typeof DEMO_FLAGS>): Result<DemoOptions, never> {
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
    cluster: null,
  };
  return ok({ config, speed, path });
}

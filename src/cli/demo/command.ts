import { type Config, DEFAULT_ARCHIVE_CONFIG, DEFAULT_HOSTNAME, DEFAULT_VIEWERS } from "../../app/config.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { ValuesOf } from "../commands.ts";

/** What is shown, and how fast. */
export interface DemoCommand {
  readonly kind: "demo";
  /** Of the server that is shown. */
  readonly config: Config;
  /** So many times faster than recorded. */
  readonly speed: number;
  /** What is played; null for the samples of the project. */
  readonly path: string | null;
}

/** The data directory of other commands, which a variable may name, is never a demo's by accident: it has its own. */
export function parseDemo({ dataDir, port, speed, path }: ValuesOf<"demo">): Result<DemoCommand, never> {
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
  return ok({ kind: "demo", config, speed, path });
}

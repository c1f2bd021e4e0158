import type { Config } from "../../config.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { LogLevel } from "../screen/event-log.ts";
import type { ValuesOf } from "./flag-table.ts";
import { noArgument } from "./positionals.ts";

export interface ServeCommand {
  readonly kind: "serve";
  readonly config: Config;
  readonly logLevel: LogLevel;
}

export function parseServe(
  { logLevel, ...settings }: ValuesOf<"serve">,
  dataDir: string,
  positionals: readonly string[],
): Result<ServeCommand, string> {
  const none = noArgument(positionals);
  return none.ok ? ok({ kind: "serve", config: { dataDir, ...settings }, logLevel }) : none;
}

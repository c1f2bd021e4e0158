import { DEFAULT_SERVER_URL } from "../../app/config.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { AppId } from "../../model/ids.ts";
import type { FlagRows, FlagValues } from "./flag-row.ts";
import { APP, KEY, SERVER_URL } from "./value-kinds.ts";

/* The flags of commands on one app, in a data directory or through a running server. */

export const APP_FLAGS = {
  appId: { name: "app", takes: APP, otherwise: "that of --key", does: "the app, in the data directory" },
  url: {
    name: "url",
    takes: SERVER_URL,
    otherwise: `with a key ${DEFAULT_SERVER_URL}, else the data directory`,
    does: "a running server",
  },
  key: { name: "key", takes: KEY, variable: "WHEREHOUSE_KEY", does: "a key of that server" },
} as const satisfies FlagRows;

/** Where a command finds the app. */
export type AppChoice =
  | { readonly kind: "server"; readonly url: string; readonly key: string }
  | { readonly kind: "directory"; readonly dataDir: string; readonly appId: AppId };

export function parseAppChoice(
  command: string,
  { appId, url, key }: FlagValues<typeof APP_FLAGS>,
  dataDir: string,
): Result<AppChoice, string> {
  if (key !== null) {
    if (appId !== null)
      return fail("--app does not go with --key or WHEREHOUSE_KEY: a key belongs to one app");
    return ok({ kind: "server", url: url ?? DEFAULT_SERVER_URL, key });
  }
  if (url !== null) return fail(`${command} --url needs --key, or the key in WHEREHOUSE_KEY`);
  if (appId === null) return fail(`${command} needs --app, or --key for a running server`);
  return ok({ kind: "directory", dataDir, appId });
}

import { fail, ok, type Result } from "../../lib/result.ts";
import type { AppId } from "../../model/ids.ts";
import type { ValuesOf } from "../commands.ts";

/** Which server is asked, and about which devices. */
export interface DoctorCommand {
  readonly kind: "doctor";
  readonly choice: ServerChoice;
  /** Null asks about all. */
  readonly deviceId: string | null;
  readonly json: boolean;
}

export function parseDoctor(
  { deviceId, json, ...server }: ValuesOf<"doctor">,
  dataDir: string,
): Result<DoctorCommand, string> {
  const choice = parseServerChoice("doctor", server, dataDir);
  return choice.ok ? ok({ kind: "doctor", choice: choice.value, deviceId, json }) : choice;
}

/** Which server a command asks. */
export type ServerChoice =
  /** One that is asked with a key; without a URL it is the one of the directory, else the default one. */
  | { readonly kind: "keyed"; readonly url: string | null; readonly key: string; readonly dataDir: string }
  /** The one that runs over the directory, about one of its apps, or about all of them. */
  | { readonly kind: "own"; readonly dataDir: string; readonly appId: AppId | null };

/** What the flags of a command say that asks a server and changes nothing. */
export function parseServerChoice(
  command: string,
  { url, key, appId }: Pick<ValuesOf<"doctor">, "url" | "key" | "appId">,
  dataDir: string,
): Result<ServerChoice, string> {
  if (key !== null)
    return appId === null
      ? ok({ kind: "keyed", url, key, dataDir })
      : fail("--app goes without --key and WHEREHOUSE_KEY: a key is one app's already");
  return url === null
    ? ok({ kind: "own", dataDir, appId })
    : fail(`${command} --url needs --key, or the key in WHEREHOUSE_KEY`);
}

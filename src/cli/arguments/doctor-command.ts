import { DEFAULT_SERVER_URL } from "../../config.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { AppId } from "../../model/ids.ts";
import type { AskedServer } from "../../service/ask-server.ts";
import type { ValuesOf } from "./flag-table.ts";

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
  /** One that was named, with a key. */
  | { readonly kind: "named"; readonly server: AskedServer }
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
      ? ok({ kind: "named", server: { url: url ?? DEFAULT_SERVER_URL, key } })
      : fail("--app goes without a key, which is one app's already");
  return url === null
    ? ok({ kind: "own", dataDir, appId })
    : fail(`${command} --url needs --key, or the key in WHEREHOUSE_KEY`);
}

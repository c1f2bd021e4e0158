import { DEFAULT_SERVER_URL } from "../../app/config.ts";
import type { KeyRecord } from "../../auth/key-file.ts";
import { keysForLinks } from "../../auth/link-codes.ts";
import { SessionSecret } from "../../auth/session-secret.ts";
import { Sessions } from "../../auth/sessions.ts";
import { directoryPaths } from "../../directory/paths.ts";
import { type DirectoryPlatform, findDirectoryOwner } from "../../directory/take-directory.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { AppId } from "../../model/ids.ts";
import type { Clock } from "../../model/time/clock.ts";
import { type RemoteServer, signInByCode } from "../../operator/remote/ask-server.ts";
import type { Platform } from "../../runtime/platform.ts";
import type { CommandContext } from "../arguments/command.ts";
import { describeSharedFileError, type Sharing, withSharedState } from "../cluster/node-directory.ts";
import { expectDataDirectory } from "../directory/data-directory.ts";
import { openKeys } from "../keys/keys.ts";
import { reachable } from "../serve/sign-in.ts";
import type { ServerChoice } from "./command.ts";

/*
 * Queries to the running server of a data directory without a key: a person who may read the directory's secret can
 * sign in with each of its keys. A command signs in with one key of each app.
 */

/** A server, and the app to query; null if the key decides which. */
export interface TargetApp {
  readonly appId: AppId | null;
  readonly server: RemoteServer;
}

/** Runs a command's work on the chosen server's apps, or on an error, which is a sentence. */
export async function withServer(
  choice: ServerChoice,
  command: string,
  { platform, clock }: CommandContext,
  work: (apps: Result<readonly TargetApp[], string>) => Promise<number>,
): Promise<number> {
  if (choice.kind === "keyed") {
    const { key } = choice;
    const url = await urlToAsk(choice, command, platform, clock);
    return work(ok([{ appId: null, server: { url, key } }]));
  }
  await expectDataDirectory(platform.files, choice.dataDir);
  return withSharedState(choice.dataDir, platform, async (shared) =>
    work(await openOwnServer(choice, command, shared, clock)),
  );
}

/** The URL of the options, else the address of the directory's running server, else the default address. */
export async function urlToAsk(
  { url, dataDir }: { readonly url: string | null; readonly dataDir: string },
  command: string,
  platform: DirectoryPlatform,
  clock: Clock,
): Promise<string> {
  if (url !== null) return url;
  const holder = await findDirectoryOwner(dataDir, command, platform, clock);
  return holder?.url ? reachable(holder.url) : DEFAULT_SERVER_URL;
}

async function openOwnServer(
  { dataDir, appId }: Extract<ServerChoice, { readonly kind: "own" }>,
  command: string,
  platform: Sharing<Platform>,
  clock: Clock,
): Promise<Result<readonly TargetApp[], string>> {
  const holder = await findDirectoryOwner(dataDir, command, platform, clock);
  if (holder === null || holder.url === null)
    return fail(
      `No server runs over the data directory "${dataDir}". Start it, or name one with --url and --key.`,
    );
  const keys = await openKeys(command, dataDir, platform, clock);
  const { files, acquireLock, pid, shared = null } = platform;
  const path = directoryPaths(dataDir).sessionSecret;
  const process = { pid, command };
  const secret = await SessionSecret.open({ files, path, clock, acquireLock, process, shared });
  const sessions = new Sessions({ secret, keys, clock });
  const ofApps = new Map<AppId, KeyRecord>();
  for (const key of keysForLinks(keys)) if (!ofApps.has(key.appId)) ofApps.set(key.appId, key);
  const apps: TargetApp[] = [];
  for (const [ofApp, { id }] of ofApps) {
    if (appId !== null && ofApp !== appId) continue;
    const code = await sessions.createCode(id);
    if (!code.ok) return fail(describeSharedFileError(code.error, "The sessions"));
    const url = reachable(holder.url);
    const session = await signInByCode(url, code.value, fetch);
    if (!session.ok) return session;
    apps.push({ appId: ofApp, server: { url, key: session.value } });
  }
  return apps.length === 0 ? fail(noKeyText(appId)) : ok(apps);
}

function noKeyText(appId: AppId | null): string {
  const ofApp = appId === null ? "" : ` of app "${appId}"`;
  return `There is no unbound key${ofApp} that may read. keys list shows all keys.`;
}

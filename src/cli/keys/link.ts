import { DEFAULT_SERVER_URL } from "../../app/config.ts";
import type { KeyRecord } from "../../auth/key-file.ts";
import type { KeyStore } from "../../auth/key-store.ts";
import { keyForLink, LINK_CODE_MINUTES, showsSomething } from "../../auth/link-codes.ts";
import { SessionSecret } from "../../auth/session-secret.ts";
import { Sessions } from "../../auth/sessions.ts";
import { directoryPaths } from "../../directory/paths.ts";
import { type DirectoryPlatform, findDirectoryOwner } from "../../directory/take-directory.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { Terminal } from "../../runtime/process.ts";
import { describeSharedFileError, onSharedFiles, type Sharing } from "../cluster/node-directory.ts";
import { expectDataDirectory } from "../directory/data-directory.ts";
import { refuse } from "../screen/layout.ts";
import { mapLink } from "../serve/sign-in.ts";
import type { KeysLinkOptions } from "./command.ts";
import { openKeys } from "./keys.ts";

/** Prints a link that signs in once on the map of a running server. */
export const linkKey = onSharedFiles<KeysLinkOptions>(
  async ({ dataDir, id, serverUrl }, { platform, clock, terminal }) => {
    const { files, acquireLock, pid, shared = null } = platform;
    await expectDataDirectory(files, dataDir);
    const keys = await openKeys("keys link", dataDir, platform, clock);
    const key = id === null ? anyKey(keys) : keyOf(id, keys);
    if (!key.ok) return refuse(key.error, terminal);
    const process = { pid, command: "keys link" };
    const path = directoryPaths(dataDir).sessionSecret;
    const secret = await SessionSecret.open({ files, path, clock, acquireLock, process, shared });
    const code = await new Sessions({ secret, keys, clock }).createCode(key.value.id);
    if (!code.ok) return refuse(describeSharedFileError(code.error, "The sessions"), terminal);
    const { id: keyId, appId } = key.value;
    terminal.error(`Signs in as key ${keyId} of app ${appId}, once, within ${LINK_CODE_MINUTES} minutes:\n`);
    terminal.out(
      `${mapLink(serverUrl ?? (await addressOf(dataDir, platform, clock, terminal)), code.value)}\n`,
    );
    return 0;
  },
);

/** The address of the directory's running server, else the default address. */
async function addressOf(
  dataDir: string,
  platform: Sharing<DirectoryPlatform>,
  clock: Clock,
  terminal: Terminal,
): Promise<string> {
  const holder = await findDirectoryOwner(dataDir, "keys link", platform, clock);
  if (holder?.url) return holder.url;
  if (platform.shared === undefined) terminal.error(NO_SERVER);
  return DEFAULT_SERVER_URL;
}

const NO_SERVER =
  "No server runs over this directory, and a server that starts later does not accept this link.\n";

function anyKey(keys: KeyStore): Result<KeyRecord, string> {
  const key = keyForLink(keys);
  return key === null ? fail(NO_KEY) : ok(key);
}

const NO_KEY = "There is no unbound key that may read. Name one that keys list shows, or create one.";

function keyOf(id: string, keys: KeyStore): Result<KeyRecord, string> {
  const match = keys.findById(id);
  if (match.kind === "unknown") return fail(`There is no key "${id}". keys list shows them.`);
  if (match.kind !== "known") return fail(`Key ${id} is ${match.kind}.`);
  if (showsSomething(match.key)) return ok(match.key);
  return fail(`Key ${id} may not read, so the map would show nothing.`);
}

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

/** Prints a link that signs in on the map of a running server, once. */
export const linkKey = onSharedFiles<KeysLinkOptions>(
  async ({ dataDir, id, serverUrl }, { platform, clock, terminal }) => {
    const { files, acquireLock, pid, shared = null } = platform;
    await expectDataDirectory(files, dataDir);
    const keys = await openKeys("keys link", dataDir, platform, clock);
    const found = id === null ? anyKey(keys) : keyOf(id, keys);
    if (!found.ok) return refuse(found.error, terminal);
    const process = { pid, command: "keys link" };
    const path = directoryPaths(dataDir).sessionSecret;
    const secret = await SessionSecret.open({ files, path, clock, acquireLock, process, shared });
    const code = await new Sessions({ secret, keys, clock }).createCode(found.value.id);
    if (!code.ok) return refuse(describeSharedFileError(code.error, "The sessions"), terminal);
    const { id: keyId, appId } = found.value;
    terminal.error(`Signs in as key ${keyId} of app ${appId}, once, within ${LINK_CODE_MINUTES} minutes:\n`);
    terminal.out(
      `${mapLink(serverUrl ?? (await addressOf(dataDir, platform, clock, terminal)), code.value)}\n`,
    );
    return 0;
  },
);

/** Where the directory's server listens, or would listen by default. */
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
  "No server runs over this directory, and one that starts later takes no link of before its start.\n";

function anyKey(keys: KeyStore): Result<KeyRecord, string> {
  const key = keyForLink(keys);
  return key === null ? fail(NO_KEY) : ok(key);
}

const NO_KEY =
  "There is no key that may read and is bound to nobody. keys list shows all: name one, or make one.";

function keyOf(id: string, keys: KeyStore): Result<KeyRecord, string> {
  const found = keys.findById(id);
  if (found.kind === "unknown") return fail(`There is no key "${id}". keys list shows them.`);
  if (found.kind !== "known") return fail(`Key ${id} is ${found.kind}.`);
  if (showsSomething(found.key)) return ok(found.key);
  return fail(`Key ${id} may not read, so the map would show nothing.`);
}

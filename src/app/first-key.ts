import type { KeyStore, NewKey } from "../auth/key-store.ts";
import type { directoryPaths } from "../directory/paths.ts";
import { assert } from "../lib/assert.ts";
import { UNBOUND } from "../model/binding.ts";
import type { AppId } from "../model/ids.ts";
import type { Files } from "../runtime/files.ts";

/** The app whose key the server makes. */
export const FIRST_APP = "default" as AppId;

/**
 * The key of who begins a data directory, made where it has neither keys nor data, else null: a lost key file must not
 * open a full directory.
 */
export async function createFirstKey(
  keys: KeyStore,
  files: Pick<Files, "list">,
  paths: ReturnType<typeof directoryPaths>,
  appId: AppId,
): Promise<NewKey | null> {
  if (keys.state !== "missing") return null;
  const dataFiles = [...(await files.list(paths.log)), ...(await files.list(paths.archive))];
  if (dataFiles.length > 0) return null;
  const created = await keys.create({
    appId,
    permissions: ["read", "write"],
    view: null,
    tier: "unlimited",
    label: "first key",
    ...UNBOUND,
    expiresMs: null,
  });
  assert(created.ok, "a missing key file can be written");
  return created.value;
}

import type { KeyStore, NewKey } from "../auth/key-store.ts";
import type { Stream } from "../cluster/stream/stream.ts";
import type { directoryPaths } from "../directory/paths.ts";
import { assert } from "../lib/assert.ts";
import { UNBOUND } from "../model/binding.ts";
import type { AppId } from "../model/ids.ts";
import type { Files } from "../runtime/files.ts";

/** The app of the first key. */
export const FIRST_APP = "default" as AppId;

/**
 * Creates the first key of a data directory that has neither keys nor data, else returns null: a lost key file must not
 * open a full directory.
 */
export async function createFirstKey(
  keys: KeyStore,
  files: Pick<Files, "list">,
  paths: ReturnType<typeof directoryPaths>,
  appId: AppId,
  /** A node's stream, whose entries are data too. */
  stream: Pick<Stream, "state"> | null = null,
): Promise<NewKey | null> {
  if (keys.state !== "missing") return null;
  const dataFiles = [...(await files.list(paths.log)), ...(await files.list(paths.archive))];
  if (dataFiles.length > 0 || (stream !== null && (await stream.state()).lastMessage > 0)) return null;
  const created = await keys.createFirst({
    appId,
    permissions: ["read", "write", "edit", "manage"],
    view: null,
    tier: "unlimited",
    label: "first key",
    ...UNBOUND,
    expiresMs: null,
  });
  if (created.ok) return created.value;
  // Another node was first, or the cluster is unreachable and the next start that sees no keys creates one.
  const { kind } = created.error;
  assert(kind === "keys_exist" || kind === "cluster_unreachable", "a missing key file can be written");
  return null;
}

import type { KeyStore, NewKey } from "../auth/key-store.ts";
import { assert } from "../lib/assert.ts";
import type { AppId } from "../model/ids.ts";

/** Only a directory with neither keys nor data gets a key by itself: a lost key file must not open a full one. */
export async function createFirstKey(keys: KeyStore, dataFiles: readonly string[]): Promise<NewKey | null> {
  if (keys.state !== "missing" || dataFiles.length > 0) return null;
  const created = await keys.create({
    appId: "default" as AppId,
    permissions: ["read", "write"],
    tier: "unlimited",
    label: "first key",
    expiresMs: null,
  });
  assert(created.ok, "a missing key file can be written");
  return created.value;
}

const NO_KEY_FILE =
  "there is no keys.json beside the data, so every key is unknown. " +
  "Make one with: keys create --app APP --permission read --permission write";

/** Tells what is wrong with the key file, if anything is. */
export function reportKeyFile({ state }: KeyStore, onKeyFile: (reason: string) => void): void {
  if (state === "missing") onKeyFile(NO_KEY_FILE);
  else if (state !== "ok") onKeyFile(`keys.json can't be used, every key is unknown: ${state.damaged}`);
}

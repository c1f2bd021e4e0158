import { type KeyStore, openKeyStore } from "../auth/key-store.ts";
import { PassPhrases } from "../auth/pass-phrases.ts";
import type { SharedFileDependencies } from "../auth/shared-file.ts";
import { watchKeys } from "../auth/watch-keys.ts";
import type { directoryPaths } from "../directory/paths.ts";

/** What the command line changes while a server runs: who may ask, and what opens what phones encrypt. */
export interface Secrets {
  readonly keys: KeyStore;
  readonly passPhrases: PassPhrases;
}

const RELOAD_MS = 1000; // Half of what the contract allows.

export async function openSecrets(
  paths: ReturnType<typeof directoryPaths>,
  dependencies: Omit<SharedFileDependencies, "path">,
): Promise<Secrets> {
  return {
    keys: await openKeyStore({ ...dependencies, path: paths.keys }),
    passPhrases: await PassPhrases.open({ ...dependencies, path: paths.passPhrases }),
  };
}

/** Takes in what is changed, and tells what is wrong with the files, now and when that changes. */
export function watchSecrets(
  { keys, passPhrases }: Secrets,
  onKeyFile: (reason: string) => void,
): { stop(): void } {
  const watches = [
    watchKeys(keys, RELOAD_MS, () => reportKeys(keys, onKeyFile)),
    watchKeys(passPhrases, RELOAD_MS, () => reportPassPhrases(passPhrases, onKeyFile)),
  ];
  reportKeys(keys, onKeyFile);
  reportPassPhrases(passPhrases, onKeyFile);
  return {
    stop() {
      for (const watch of watches) watch.stop();
    },
  };
}

const NO_KEY_FILE =
  "there is no keys.json beside the data, so every key is unknown. " +
  "Make one with: keys create --app APP --permission read --permission write";

function reportKeys({ state }: KeyStore, onKeyFile: (reason: string) => void): void {
  if (state === "missing") onKeyFile(NO_KEY_FILE);
  else if (state !== "ok") onKeyFile(`keys.json can't be used, every key is unknown: ${state.damaged}`);
}

/** Most directories have none. */
function reportPassPhrases({ state }: PassPhrases, onKeyFile: (reason: string) => void): void {
  if (typeof state !== "object") return;
  onKeyFile(`pass-phrases.json can't be used, what phones encrypt goes to the quarantine: ${state.damaged}`);
}

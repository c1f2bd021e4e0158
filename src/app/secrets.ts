import { type KeyStore, openKeyStore } from "../auth/key-store.ts";
import { type CodeUses, UsedCodes } from "../auth/link-codes.ts";
import { PassPhrases } from "../auth/pass-phrases.ts";
import { SessionSecret } from "../auth/session-secret.ts";
import type { ClusterNode } from "../cluster/cluster-node.ts";
import { SharedCodes } from "../cluster/shared-codes.ts";
import type { directoryPaths } from "../directory/paths.ts";
import { type SharedFileDependencies, watchFile } from "../directory/shared-file.ts";
import { systemTimers } from "../lib/schedule/timers.ts";

/** What others change while a server runs: who may ask, what signs sessions, what opens what phones encrypt. */
export interface Secrets {
  readonly keys: KeyStore;
  readonly sessionSecret: SessionSecret;
  readonly passPhrases: PassPhrases;
  /** Which links have signed somebody in. */
  readonly usedCodes: CodeUses;
}

const RELOAD_MS = 1000; // Half of what the contract allows.

export async function openSecrets(
  paths: ReturnType<typeof directoryPaths>,
  dependencies: Omit<SharedFileDependencies, "path">,
  node: Pick<ClusterNode, "codes"> | null,
): Promise<Secrets> {
  const { clock } = dependencies;
  return {
    keys: await openKeyStore({ ...dependencies, path: paths.keys }),
    sessionSecret: await SessionSecret.open({ ...dependencies, path: paths.sessionSecret }),
    passPhrases: await PassPhrases.open({ ...dependencies, path: paths.passPhrases }),
    usedCodes: node === null ? new UsedCodes(clock) : new SharedCodes(node.codes, clock),
  };
}

/** Takes in what is changed, and tells what is wrong with the files, now and when that changes. */
export function watchSecrets(
  { keys, sessionSecret, passPhrases }: Omit<Secrets, "usedCodes">,
  onKeyFile: (reason: string) => void,
  timers = systemTimers,
): { stop(): void } {
  const watch = (file: Parameters<typeof watchFile>[0], report: () => void) =>
    watchFile(file, RELOAD_MS, report, () => {}, timers);
  const watches = [
    watch(keys, () => reportKeys(keys, onKeyFile)),
    watch(sessionSecret, () => reportSecret(sessionSecret, onKeyFile)),
    watch(passPhrases, () => reportPassPhrases(passPhrases, onKeyFile)),
  ];
  reportKeys(keys, onKeyFile);
  reportSecret(sessionSecret, onKeyFile);
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

/** Where it is missing, whoever signs in next makes it. */
function reportSecret({ state }: SessionSecret, onKeyFile: (reason: string) => void): void {
  if (typeof state !== "object") return;
  onKeyFile(
    `session-secret can't be used, nobody is signed in: ${state.damaged}. Delete it to have it made anew`,
  );
}

/** Most directories have none. */
function reportPassPhrases({ state }: PassPhrases, onKeyFile: (reason: string) => void): void {
  if (typeof state !== "object") return;
  onKeyFile(`pass-phrases.json can't be used, what phones encrypt goes to the quarantine: ${state.damaged}`);
}

import { type KeyStore, openKeyStore } from "../auth/key-store.ts";
import { type CodeUses, UsedCodes } from "../auth/link-codes.ts";
import { PassPhrases } from "../auth/pass-phrases.ts";
import { SessionSecret } from "../auth/session-secret.ts";
import { WebhookSecrets } from "../auth/webhook-secrets.ts";
import type { ClusterNode } from "../cluster/cluster-node.ts";
import { SharedCodes } from "../cluster/shared-codes.ts";
import type { directoryPaths } from "../directory/paths.ts";
import { RELOAD_MS, type SharedFileDependencies, watchFile } from "../directory/shared-file.ts";
import { systemTimers } from "../lib/schedule/timers.ts";

/** Secrets that other processes may change while the server runs: keys, the session secret, passphrases of phones. */
export interface Secrets {
  readonly keys: KeyStore;
  readonly sessionSecret: SessionSecret;
  readonly passPhrases: PassPhrases;
  readonly webhookSecrets: WebhookSecrets;
  /** Sign-in links that were used. */
  readonly usedCodes: CodeUses;
}

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
    webhookSecrets: await WebhookSecrets.open({ ...dependencies, path: paths.webhookSecrets }),
    usedCodes: node === null ? new UsedCodes(clock) : new SharedCodes(node.codes, clock),
  };
}

/** Reloads changed files, and reports what is wrong with them, now and whenever that changes. */
export function watchSecrets(
  { keys, sessionSecret, passPhrases, webhookSecrets }: Omit<Secrets, "usedCodes">,
  onKeyFile: (reason: string) => void,
  timers = systemTimers,
): { stop(): void } {
  const watch = (file: Parameters<typeof watchFile>[0], report: () => void) =>
    watchFile(file, RELOAD_MS, report, () => {}, timers);
  const watches = [
    watch(keys, () => reportKeys(keys, onKeyFile)),
    watch(sessionSecret, () => reportSecret(sessionSecret, onKeyFile)),
    watch(passPhrases, () => reportPassPhrases(passPhrases, onKeyFile)),
    watch(webhookSecrets, () => reportWebhookSecrets(webhookSecrets, onKeyFile)),
  ];
  reportKeys(keys, onKeyFile);
  reportSecret(sessionSecret, onKeyFile);
  reportPassPhrases(passPhrases, onKeyFile);
  reportWebhookSecrets(webhookSecrets, onKeyFile);
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

/** If it is missing, the next sign-in creates it. */
function reportSecret({ state }: SessionSecret, onKeyFile: (reason: string) => void): void {
  if (typeof state !== "object") return;
  onKeyFile(
    `session-secret can't be used, so no session is valid: ${state.damaged}. Delete the file; the next sign-in creates it`,
  );
}

/** Most directories have no passphrases. */
function reportPassPhrases({ state }: PassPhrases, onKeyFile: (reason: string) => void): void {
  if (typeof state !== "object") return;
  onKeyFile(`pass-phrases.json can't be used, what phones encrypt goes to the quarantine: ${state.damaged}`);
}

/** Most directories have no webhooks. */
function reportWebhookSecrets({ state }: WebhookSecrets, onKeyFile: (reason: string) => void): void {
  if (typeof state !== "object") return;
  onKeyFile(`webhook-secrets.json can't be used, so no webhook is sent: ${state.damaged}`);
}

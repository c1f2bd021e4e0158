import type { KeyRecord } from "../auth/key-file.ts";
import { type KeyStore, type KeyStoreError, openKeyStore } from "../auth/key-store.ts";
import { directoryPaths } from "../directory.ts";
import type { Platform } from "../runtime/platform.ts";
import type { Terminal } from "../runtime/process.ts";
import type { Clock } from "../time/clock.ts";
import type { KeysCreateCommand } from "./command.ts";
import { formatTable } from "./table.ts";

/** The key commands share a file with the server and need nothing else of the directory. */
export function openKeys(
  command: string,
  dataDir: string,
  { files, acquireLock, pid }: Pick<Platform, "files" | "acquireLock" | "pid">,
  clock: Clock,
): Promise<KeyStore> {
  const { keys: path } = directoryPaths(dataDir);
  return openKeyStore({ files, path, clock, acquireLock, process: { pid, command } });
}

export async function createKey(
  keys: KeyStore,
  { appId, permissions, tier, label, lifetimeMs }: KeysCreateCommand,
  clock: Clock,
  terminal: Terminal,
): Promise<number> {
  const expiresMs = lifetimeMs === null ? null : clock.nowMs() + lifetimeMs;
  const created = await keys.create({ appId, permissions, tier, label, expiresMs });
  if (!created.ok) return refuse(created.error, terminal);
  const { key, text } = created.value;
  const until = expiresMs === null ? "" : ` until ${formatTime(expiresMs)}`;
  terminal.error(
    `Key ${key.id} of app ${appId} may ${permissions.join(" and ")}${until}. It is shown this once:\n`,
  );
  terminal.out(`${text}\n`);
  return 0;
}

export function listKeys(keys: KeyStore, json: boolean, terminal: Terminal): number {
  if (typeof keys.state === "object") return refuse(damaged(keys.state.damaged), terminal);
  if (json) {
    terminal.out(`${JSON.stringify(keys.list().map(withoutHash), null, 2)}\n`);
  } else if (keys.list().length === 0) {
    terminal.error("There are no keys. keys create makes one.\n");
  } else {
    terminal.out(formatTable(HEADER, keys.list().map(tableRow)));
  }
  return 0;
}

export async function revokeKey(keys: KeyStore, id: string, terminal: Terminal): Promise<number> {
  const revoked = await keys.revoke(id);
  if (!revoked.ok) return refuse(revoked.error, terminal);
  terminal.error(`Key ${id} of app ${revoked.value.appId} is revoked.\n`);
  return 0;
}

const HEADER = ["id", "app", "permissions", "tier", "label", "created", "last four", "expires", "revoked"];

function tableRow({
  id,
  appId,
  permissions,
  tier,
  label,
  createdMs,
  lastFour,
  expiresMs,
  revokedMs,
}: KeyRecord) {
  const times = [expiresMs, revokedMs].map((timeMs) => (timeMs === null ? "-" : formatTime(timeMs)));
  return [id, appId, permissions.join(","), tier, label || "-", formatTime(createdMs), lastFour, ...times];
}

/** The hash is no secret that opens anything, but nobody needs it either. */
function withoutHash({ sha256: _, ...shown }: KeyRecord): Omit<KeyRecord, "sha256"> {
  return shown;
}

/** UTC to the second. */
function formatTime(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}Z`;
}

function damaged(reason: string): KeyStoreError {
  return { kind: "key_file_damaged", reason };
}

function refuse(error: KeyStoreError, terminal: Terminal): number {
  terminal.error(`${describe(error)}\n`);
  return 1;
}

function describe(error: KeyStoreError): string {
  switch (error.kind) {
    case "key_file_damaged":
      return `keys.json can't be used: ${error.reason}. It is left as it is.`;
    case "key_file_busy": {
      const holder =
        error.owner === null ? "another process" : `process ${error.owner.pid} (${error.owner.command})`;
      return `The keys are being changed by ${holder}; try again.`;
    }
    case "key_not_found":
      return `There is no key "${error.id}". keys list shows them.`;
  }
}

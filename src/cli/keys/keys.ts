import type { KeyRecord } from "../../auth/key-file.ts";
import { type KeySpec, type KeyStore, openKeyStore, type UnknownKeyError } from "../../auth/key-store.ts";
import { WebhookSecrets } from "../../auth/webhook-secrets.ts";
import { directoryPaths } from "../../directory/paths.ts";
import type { SharedFileError } from "../../directory/shared-file.ts";
import { refuseForeign } from "../../directory/take-directory.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { Platform } from "../../runtime/platform.ts";
import type { Terminal } from "../../runtime/process.ts";
import { describeSharedFileError, onSharedFiles, type Sharing } from "../cluster/node-directory.ts";
import { expectDataDirectory, newDirectoryText } from "../directory/data-directory.ts";
import { errorColumns, outColumns } from "../screen/layout.ts";
import type { KeysCreateOptions, KeysListOptions, KeysRevokeOptions } from "./command.ts";
import { formatInstant, formatKeyList, viewText } from "./key-list.ts";
import { type SetupText, setupText } from "./setup-text.ts";

/** Creates a key, and the data directory if it is missing. */
export const createKey = onSharedFiles<KeysCreateOptions>(async (command, { platform, clock, terminal }) => {
  const { dataDir, appId, permissions, client } = command;
  const planned = planTimes(command, clock.nowMs());
  if (!planned.ok) {
    terminal.error(`${planned.error}\n`);
    return 1;
  }
  const { expiresMs, view } = planned.value;
  const isNew = !(await platform.files.exists(dataDir));
  const keys = await openKeys("keys create", dataDir, platform, clock);
  const label = command.label || (client ?? "");
  const created = await keys.create({ ...command, view, label, expiresMs });
  if (!created.ok) return refuse(created.error, terminal);
  const { key, text } = created.value;
  const bound = boundText(key);
  const reportsAs = bound === null ? "" : ` It can report only as ${bound}.`;
  const shows = view === null ? "" : ` It shows ${viewText(view)}.`;
  const until = expiresMs === null ? "" : ` until ${formatInstant(expiresMs)}`;
  if (isNew) terminal.error(`${newDirectoryText(dataDir)}\n`);
  terminal.error(
    `Key ${key.id} of app ${appId} may ${permissions.join(" and ")}${until}.${reportsAs}${shows}\nIt is shown only now:\n`,
  );
  terminal.out(`${text}\n`);
  if (client !== null) showSetup(setupText(client, command, text, errorColumns(terminal)), terminal);
  return 0;
});

/** Resolves the times of the options, some of which are relative to now. */
function planTimes(
  { ends, view }: KeysCreateOptions,
  nowMs: number,
): Result<Pick<KeySpec, "expiresMs" | "view">, string> {
  const expiresMs = ends === null ? null : "atMs" in ends ? ends.atMs : nowMs + ends.afterMs;
  if (expiresMs !== null && expiresMs <= nowMs)
    return fail(`--expires must be in the future, and ${formatInstant(expiresMs)} is not.`);
  if (view === null) return ok({ expiresMs, view });
  const notBeforeMs = view.notBeforeMs ?? nowMs;
  if (expiresMs !== null && notBeforeMs >= expiresMs)
    return fail(`--not-before must be before --expires, which is ${formatInstant(expiresMs)}.`);
  return ok({ expiresMs, view: { ...view, notBeforeMs } });
}

function showSetup({ fields, code, notes }: SetupText, terminal: Terminal): void {
  terminal.error(`\n${fields}`);
  if (code !== null) terminal.picture(code);
  terminal.error(code === null ? notes : `\n${notes}`);
}

export const listKeys = onSharedFiles<KeysListOptions>(
  async ({ dataDir, json }, { platform, clock, terminal }) => {
    await expectDataDirectory(platform.files, dataDir);
    const keys = await openKeys("keys list", dataDir, platform, clock);
    if (typeof keys.state === "object") return refuse(damaged(keys.state.damaged), terminal);
    if (json) {
      terminal.out(`${JSON.stringify(keys.list().map(withoutHash), null, 2)}\n`);
    } else if (keys.list().length === 0) {
      terminal.error("There are no keys. Create one with keys create.\n");
    } else {
      terminal.out(formatKeyList(keys.list(), clock.nowMs(), outColumns(terminal)));
    }
    return 0;
  },
);

export const revokeKey = onSharedFiles<KeysRevokeOptions>(
  async ({ dataDir, id, withWebhooks }, { platform, clock, terminal }) => {
    await expectDataDirectory(platform.files, dataDir);
    const keys = await openKeys("keys revoke", dataDir, platform, clock);
    const revoked = await keys.revoke(id);
    if (!revoked.ok) return refuse(revoked.error, terminal);
    terminal.error(`Key ${id} of app ${revoked.value.appId} is revoked.\n`);
    const secrets = await openWebhookSecrets(dataDir, platform, clock);
    if (!withWebhooks) {
      const ids = secrets.madeBy(id);
      if (ids.length > 0)
        terminal.error(
          `It made webhooks that go on: ${ids.join(", ")}. To end them: keys revoke ${id} --with-webhooks\n`,
        );
      return 0;
    }
    const ended = await secrets.revokeOf(id);
    if (!ended.ok) {
      terminal.error(`${describeSharedFileError(ended.error, "The secrets of webhooks")}\n`);
      return 1;
    }
    if (ended.value.length > 0) terminal.error(`Its webhooks end: ${ended.value.join(", ")}.\n`);
    return 0;
  },
);

function openWebhookSecrets(
  dataDir: string,
  { files, acquireLock, pid, shared = null }: Sharing<Pick<Platform, "files" | "acquireLock" | "pid">>,
  clock: Clock,
): Promise<WebhookSecrets> {
  const { webhookSecrets: path } = directoryPaths(dataDir);
  const process = { pid, command: "keys revoke" };
  return WebhookSecrets.open({ files, path, clock, acquireLock, process, shared });
}

/** Opens the keys without owning the directory: commands share their file with the server. */
export async function openKeys(
  command: string,
  dataDir: string,
  { files, acquireLock, pid, shared = null }: Sharing<Pick<Platform, "files" | "acquireLock" | "pid">>,
  clock: Clock,
): Promise<KeyStore> {
  const { keys: path } = directoryPaths(dataDir);
  await refuseForeign(files, dataDir);
  return openKeyStore({ files, path, clock, acquireLock, process: { pid, command }, shared });
}

/** The device and the user that the key is bound to, in words; null if it is unbound. */
function boundText({ deviceId, userId }: KeyRecord): string | null {
  const device = deviceId === null ? null : `device "${deviceId}"`;
  const user = userId === null ? null : `user "${userId}"`;
  return device !== null && user !== null ? `${device} of ${user}` : (device ?? user);
}

/** The hash is no secret, but it is of no use to a reader. */
function withoutHash({ sha256: _, ...rest }: KeyRecord): Omit<KeyRecord, "sha256"> {
  return rest;
}

function damaged(reason: string): SharedFileError {
  return { kind: "file_damaged", file: "keys.json", reason };
}

function refuse(error: SharedFileError | UnknownKeyError, terminal: Terminal): number {
  terminal.error(`${describeKeyError(error)}\n`);
  return 1;
}

export function describeKeyError(error: SharedFileError | UnknownKeyError): string {
  switch (error.kind) {
    case "file_damaged":
    case "file_busy":
    case "file_full":
    case "cluster_unreachable":
      return describeSharedFileError(error, "The keys");
    case "key_not_found":
      return `There is no key "${error.id}". keys list shows them.`;
  }
}

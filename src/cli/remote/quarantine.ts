import { Buffer } from "node:buffer";
import { fail, ok, type Result } from "../../lib/result.ts";
import { printable, printableLine } from "../../lib/text/printable.ts";
import {
  askEntries,
  askEntry,
  askToDelete,
  askToReplay,
  type RemoteEntry,
  type RemoteEntryFilter,
} from "../../operator/remote/ask-quarantine.ts";
import type { RemoteServer } from "../../operator/remote/ask-server.ts";
import type { Terminal } from "../../runtime/process.ts";
import type { CommandContext, Run } from "../arguments/command.ts";
import { formatCount, formatTable, refuse } from "../screen/layout.ts";
import type { QuarantineChangeOptions, QuarantineListOptions, QuarantineShowOptions } from "./command.ts";
import { type TargetApp, urlToAsk, withServer } from "./own-server.ts";

/* The commands on the quarantine of a running server. Its entries hold any bytes that a client sent. */

export function listQuarantine(command: QuarantineListOptions, context: CommandContext): Promise<number> {
  const { terminal } = context;
  return withServer(command.choice, "quarantine list", context, async (apps) => {
    const list = await entriesOf(apps, command);
    if (!list.ok) return refuse(printableLine(list.error), terminal);
    const entries = list.value;
    const namesApps = command.choice.kind === "own";
    if (command.json) terminal.out(`${JSON.stringify(entries, null, 2)}\n`);
    else if (entries.length === 0) terminal.error("The quarantine is empty.\n");
    else if (namesApps) terminal.out(formatTable(["app", ...HEADER], entries.map(rowWithApp)));
    else terminal.out(formatTable(HEADER, entries.map(row)));
    return 0;
  });
}

type EntryOfApp = RemoteEntry & { readonly app_id?: string };

/** The entries of all apps, newest first. */
async function entriesOf(
  apps: Result<readonly TargetApp[], string>,
  filter: RemoteEntryFilter,
): Promise<Result<readonly EntryOfApp[], string>> {
  if (!apps.ok) return apps;
  const entries: EntryOfApp[] = [];
  for (const { appId, server } of apps.value) {
    const answer = await askEntries(server, filter, fetch);
    if (!answer.ok) return answer;
    entries.push(...answer.value.map((entry) => (appId === null ? entry : { app_id: appId, ...entry })));
  }
  return ok(apps.value.length < 2 ? entries : entries.sort((a, b) => b.last_arrived - a.last_arrived));
}

function rowWithApp(entry: EntryOfApp): string[] {
  return [printableLine(entry.app_id ?? "-"), ...row(entry)];
}

const HEADER = ["id", "last came", ">times", "client", "reason", "device", ">bytes"];

function row({
  id,
  client,
  reason,
  device_id = "-",
  body_bytes,
  last_arrived,
  count,
}: RemoteEntry): string[] {
  const time = `${new Date(last_arrived).toISOString().slice(0, 19)}Z`;
  const cells = [id, time, formatCount(count), client, reason, device_id, formatCount(body_bytes)];
  return cells.map(printableLine);
}

/** Fields in Unix milliseconds. */
const TIMES: readonly string[] = ["arrived", "last_arrived"];

/** Prints only the body to standard output, so that it can be piped, and replaces its control characters. */
export function showQuarantined(command: QuarantineShowOptions, context: CommandContext): Promise<number> {
  const { terminal } = context;
  return withServer(command.choice, "quarantine show", context, async (apps) => {
    const entry = await findEntry(apps, command.id);
    return entry.ok
      ? showEntry(entry.value, command.json, terminal)
      : refuse(printableLine(entry.error), terminal);
  });
}

/** Looks for an entry in each app. */
async function findEntry(
  apps: Result<readonly TargetApp[], string>,
  id: string,
): Promise<Awaited<ReturnType<typeof askEntry>>> {
  if (!apps.ok) return apps;
  let entry: Awaited<ReturnType<typeof askEntry>> = fail(`There is no entry "${id}".`);
  for (const { server } of apps.value) {
    entry = await askEntry(server, id, fetch);
    if (entry.ok) break;
  }
  return entry;
}

function showEntry(entry: Readonly<Record<string, unknown>>, asJson: boolean, terminal: Terminal): number {
  const { success: _, body, body_base64, ...rest } = entry;
  if (asJson) {
    terminal.out(`${JSON.stringify({ ...rest, body, body_base64 }, null, 2)}\n`);
    return 0;
  }
  for (const [name, value] of Object.entries(rest)) {
    const isTime = typeof value === "number" && TIMES.includes(name);
    const printed = isTime ? new Date(value).toISOString() : value;
    const text = typeof printed === "string" ? printed : JSON.stringify(printed);
    terminal.error(`${printableLine(`${name}: ${text}`)}\n`);
  }
  const text =
    typeof body === "string" ? body : Buffer.from(String(body_base64), "base64").toString("latin1");
  terminal.out(`${printable(text)}\n`);
  return 0;
}

export const replayQuarantined = changerOf("quarantine replay", askToReplay, "stored");

export const deleteQuarantined = changerOf("quarantine delete", askToDelete, "deleted");

/** A command that changes entries one by one; it returns 1 if one could not be changed. */
function changerOf(name: string, ask: typeof askToReplay, what: string): Run<QuarantineChangeOptions> {
  return async (command, { platform, clock, terminal }) => {
    const url = await urlToAsk(command, name, platform, clock);
    const server = { url, key: command.key };
    const ids = await idsOf(command, server);
    if (!ids.ok) return refuse(printableLine(ids.error), terminal);
    let done = 0;
    for (const id of ids.value) {
      const failure = await change(ask, server, id);
      if (failure === null) done++;
      else terminal.error(`${printableLine(`${id}: ${failure}`)}\n`);
    }
    terminal.out(`${formatCount(done)} of ${formatCount(ids.value.length)} ${what}.\n`);
    return done === ids.value.length ? 0 : 1;
  };
}

/** The ids of the chosen entries, oldest first. */
async function idsOf(
  command: QuarantineChangeOptions,
  server: RemoteServer,
): Promise<Result<readonly string[], string>> {
  if (command.ids !== null) return ok(command.ids);
  const answer = await askEntries(server, command, fetch);
  return answer.ok ? ok(answer.value.map(({ id }) => id).reverse()) : fail(answer.error);
}

/** Changes an entry; returns why that failed, or null. */
async function change(ask: typeof askToReplay, server: RemoteServer, id: string): Promise<string | null> {
  const answer = await ask(server, id, fetch);
  if (!answer.ok) return answer.error;
  return answer.value.is_kept === true ? "it still can't be used, and stays" : null;
}

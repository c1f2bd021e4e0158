import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { type Ask, askForAll, askServer, type RemoteServer } from "./ask-server.ts";

/*
 * The quarantine of a running server, asked for over HTTP. Errors are sentences.
 */

export interface RemoteEntryFilter {
  readonly client: string | null;
  readonly reason: string | null;
  readonly deviceId: string | null;
}

/** Fields as in the server's answer. */
export interface RemoteEntry {
  readonly id: string;
  readonly client: string;
  readonly reason: string;
  readonly key_id?: string;
  readonly device_id?: string;
  readonly body_bytes: number;
  readonly last_arrived: number;
  readonly count: number;
}

const PATH = "/api/v1/quarantine";

/** The options of commands for these parameters. */
const OPTIONS = { client: "--client", reason: "--reason", device_id: "--device" };

/** All entries that match a filter, the newest first. */
export async function askEntries(
  server: RemoteServer,
  filter: RemoteEntryFilter,
  ask: Ask,
): Promise<Result<readonly RemoteEntry[], string>> {
  const parameters = { client: filter.client, reason: filter.reason, device_id: filter.deviceId };
  const entries = await askForAll(server, { path: PATH, parameters, member: "entries" }, ask, OPTIONS);
  if (!entries.ok) return entries;
  return entries.value.every(isEntry)
    ? ok(entries.value)
    : fail(`${server.url} is no Wherehouse server: its answer has no entries.`);
}

/** One entry with its body. */
export function askEntry(server: RemoteServer, id: string, ask: Ask) {
  return askServer(server, "GET", `${PATH}/${encodeURIComponent(id)}`, ask);
}

export function askToReplay(server: RemoteServer, id: string, ask: Ask) {
  return askServer(server, "POST", `${PATH}/${encodeURIComponent(id)}/replay`, ask);
}

export function askToDelete(server: RemoteServer, id: string, ask: Ask) {
  return askServer(server, "DELETE", `${PATH}/${encodeURIComponent(id)}`, ask);
}

function isEntry(entry: unknown): entry is RemoteEntry {
  if (!isObject(entry)) return false;
  const { id, client, reason, device_id = "", body_bytes, last_arrived, count } = entry;
  const texts = [id, client, reason, device_id];
  return (
    texts.every((text) => typeof text === "string") &&
    [body_bytes, last_arrived, count].every((number) => typeof number === "number")
  );
}

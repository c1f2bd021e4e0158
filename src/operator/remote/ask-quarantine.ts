import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { type Ask, askServer, type RemoteServer } from "./ask-server.ts";

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
  readonly device_id?: string;
  readonly body_bytes: number;
  readonly last_arrived: number;
  readonly count: number;
}

const PATH = "/api/v1/quarantine";
const PAGE_ENTRIES = 1000;

/** The options of commands for these parameters. */
const OPTIONS = { client: "--client", reason: "--reason", device_id: "--device" };

/** All entries that match a filter, the newest first. */
export async function askEntries(
  server: RemoteServer,
  filter: RemoteEntryFilter,
  ask: Ask,
): Promise<Result<readonly RemoteEntry[], string>> {
  const entries: RemoteEntry[] = [];
  for (;;) {
    const query = new URLSearchParams({ limit: String(PAGE_ENTRIES), offset: String(entries.length) });
    const parameters = { client: filter.client, reason: filter.reason, device_id: filter.deviceId };
    for (const [name, value] of Object.entries(parameters)) if (value !== null) query.set(name, value);
    const page = await askServer(server, "GET", `${PATH}?${query}`, ask, OPTIONS);
    if (!page.ok) return page;
    const more = page.value.entries;
    if (!Array.isArray(more) || !more.every(isEntry))
      return fail(`${server.url} is no Wherehouse server: its answer has no entries.`);
    entries.push(...more);
    if (more.length < PAGE_ENTRIES) return ok(entries);
  }
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

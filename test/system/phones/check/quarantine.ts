import { type Client, get } from "../../support/client.ts";

/** What the quarantine holds of a message that could not be used. */
export interface QuarantinedMessage {
  readonly id: string;
  /** Of the key it came with. */
  readonly keyId: string;
  readonly reason: string;
  /** Null where all of a message is kept, since nobody could read whose it is. */
  readonly deviceId: string | null;
  /** Its parameters and its body. */
  readonly text: string;
}

interface Page {
  readonly entries: readonly Entry[];
  readonly pagination: { readonly has_more: boolean };
}

interface Entry {
  readonly id: string;
  readonly key_id: string;
  readonly reason: string;
  readonly device_id?: string;
  readonly position?: number;
}

interface WholeEntry {
  readonly query: string;
  readonly body: string;
}

const PAGE = 1000;

/** All that the quarantine has of an app, entry by entry. */
export async function readQuarantine(client: Client): Promise<readonly QuarantinedMessage[]> {
  const messages: QuarantinedMessage[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await ask<Page>(client, `/api/v1/quarantine?limit=${PAGE}&offset=${offset}`);
    for (const { id, key_id: keyId, reason, device_id = null, position } of page.entries) {
      const { query, body } = await ask<WholeEntry>(client, `/api/v1/quarantine/${id}`);
      const deviceId = position === undefined ? null : device_id;
      messages.push({ id, keyId, reason, deviceId, text: `${decodeURIComponent(query)} ${body}` });
    }
    if (!page.pagination.has_more) return messages;
  }
}

async function ask<Body>(client: Client, path: string): Promise<Body> {
  const answer = await get(client, path);
  if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Body;
}

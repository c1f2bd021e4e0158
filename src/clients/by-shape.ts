import type { Client } from "./client.ts";
import { CLIENTS } from "./clients.ts";
import type { Content } from "./content.ts";

/**
 * Whose message it is that came on a client's path: who reads it, and whose answer is waited for. The path decides, for
 * the units of a dialect depend on it, unless the body has a shape that only another client's messages have.
 */
export function readerOf(pathClient: Client, content: Content): Client {
  if (content.kind !== "json" || pathClient.speaks(content.value)) return pathClient;
  return CLIENTS.find((client) => client.recognizes(content.value)) ?? pathClient;
}

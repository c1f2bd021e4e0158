import { openHttpClient } from "../../servers/http-client.ts";
import { postRequest } from "../../servers/load.ts";
import type { PeerWriter } from "../contender.ts";

/** Posts `{"locations":[...]}` to an address that answers 200 once they are stored. */
export async function openHttpWriter(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<PeerWriter> {
  const client = await openHttpClient(url);
  return {
    async write(locations) {
      const body = new TextEncoder().encode(JSON.stringify({ locations }));
      await client.ask(postRequest(url, { ...headers, "content-type": "application/json" }, body));
    },
    close: async () => client.close(),
  };
}

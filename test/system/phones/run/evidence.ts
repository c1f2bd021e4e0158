import { type Client, get } from "../../support/client.ts";
import { type Judgement, judge, type Kept } from "../check/judge.ts";
import { readQuarantine } from "../check/quarantine.ts";
import { findKeys, readDirectoryTexts } from "../check/secrets.ts";
import { readStore } from "../check/store.ts";
import type { Scene } from "./scene.ts";

/**
 * Looks for every point and for everything that should not be: in the answers of a server that has read its disk anew,
 * in its directory once it has stopped, and in all that it said.
 */
export async function judgeScene(scene: Scene, shown: (kept: Kept) => Kept): Promise<Judgement> {
  const { phones, keys, server, place, vandalsKey } = scene;
  const appIds = [...new Set(phones.map(({ appId }) => appId))];
  const { text: operatorKey } = await keys.create(appIds[0]!, "operate");
  const readKeys = new Map<string, string>();
  for (const appId of appIds) readKeys.set(appId, (await keys.create(appId, "read")).text);
  const told = new Map([["metrics", await ask({ url: server.url, key: operatorKey }, "/metrics")]]);
  for (const { appId, deviceId } of phones) {
    const client = { url: server.url, key: readKeys.get(appId)! };
    for (const path of ["/api/v1/doctor", `/api/v1/devices/${encodeURIComponent(deviceId)}/last-requests`])
      told.set(`${appId}: ${path}`, await ask(client, path));
  }

  await server.kill();
  await server.start(true);
  const keptOf = new Map<string, Kept>();
  for (const [appId, key] of readKeys) {
    const client = { url: server.url, key };
    keptOf.set(appId, shown({ records: await readStore(client), quarantine: await readQuarantine(client) }));
  }
  await server.stop();

  const { phones: summaries, faults } = judge(phones, keptOf, vandalsKey.id);
  const texts = new Map([...readDirectoryTexts(place.dataDir), ...told, ["the log", server.said]]);
  return {
    phones: summaries,
    faults: [...faults, ...findKeys(keys.texts, texts), ...findTrouble(server.said)],
  };
}

/** The text of an answer, whatever it is: a device of which nothing arrived has none of its own. */
async function ask(client: Client, path: string): Promise<string> {
  return (await get(client, path)).text();
}

/** What a server must never say, whatever happens. */
function findTrouble(said: string): string[] {
  return said.split("\n").filter((line) => /Failed to answer|Damaged/.test(line));
}

import { afterAll, describe, expect } from "bun:test";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  runCommand,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { get } from "../support/client.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: what a client was told is taken is there after a kill, be it in the quarantine. Method: the real program,
 * killed in the middle of phones that send what nobody can use, again and again.
 */

const KILLS = 2;
const PHONES = 8;

describe.each([...RUNTIMES])("on $name", (runtime) => {
  const place: Place = openPlace();
  afterAll(() => closePlace(place));

  test("nothing that was acknowledged is missing from the quarantine after kill -9", async () => {
    const acknowledged: string[] = [];
    let sent = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const server = await startReady(runtime, place);
      const headers = { authorization: `Bearer ${readFirstKey(place)}` };
      const report = async () => {
        for (;;) {
          const id = `point ${sent++}`;
          const body = JSON.stringify({ locations: [{ type: "Feature", properties: { device_id: id } }] });
          const response = await fetch(`${server.url}/ingest/overland`, { method: "POST", headers, body });
          if (response.status === 200 && (await response.text()) === '{"result":"ok"}') acknowledged.push(id);
        }
      };
      const phones = Array.from({ length: PHONES }, () => report().catch(() => undefined));
      const before = acknowledged.length;
      await until(() => acknowledged.length >= before + 100);
      server.kill("SIGKILL");
      await server.ended;
      await Promise.all(phones);
    }
    const server = await startReady(runtime, place);
    const client = { url: server.url, key: readFirstKey(place) };
    const bodies = new Set<string>();
    for (let offset = 0, more = true; more; offset += 1000) {
      const response = await get(client, `/api/v1/quarantine?limit=1000&offset=${offset}`);
      const page = (await response.json()) as {
        entries: { id: string }[];
        pagination: { has_more: boolean };
      };
      for (const { id } of page.entries) {
        const entry = (await (await get(client, `/api/v1/quarantine/${id}`)).json()) as { body: string };
        bodies.add(JSON.parse(entry.body).locations[0].properties.device_id);
      }
      more = page.pagination.has_more;
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(KILLS * 100);
    expect(acknowledged.filter((id) => !bodies.has(id))).toEqual([]);
    expect((await server.stop()).code).toBe(0);
    const verified = await runCommand(runtime, place, ["verify", "--quick", "--json"]);
    expect(JSON.parse(verified.out).quarantine.entries).toBe(bodies.size);
  });
});

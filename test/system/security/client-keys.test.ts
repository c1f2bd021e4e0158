import { afterAll, describe, expect } from "bun:test";
import { createKeyText } from "../../../src/auth/api-key.ts";
import {
  closePlace,
  createOperatorKey,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  startReady,
} from "../../support/server-process.ts";
import { OF_CLIENTS } from "../../unit/http/requests.ts";
import { untilKnown } from "../support/client.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: a key that travels in a path or a query, as some apps can't do otherwise, is said by nothing of ours. Method:
 * the real program, which logs every request, is sent good and wrong keys in every channel of every client's path; then
 * every word that it said is looked at, in its log, its metrics and its answers.
 */

describe.each([...RUNTIMES])("on $name", (runtime) => {
  const place: Place = openPlace();
  afterAll(() => closePlace(place));

  test("no key is said, in whichever channel it came and whatever became of it", async () => {
    const server = await startReady(runtime, place, ["--log-level", "debug"]);
    const good = readFirstKey(place);
    const operator = await createOperatorKey(runtime, place);
    await untilKnown({ url: server.url, key: operator });
    const answers: string[] = [];
    const statuses = new Map<number, number>();
    const send = async (path: string, method: string, authorization: string | null) => {
      const headers = authorization === null ? {} : { authorization };
      const init = method === "GET" ? { headers } : { method, headers, body: "{" };
      const response = await fetch(`${server.url}${path}`, init);
      statuses.set(response.status, 1 + (statuses.get(response.status) ?? 0));
      answers.push(
        `${response.url === "" ? "" : JSON.stringify([...response.headers])}${await response.text()}`,
      );
    };
    const wrong = createKeyText();
    // OsmAnd's refusals are held for 5 s each: all of them at once.
    const sent: Promise<void>[] = [];
    for (const { path, method } of OF_CLIENTS) {
      for (const key of [good, wrong]) {
        const filled = path.replace(":key", key).replace(":device", "pixel7");
        const channels = path.includes(":key")
          ? [null, `Bearer ${good}`]
          : [
              `Bearer ${key}`,
              `Basic ${btoa(`anna:${key}`)}`,
              `Basic ${btoa(`${key}:`)}`,
              `Basic ${key}:`,
              null,
            ];
        for (const authorization of channels) {
          const isInQuery = authorization === null && !path.includes(":key");
          const queries = isInQuery ? [`?api_key=${key}&x=1`, `?token=${key}`] : ["", "?speed_unit=x"];
          for (const query of queries) sent.push(send(`${filled}${query}`, method, authorization));
        }
      }
      sent.push(send(`${path.replace(":key", good).replace(":device", "a")}/${good}`, "PUT", null));
    }
    await Promise.all(sent);
    const headers = { authorization: `Bearer ${operator}` };
    answers.push(await (await fetch(`${server.url}/metrics`, { headers })).text());
    const { out, error } = await server.stop();
    expect([...statuses.keys()].sort()).toEqual(expect.arrayContaining([200, 400, 401, 404]));
    expect(error).toContain("/ingest/osmand/k/:key/:device");
    const said = [out, error, ...answers].join("\n");
    for (const key of [good, wrong, operator]) expect(said).not.toContain(key.slice(3, 15));
    for (const key of [good, wrong]) expect(said).not.toContain(btoa(`anna:${key}`).slice(8, 24));
  });
});

import { afterAll, describe, expect } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { encryptBox, keyOf, openBox } from "../../../src/clients/owntracks/encryption.ts";
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
 * Goal: two phones with OwnTracks see each other, one of them encrypted, and the pass phrase stays where it was put.
 * Method: the real program, asked as the apps ask it.
 */

const PASS_PHRASE = "correct horse ü";
const NOW_SECONDS = Math.floor(Date.now() / 1000);

const location = (tst: number, lat: number) => ({
  _type: "location",
  ...{ _id: "0d871a61", created_at: tst, tst, lat, lon: 13.4, acc: 12, vel: 36, cog: 90, batt: 81 },
});

function boxed(message: object): object {
  const box = encryptBox(keyOf(PASS_PHRASE), new TextEncoder().encode(JSON.stringify(message)));
  return { _type: "encrypted", data: Buffer.from(box).toString("base64") };
}

function unboxed({ _type, data }: { _type: string; data: string }): unknown {
  expect(_type).toBe("encrypted");
  const steps = openBox(keyOf(PASS_PHRASE), Buffer.from(data, "base64"));
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return JSON.parse(Buffer.from(value!).toString());
  }
}

describe.each([...RUNTIMES])("on $name", (runtime) => {
  const place: Place = openPlace();
  afterAll(() => closePlace(place));

  test("phones of an app see each other, in clear and encrypted, and the pass phrase is in one file alone", async () => {
    const server = await startReady(runtime, place, ["--friends", "default", "--log-level", "debug"]);
    const key = readFirstKey(place);
    const send = async (user: string, device: string, message: object) => {
      const headers = {
        authorization: `Basic ${btoa(`${user}:${key}`)}`,
        "user-agent": "Owntracks-Android/gms/420510000",
        ...{ "content-type": "application/json", "x-limit-u": user, "x-limit-d": device },
      };
      const body = JSON.stringify(message);
      const response = await fetch(`${server.url}/ingest/owntracks`, { method: "POST", headers, body });
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
      return response.text();
    };
    expect(await send("anna", "pixel7", location(NOW_SECONDS - 60, 52.5))).toBe("[]");
    const ofAnna = {
      ...{ _type: "location", tid: "an", lat: 52.5, lon: 13.4, tst: NOW_SECONDS - 60 },
      ...{ acc: 12, vel: 36, cog: 90, batt: 81, topic: "owntracks/anna/pixel7" },
    };
    const card = { _type: "card", tid: "an", name: "anna" };
    // The list of those who are shown is made once in 10 s.
    let answered: unknown[] = [];
    await until(async () => {
      answered = JSON.parse(await send("bea", "iphone", location(NOW_SECONDS - 30, 52.6)));
      return answered.length > 0;
    });
    expect(answered).toEqual([ofAnna, card]);

    const [id = ""] = /k_\w{8}/.exec((await runCommand(runtime, place, ["keys", "list"])).out) ?? [];
    const set = ["keys", "passphrase", id, "--device", "bea:iphone"];
    const told = await runCommand(runtime, place, set, [], `${PASS_PHRASE}\n`);
    expect(told.code).toBe(0);
    // In clear, a phone that should encrypt is told nothing; so the server knows the phrase by then.
    await until(async () => (await send("bea", "iphone", location(NOW_SECONDS - 20, 52.6))) === "[]");
    const sealed = await send("bea", "iphone", boxed(location(NOW_SECONDS - 10, 52.7)));
    expect(unboxed(JSON.parse(sealed))).toEqual([ofAnna]);

    const found = await (
      await get({ url: server.url, key }, "/api/v1/devices/bea:iphone/locations/current")
    ).json();
    expect(JSON.stringify(found)).toContain('"latitude":52.7');
    const { error } = await server.stop();
    for (const said of [error, told.out, told.error]) expect(said).not.toContain(PASS_PHRASE);
    const names = readdirSync(place.dataDir, { recursive: true, encoding: "utf8" });
    const files = names.filter((name) => statSync(join(place.dataDir, name)).isFile());
    const holders = files.filter((name) =>
      readFileSync(join(place.dataDir, name), "utf8").includes(PASS_PHRASE),
    );
    expect(holders).toEqual(["pass-phrases.json"]);
  });
});

import { expect, test } from "bun:test";
import { RUNTIMES } from "../../support/server-process.ts";
import { colota, colotaOverland } from "./apps/colota.ts";
import { overland } from "./apps/overland.ts";
import { owntracksAndroid, owntracksIos } from "./apps/owntracks.ts";
import { traccar10 } from "./apps/traccar-10.ts";
import { findKeys } from "./check/secrets.ts";
import type { Tampering } from "./faults/network.ts";
import { type Planted, runPhones } from "./run/phones-run.ts";

/*
 * Goal: the runs with phones find what they are there to find.
 * Method: a server with faults is the real one with a liar between it and the phones, who has another lie for each of
 * them; each lie must be among the faults that the run ends with.
 */

const APPS = [owntracksAndroid, owntracksIos, traccar10, overland, colota, colotaOverland];

const ACKNOWLEDGEMENT = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]";
const WRONG_KEY = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n";
const REFUSAL = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";

function createLiar(): Tampering {
  let [fromAndroid, fromIos] = [0, 0];
  return (request) => {
    if (request.includes("Owntracks-Android") && fromAndroid++ === 2) return { answer: ACKNOWLEDGEMENT };
    if (request.includes("OwnTracks/26") && fromIos++ === 2) return { answer: WRONG_KEY };
    if (request.includes("/ingest/traccar") && request.endsWith('"lat":')) return { answer: REFUSAL };
    const renamed = request.replaceAll('"device_id":"overland-1"', '"device_id":"somebody-1"');
    return { pass: renamed.replaceAll(/"speed":\d/g, '"speed":9') }; // As long as it was.
  };
}

test("phones of a server with faults report each of them", async () => {
  const planted: Planted = {
    tampering: createLiar(),
    kept: ({ records, quarantine }) => ({
      records,
      quarantine: quarantine.filter(({ text }) => !text.includes("colota-1")),
    }),
  };
  const fleet = APPS.map((app) => ({ app, appId: "north", oddShare: 0.3 }));
  const bounds = { durationMs: 4000, times: 2000, hasWeather: false, stillMsMax: 2000 };
  const run = await runPhones({ runtime: RUNTIMES[0]!, seed: 2, ...bounds, fleet, planted });
  const faults = run.faults.join("\n");
  for (const fault of [
    // It acknowledged a point that it did not keep.
    /OwnTracks Android, north: point \d+ \([\w-]+\) was acknowledged, and is nowhere/,
    // It told an iPhone that its key is wrong.
    /OwnTracks iOS, north: point \d+ \([\w-]+\) was deleted on 401 .* not needed/,
    // It refused what it could not read, and so all that was queued behind it.
    /Traccar Client 10, north: answered 400/,
    /Traccar Client 10, north: point \d+ \([\w-]+\) is still queued after \d+ sends: the phone is jammed/,
    // It took one device for another.
    /north has the device somebody-1, which no phone is/,
    // It dropped what it had in quarantine.
    /Colota, north: point \d+ \((?:future|null-island|off-earth)\) was acknowledged, and is nowhere/,
    // It took a speed for another.
    /Colota, Overland mode, north: point \d+ \(good\) is stored with another place or speed/,
  ])
    expect(faults).toMatch(fault);
});

test("findKeys() tells where a key stands, and which, but not the key", () => {
  const keys = new Set(["wh_abcdefgh1234", "wh_ijklmnop5678"]);
  const texts = new Map([
    ["the log", "a request of wh_…1234 was refused"],
    ["quarantine/1", "GET /ingest/traccar/k/wh_ijklmnop5678?lat=1"],
  ]);
  expect(findKeys(keys, texts)).toEqual(["quarantine/1 holds the key …5678"]);
});

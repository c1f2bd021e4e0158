import { afterAll, beforeAll, describe, expect } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import {
  closePlace,
  openPlace,
  RUNTIMES,
  readFirstKey,
  runCommand,
  type ServerProcess,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { type Client, get, untilKnown } from "../support/client.ts";
import { test } from "../support/process-test.ts";
import { hasMosquitto } from "./support/mosquitto.ts";
import { locationBody } from "./support/publisher.ts";
import { openServedBroker, type ServedBroker } from "./support/served-broker.ts";

/*
 * A device is erased from a real server, whose archived days a helper process writes anew. Then a broker hands out what
 * it retained of the device, and its phone sends an old point again: they are there again, unless it is blocked.
 */

const DEVICE = "anna:pixel";
const TOPIC = "owntracks/anna/pixel";
const DAY_SECONDS = 86_400;
const NOW_SECONDS = Math.floor(Date.now() / 1000);
const OLD_SECONDS = NOW_SECONDS - 20 * DAY_SECONDS;
const RETAINED_SECONDS = NOW_SECONDS - 3600;

type Json = Readonly<Record<string, unknown>>;

/** The seconds of the records that a device shows. */
async function timesOf(client: Client): Promise<number[]> {
  const dayOf = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10);
  const dates = `start_date=${dayOf(OLD_SECONDS)}&end_date=${dayOf(NOW_SECONDS)}`;
  const answer = await get(client, `/api/v1/devices/${DEVICE}/locations/history?${dates}`);
  const { locations = [] } = (await answer.json()) as { locations?: { timestamp: number }[] };
  return locations.map(({ timestamp }) => timestamp / 1000);
}

function hasArchive(dataDir: string): boolean {
  return readdirSync(join(dataDir, "archive")).some((name) => name.startsWith("day="));
}

describe.if(hasMosquitto("the tests of erased devices that a broker retains"))("an erased device", () => {
  let broker: ServedBroker;
  beforeAll(async () => {
    broker = await openServedBroker();
  });
  afterAll(() => broker.close());

  for (const runtime of RUNTIMES)
    for (const block of [false, true])
      test(`${block ? "that is blocked stays away" : "comes back when sent again"}, on ${runtime.name}`, async () => {
        const place = openPlace();
        const serve = () => broker.serve(runtime, place);
        const clientOf = ({ url }: ServerProcess) => ({ url, key: readFirstKey(place) });
        let server = await serve();
        await broker.phones.publish(TOPIC, locationBody(1, OLD_SECONDS));
        await broker.phones.publish(TOPIC, locationBody(2, RETAINED_SECONDS), { retain: true });
        await until(async () => (await timesOf(clientOf(server))).length === 2);
        await server.stop();
        server = await serve();
        await until(() => hasArchive(place.dataDir));

        const flags = ["--app", "default", "--permission", "erase", "--tier", "unlimited"];
        const { out } = await runCommand(runtime, place, ["keys", "create", ...flags]);
        const eraser = { url: server.url, key: out.trim() };
        await untilKnown(eraser);
        const path = "/api/v1/erasures";
        const headers = { authorization: `Bearer ${eraser.key}`, "content-type": "application/json" };
        const body = JSON.stringify({ device_id: DEVICE, block });
        const made = await fetch(`${server.url}${path}`, { method: "POST", headers, body });
        expect(made.status).toBe(200);
        const { id } = ((await made.json()) as { erasure: { id: string } }).erasure;
        expect(await timesOf(clientOf(server))).toEqual([]);
        let report: { places: Json[]; remains: Json[] } | undefined;
        await until(async () => {
          const { erasure } = (await (await get(eraser, `${path}/${id}`)).json()) as Json;
          report = (erasure as { report?: typeof report }).report;
          return report !== undefined;
        });
        expect(report!.places.find(({ place }) => place === "archive")).toMatchObject({ removed: 1 });
        expect(report!.remains).toEqual([]);
        /** What files have of the device. */
        const search = async () => {
          const { out } = await runCommand(runtime, place, [
            "verify",
            "--erased",
            "--device",
            DEVICE,
            "--json",
          ]);
          return (JSON.parse(out) as { traces: { what: string }[] }).traces.map(({ what }) => what);
        };
        expect(await search()).toEqual([]);

        await server.stop();
        server = await serve();
        const ofPhone = {
          ...{
            authorization: `Basic ${btoa(`anna:${readFirstKey(place)}`)}`,
            "content-type": "application/json",
          },
          ...{ "x-limit-u": "anna", "x-limit-d": "pixel" },
        };
        const point = { headers: ofPhone, body: locationBody(3, OLD_SECONDS + 1) };
        const sent = await fetch(`${server.url}/ingest/owntracks`, { method: "POST", ...point });
        expect(sent.status).toBe(200);
        if (!block) {
          const both = [OLD_SECONDS + 1, RETAINED_SECONDS];
          await until(async () => (await timesOf(clientOf(server))).length === both.length);
          expect(await timesOf(clientOf(server))).toEqual(both);
        } else {
          // One of the broker and one of the phone.
          const listed = async () => {
            const { out } = await runCommand(runtime, place, ["quarantine", "list", "--json"]);
            return out.match(/"reason": ?"erased"/g)?.length ?? 0;
          };
          await until(async () => (await listed()) > 0);
          expect(await timesOf(clientOf(server))).toEqual([]);
          // The quarantine says who was refused, and not what was sent.
          expect((await search()).filter((what) => /record|report/.test(what))).toEqual([]);
        }
        await server.stop();
        await broker.phones.publish(TOPIC, "", { retain: true });
        await closePlace(place);
      });
});

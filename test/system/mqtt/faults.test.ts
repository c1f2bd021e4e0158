import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  closePlace,
  createOperatorKey,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  runCommand,
  type ServerProcess,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { scarceDiskKinds } from "../support/scarce-disk.ts";
import { hasMosquitto } from "./support/mosquitto.ts";
import { positionOf, publishPositions, sentPositions, storedPositions } from "./support/phones.ts";
import { locationBody } from "./support/publisher.ts";
import { openServedBroker, type ServedBroker } from "./support/served-broker.ts";

/* Everything that can go wrong between a broker and the disk, to the real server: nobody loses or waits for another. */

const [BUN] = RUNTIMES;
const SECRET = "hunter2 is a password";

describe.if(hasMosquitto("the tests of what goes wrong between a broker and a server"))(
  "with a broker",
  () => {
    let broker: ServedBroker;
    let place: Place;
    let startSeconds = 0;

    beforeEach(async () => {
      place = openPlace();
      broker = await openServedBroker();
      startSeconds = Math.floor(Date.now() / 1000) - 3600;
    });
    afterEach(async () => {
      await closePlace(place);
      await broker.close();
    });

    const publish = (from: number, to: number) => publishPositions(broker.phones, { from, to }, startSeconds);

    async function expectStored(server: ServerProcess, count: number, of = place): Promise<void> {
      const stored = () => storedPositions(server.url, readFirstKey(of), startSeconds);
      await until(async () => (await stored()).length >= count);
      expect((await stored()).sort()).toEqual(sentPositions(count, startSeconds));
    }

    for (const runtime of RUNTIMES) {
      test(`a message that can't be used keeps nobody waiting, and no password of one is kept, on ${runtime.name}`, async () => {
        const server = await broker.serve(runtime, place);
        const inAnHour = Math.floor(Date.now() / 1000) + 3600;
        const refused = [
          "no JSON at all",
          '{"_type":"location","lat":',
          '{"_type":"location","tst":1}',
          JSON.stringify({ _type: "location", lat: 0, lon: 0, tst: startSeconds }),
          locationBody(0, inAnHour),
          JSON.stringify({ _type: "encrypted", data: Buffer.from("x".repeat(60)).toString("base64") }),
          new Uint8Array([0xff, 0xfe, 0x00]),
          new Uint8Array(17 * 1024 * 1024).fill(0x7b),
        ];
        const dump = JSON.stringify({ _type: "dump", configuration: { password: SECRET } });
        const { topic } = positionOf(0, startSeconds);
        for (const [number, body] of [...refused, dump, ""].entries()) {
          await publish(number, number + 1);
          await broker.phones.publish(topic, body, { retain: body === "" });
        }
        await publish(refused.length + 2, 20);
        await expectStored(server, 20);
        const headers = { authorization: `Bearer ${await createOperatorKey(runtime, place)}` };
        const metric = /^wherehouse_client_points_total\{client="owntracks",outcome="refused"\} (\d+)$/m;
        await until(async () => {
          const page = await (await fetch(`${server.url}/metrics`, { headers })).text();
          return metric.exec(page)?.[1] === String(refused.length);
        });
        const { code, out, error } = await server.stop();
        expect(code).toBe(0);
        const kept = readdirSync(place.dataDir, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
        expect([out, error, ...kept].filter((text) => text.includes(SECRET))).toEqual([]);
      });
    }

    test("the broker restarts again and again", async () => {
      const server = await broker.serve(BUN!, place);
      for (let round = 0; round < 3; round++) {
        await publish(round * 200, (round + 1) * 200);
        await broker.restart("SIGTERM");
      }
      await publish(600, 700);
      await expectStored(server, 700);
    });

    test("several filters have a connection each", async () => {
      const server = await broker.serve(BUN!, place, ["owntracks/user0/+", "owntracks/user1/+"]);
      await publish(0, 40); // Of twenty phones, which take turns.
      const stored = () => storedPositions(server.url, readFirstKey(place), startSeconds);
      await until(async () => (await stored()).length === 4);
      expect(new Set((await stored()).map((line) => line.split(" ")[0]))).toEqual(
        new Set(["user0:pixel", "user1:pixel"]),
      );
    });

    test("a restored directory takes over what waits for the one that was lost", async () => {
      const server = await broker.serve(BUN!, place);
      await publish(0, 50);
      await expectStored(server, 50);
      const backup = join(place.directory, "backup");
      expect((await runCommand(BUN!, place, ["backup", backup])).code).toBe(0);
      server.kill("SIGKILL");
      await server.ended;
      await publish(50, 100);
      const restored = { ...place, dataDir: join(place.directory, "restored") };
      expect((await runCommand(BUN!, restored, ["restore", backup])).code).toBe(0);
      const next = await broker.serve(BUN!, restored);
      expect(next.error).not.toContain("mqtt_missed");
      // The first key's file is in no backup.
      const key = readFirstKey(place);
      await until(async () => (await storedPositions(next.url, key, startSeconds)).length === 100);
    });

    for (const kind of scarceDiskKinds().slice(0, 1)) {
      for (const runtime of RUNTIMES) {
        test(`the disk is full: messages wait with the broker, and are all there once there is room, on ${runtime.name}`, async () => {
          const disk = kind.open(runtime);
          const server = await broker.serve(disk.runtime, disk.place);
          await publish(0, 100);
          await expectStored(server, 100, disk.place);
          disk.fill(server.pid);
          const published = publish(100, 2000);
          await server.says(/wait with the MQTT broker: the disk is full/);
          await published;
          disk.free(server.pid);
          await expectStored(server, 2000, disk.place);
          disk.fill(server.pid);
          await broker.phones.publish(
            "owntracks/anna/pixel",
            "kept nowhere while the disk is full".repeat(3000),
          );
          expect((await server.stop()).code).toBe(0);
          await disk.close();
        });
      }
    }
  },
);

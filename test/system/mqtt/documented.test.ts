import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import mqtt from "mqtt";
import { hasProgram } from "../../support/programs.ts";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  type Runtime,
  readFirstKey,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { get, send } from "../support/client.ts";
import { makeFence } from "../support/crossings.ts";
import { makeCertificates, runIn } from "./support/certificates.ts";
import { type Broker, freePort, hasMosquitto, startBrokerWith } from "./support/mosquitto.ts";
import { locationBody, openPublisher } from "./support/publisher.ts";

/* What docs/mqtt.md has an operator write and type, written and typed, with other paths and another port. */

const PAGE = readFileSync(join(import.meta.dir, "../../../docs/mqtt.md"), "utf8");
const HOST = "broker.example.org";

function blocksOf(language: string): string[] {
  return [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))].map(
    ([, block]) => block!,
  );
}

const TYPED = "the tests of what docs/mqtt.md says to type";

describe.if(hasMosquitto(TYPED) && hasProgram("openssl", TYPED))("docs/mqtt.md", () => {
  let place: Place;
  let broker: Broker;
  let port = 0;

  /** The page's paths become those of this test. */
  const here = (text: string) =>
    text
      .replaceAll("/etc/", `${place.directory}/etc/`)
      .replaceAll("/var/lib/mosquitto", `${place.directory}/lib`)
      .replaceAll("listener 8883", `listener ${port} 127.0.0.1`)
      .replaceAll(`${HOST}:8883`, `localhost:${port}`);

  beforeEach(async () => {
    place = openPlace();
    port = await freePort();
    const certificates = join(place.directory, "etc/mosquitto/certs");
    for (const directory of [certificates, join(place.directory, "lib")])
      mkdirSync(directory, { recursive: true });
    makeCertificates(certificates);
    const [config = "", acl = ""] = blocksOf("conf");
    const passwords = join(place.directory, "etc/mosquitto/passwords");
    writeFileSync(passwords, "anna:of anna\nben:of ben\n", { mode: 0o600 }); // They are there already.
    const reading = `${acl}\nuser ben\ntopic read wherehouse/default/events/+\n`;
    writeFileSync(join(place.directory, "etc/mosquitto/acl"), reading, { mode: 0o600 });
    const script = blocksOf("sh").find((block) => block.includes("mosquitto_passwd"))!;
    runIn(place.directory, "sh", "-euc", here(script));
    broker = await startBrokerWith(place.directory, port, here(config));
  });

  afterEach(async () => {
    await broker.stop("SIGTERM");
    await closePlace(place);
  });

  test.each(RUNTIMES.map((runtime) => [runtime.name, runtime] as const))(
    "a phone's message reaches the server on %s, its event reaches a reader, and no output has the password",
    async (_name, runtime) => {
      const ca = join(place.directory, "etc/mosquitto/certs/ca.pem");
      const [command = ""] = blocksOf("sh");
      const [, flags = ""] = /serve (.*)$/s.exec(here(command).replaceAll("\\\n", " ")) ?? [];
      const words = flags.trim().split(/\s+/);
      const server = await startReady(withLocalhost(runtime), place, [...words, "--mqtt-ca", ca]);
      await server.says(/Connected to the MQTT broker/);
      await until(() => broker.subscriptions("owntracks/+/+") > 0);
      const secure = { protocol: "mqtts", host: "localhost", port, ca: readFileSync(ca) } as const;
      const reader = await mqtt.connectAsync({ ...secure, username: "ben", password: "of ben" });
      const topics: string[] = [];
      reader.on("message", (topic) => topics.push(topic));
      await reader.subscribeAsync("wherehouse/default/events/+", { qos: 1 });
      const client = { url: server.url, key: readFirstKey(place) };
      await makeFence(client, [13, 52]);
      const phone = await openPublisher(port, { ...secure, username: "anna", password: "of anna" });
      await phone.publish("owntracks/anna/pixel7", locationBody(1, Math.ceil(Date.now() / 1000)));
      const path = "/api/v1/devices/anna%3Apixel7/locations/current";
      await until(async () => (await get(client, path)).status === 200);
      const { location } = await send(client, "GET", path);
      expect(location).toMatchObject({ device_id: "anna:pixel7", user_id: "anna", speed: 10 });
      await until(() => topics.length > 0);
      expect(topics).toEqual(["wherehouse/default/events/enter"]);
      await reader.endAsync();
      await phone.close();
      const { code, out, error } = await server.stop();
      expect(code).toBe(0);
      const password = readFileSync(join(place.directory, "etc/wherehouse/mqtt-password"), "utf8").trim();
      expect(out + error).not.toContain(password);
    },
  );
});

/** May also reach `localhost`, whose certificate the broker has; packages are asked for all that they could say. */
function withLocalhost(runtime: Runtime): Runtime {
  return {
    ...runtime,
    command: (permissions) => [
      ...["env", "DEBUG=*"],
      ...runtime
        .command(permissions)
        .map((word) => (word.startsWith("--allow-net") ? "--allow-net=127.0.0.1,localhost" : word)),
    ],
  };
}

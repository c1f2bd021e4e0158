import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrokerOptions, Verdict } from "../../../src/runtime/broker.ts";
import { loadMqttBroker } from "../../../src/runtime/mqtt-broker.ts";
import { hasProgram } from "../../support/programs.ts";
import { until } from "../../support/until.ts";
import { publishPacket, startScriptedBroker } from "../../unit/runtime/scripted-broker.ts";
import { makeCertificates, runIn } from "./support/certificates.ts";
import { hasMosquitto, startBroker } from "./support/mosquitto.ts";
import { openPublisher } from "./support/publisher.ts";

const connectBroker = await loadMqttBroker();

const ANONYMOUS = { user: null, password: null, clientId: "test", keepsSession: true };
const CLEAR = { hostname: "127.0.0.1", tls: null, ...ANONYMOUS };

/** What a connection told its listener; each message waits for its verdict. */
function listen(options: BrokerOptions) {
  const said: string[] = [];
  const messages: { readonly text: string; decide(verdict: Verdict): void }[] = [];
  const connection = connectBroker(options, {
    onMessage({ body }) {
      const { promise, resolve } = Promise.withResolvers<Verdict>();
      messages.push({ text: new TextDecoder().decode(body), decide: resolve });
      return promise;
    },
    onConnected: (_connection, hasSession) => said.push(hasSession ? "session" : "no session"),
    onDisconnected: (reason) => said.push(reason),
  });
  return { connection, said, messages };
}

describe("a message that is taken after its connection has ended", () => {
  test("is acknowledged on no other, where its number may be another message's", async () => {
    const broker = await startScriptedBroker(() => true);
    const { connection, messages } = listen({ ...CLEAR, port: broker.port });
    await until(() => broker.received[0]?.length === 1);
    broker.send(publishPacket(1, "first"));
    await until(() => messages.length === 1);
    broker.drop();
    await until(() => broker.received[1]?.length === 1);
    messages[0]!.decide("acknowledge");
    broker.send(publishPacket(1, "of another phone"));
    await until(() => messages.length === 2);
    // An acknowledgement of the first would stand before what is sent later.
    const subscribed = connection.subscribe("owntracks/+/+");
    await until(() => broker.received[1]!.length === 2);
    expect(broker.received[1]!.map(({ cmd }) => cmd)).toEqual(["connect", "subscribe"]);
    messages[1]!.decide("acknowledge");
    await until(() => broker.received[1]!.length === 3);
    expect(broker.received[1]![2]).toMatchObject({ cmd: "puback", messageId: 1 });
    expect(await subscribed).toBeNull();
    await connection.close();
    await broker.stop();
  });

  test("is not acknowledged while there is none either", async () => {
    const broker = await startScriptedBroker(() => true);
    const { connection, messages, said } = listen({ ...CLEAR, port: broker.port });
    await until(() => broker.received[0]?.length === 1);
    broker.send(publishPacket(7, "first"));
    await until(() => messages.length === 1);
    broker.drop();
    await until(() => said.length === 2);
    messages[0]!.decide("acknowledge");
    await until(() => said.length === 3);
    expect(await connection.subscribe("owntracks/+/+")).toBeNull();
    expect(broker.received[1]!.map(({ cmd }) => cmd)).toEqual(["connect", "subscribe"]);
    await connection.close();
    await broker.stop();
  });
});

test("closing before there is a connection ends all attempts", async () => {
  const broker = await startScriptedBroker(() => false);
  await broker.stop();
  const { connection, said } = listen({ ...CLEAR, port: broker.port });
  await until(() => said.length === 1);
  expect(said[0]).toContain("ECONNREFUSED");
  await connection.close();
  // Another that begins later meets the port, and tries it again: the closed one had as long.
  const later = listen({ ...CLEAR, port: broker.port });
  await until(() => later.said.length === 2);
  await later.connection.close();
  expect(said).toHaveLength(1);
});

const CONNECTIONS = "the tests of connections to an MQTT broker";

describe.if(hasMosquitto(CONNECTIONS) && hasProgram("openssl", CONNECTIONS))("with Mosquitto", () => {
  let directory = "";
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "wherehouse-broker-"));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const run = (...command: string[]) => runIn(directory, ...command);

  test("a password that is wrong is said and tried again, and one may read what the broker lets one", async () => {
    const passwords = join(directory, "passwords");
    run("mosquitto_passwd", "-b", "-c", passwords, "wherehouse", "right");
    run("mosquitto_passwd", "-b", passwords, "phone", "phone");
    const acl = join(directory, "acl");
    await Bun.write(acl, "user wherehouse\ntopic read owntracks/+/+\nuser phone\ntopic write owntracks/#\n");
    run("chmod", "0700", passwords, acl);
    const broker = await startBroker(directory, [
      "allow_anonymous false",
      `password_file ${passwords}`,
      `acl_file ${acl}`,
    ]);
    const options = { ...CLEAR, port: broker.port, user: "wherehouse" };
    const wrong = listen({ ...options, password: "wrong" });
    await until(() => wrong.said.length >= 2);
    expect(wrong.said[0]).toBe("Connection refused: Not authorized");
    await wrong.connection.close();

    const right = listen({ ...options, password: "right" });
    await until(() => right.said.length === 1);
    expect(await right.connection.subscribe("owntracks/+/+")).toBeNull();
    const phone = await openPublisher(broker.port, { username: "phone", password: "phone" });
    await phone.publish("owntracks/anna/pixel", "hello");
    await until(() => right.messages.length === 1);
    right.messages[0]!.decide("acknowledge");
    await right.connection.close();
    await phone.close();
    await broker.stop("SIGTERM");
  });

  test("over TLS it trusts whom the operator's authorities signed, and nobody else", async () => {
    makeCertificates(directory);
    const broker = await startBroker(directory, [
      `certfile ${join(directory, "broker.pem")}`,
      `keyfile ${join(directory, "broker.key")}`,
    ]);
    const authorities = readFileSync(join(directory, "ca.pem"), "utf8");
    const options = { ...CLEAR, port: broker.port };
    const trusted = listen({ ...options, hostname: "localhost", tls: { authorities } });
    await until(() => trusted.said.length === 1);
    expect(trusted.said).toEqual(["no session"]);
    expect(await trusted.connection.subscribe("owntracks/+/+")).toBeNull();
    await trusted.connection.close();

    const stranger = listen({ ...options, hostname: "localhost", tls: { authorities: null } });
    const otherName = listen({ ...options, hostname: "127.0.0.1", tls: { authorities } });
    await until(() => stranger.said.length > 0 && otherName.said.length > 0);
    expect([...stranger.said, ...otherName.said]).not.toContain("no session");
    await stranger.connection.close();
    await otherName.connection.close();
    await broker.stop("SIGTERM");
  });
});

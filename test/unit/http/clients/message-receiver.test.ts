import { expect, test } from "bun:test";
import type { Client } from "../../../../src/clients/client.ts";
import { ok } from "../../../../src/lib/result.ts";
import type { IngestedMessage } from "../../../../src/service/ingest/messages/ingest-message.ts";
import type { MessageEnvelope } from "../../../../src/service/ingest/messages/refused-messages.ts";
import { createTestApp } from "../../../support/test-app.ts";

/** What is handed on of a request: all that says something about a report, and nothing of a key. */

interface Handed {
  readonly envelope: MessageEnvelope;
  readonly client: Client;
}

async function createCapture() {
  const handed: Handed[] = [];
  const app = await createTestApp({
    async ingestMessage(envelope, client) {
      handed.push({ envelope, client });
      return ok({ answeredBy: client } as IngestedMessage);
    },
  });
  return { app, handed, last: () => handed.at(-1)! };
}

test("a message has the parameters, the four headers and the name, and neither keys nor the address", async () => {
  const { app, last } = await createCapture();
  const { writer } = app.keys;
  const query = `lat=1&api_key=${writer}&lon=2&device_id=a%20b&user_id=anna&speed_unit=kmh&token=${writer}&lat=3`;
  const headers = {
    authorization: `Basic ${btoa(`bea:${writer}`)}`,
    ...{
      "user-agent": "okhttp/4",
      "x-limit-u": "u",
      "x-limit-d": "d",
      "content-type": "text/csv",
      cookie: "c=1",
    },
  };
  const answer = await app.fetch(`/ingest/osmand?${query}`, { method: "POST", headers, body: "id=7" });
  expect(answer.status).toBe(200);
  const { envelope, client } = last();
  expect(client.name).toBe("osmand");
  expect(envelope.address).toEqual({ device: "a b", user: "anna" });
  expect(envelope.source).toMatchObject({ method: "POST", path: "/ingest/osmand" });
  expect(Buffer.from(envelope.source.body).toString()).toBe("id=7");
  const { message } = envelope;
  expect(String(message.query)).toBe("lat=1&lon=2&lat=3");
  expect(message.headers).toEqual({
    ...{ "user-agent": "okhttp/4", "x-limit-u": "u", "x-limit-d": "d", "content-type": "text/csv" },
  });
  expect([message.basicUser, message.speedUnit, message.topic]).toEqual(["bea", "kmh", null]);
  expect(message.content).toEqual({ kind: "text", text: "id=7" });
  expect(message.arrivedMs).toBe(app.clock.nowMs());
});

test("the path's device comes before the query's, decoded where it can be", async () => {
  const { app, last } = await createCapture();
  const { writer } = app.keys;
  for (const [segment, device] of [
    ["pixel7", "pixel7"],
    ["Anna%27s%20phone%2F2", "Anna's phone/2"],
    ["100%", "100%"],
  ] as const) {
    await app.fetch(`/ingest/osmand/k/${writer}/${segment}?lat=1&lon=2&device_id=other`);
    expect(last().envelope.address).toEqual({ device, user: null });
    expect(last().envelope.source.path).toBe("/ingest/osmand/k/:key/:device");
  }
  await app.fetch(`/ingest/osmand/k/${writer}?lat=1&lon=2&device_id=&user_id=`);
  expect(last().envelope.address).toEqual({ device: null, user: null });
});

test("the sender is the key: its app, its id, what it is bound to, and whether it may read", async () => {
  const { app, last } = await createCapture();
  for (const [key, mayRead] of [
    ["writer", false],
    ["full", true],
  ] as const) {
    await app.fetch(`/ingest/osmand/k/${app.keys[key]}?lat=1&lon=2`);
    const { sender } = last().envelope;
    expect(sender).toMatchObject({ appId: "fleet", lastFour: app.keys[key].slice(-4), mayRead });
    expect([sender.deviceId, sender.userId]).toEqual([null, null]);
    expect(JSON.stringify(sender)).not.toContain(app.keys[key]);
  }
});

test("what is kept of a point that can't be used has nothing of a key", async () => {
  const app = await createTestApp();
  const { writer } = app.keys;
  await app.fetch(`/ingest/osmand?api_key=${writer}&lat=91&lon=2&timestamp=${app.clock.nowMs()}`);
  await app.fetch(`/ingest/overland/k/${writer}`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`anna:${writer}`)}` },
    body: "[",
  });
  expect(app.refused.map(({ reason }) => reason)).toEqual(["bad_coordinates", "bad_json"]);
  expect(JSON.stringify(app.refused)).not.toContain(writer.slice(3, 15));
});

test("a body that can't be read whole is sent again; one in a coding that is none is refused", async () => {
  const { app, handed } = await createCapture();
  const headers = { authorization: `Bearer ${app.keys.writer}` };
  const broken = new ReadableStream({
    start(stream) {
      stream.enqueue(new Uint8Array(10));
      stream.error(new Error("gone"));
    },
  });
  const cut = await app.fetch("/ingest/traccar", { method: "POST", headers, body: broken });
  expect([cut.status, cut.headers.get("retry-after")]).toEqual([503, "30"]);
  const coded = { ...headers, "content-encoding": "gzip" };
  const wrong = await app.fetch("/ingest/traccar", { method: "POST", headers: coded, body: "no gzip" });
  expect([wrong.status, await wrong.text()]).toEqual([400, "the body is not valid gzip\n"]);
  expect(handed).toEqual([]);
  const packed = Bun.gzipSync(Buffer.from("lat=1&lon=2"));
  expect((await app.fetch("/ingest/traccar", { method: "POST", headers: coded, body: packed })).status).toBe(
    200,
  );
  expect(handed[0]!.envelope.message.content).toEqual({ kind: "text", text: "lat=1&lon=2" });
});

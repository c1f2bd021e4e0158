import { afterAll, beforeAll, expect } from "bun:test";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  runCommand,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { type Client, send, untilKnown } from "../support/client.ts";
import { test } from "../support/process-test.ts";
import { Receiver } from "./receiver.ts";
import { listEvents, makeAlert, makeKey, reportsOf, subscribe } from "./subscriber.ts";

/*
 * Goal: an operator sees, tries and repeats webhooks from the command line, and secrets stay where they are.
 * Method: the real commands beside a real server and a receiver.
 */

const [runtime] = RUNTIMES as [(typeof RUNTIMES)[0]];

let place: Place;
let receiver: Receiver;
let client: Client;
let id: string;

beforeAll(async () => {
  place = openPlace();
  receiver = await Receiver.open();
  const server = await startReady(runtime, place, ["--webhook-allow", "127.0.0.1"]);
  client = { url: server.url, key: await makeKey(runtime, place) };
  await untilKnown(client);
  await makeAlert(client);
  id = await subscribe(client, receiver);
});
afterAll(async () => {
  receiver.close();
  await closePlace(place);
});

const run = (...args: readonly string[]) =>
  runCommand(runtime, place, ["webhooks", ...args, "--key", client.key, "--url", client.url]);

test("webhooks list shows states and hosts, and no path, which may be a secret", async () => {
  const { code, out } = await run("list");
  expect(code).toBe(0);
  expect(out).toContain(`${id}  ${new URL(receiver.url).origin}  active`);
  expect(out).not.toContain("/hook");
  expect(JSON.parse((await run("list", "--json")).out)).toMatchObject([{ id, url: receiver.url }]);
});

test("webhooks test says what came of it, by its exit code too", async () => {
  expect(await run("test", id)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^delivered after \d+ ms: status 204\./),
  });
  receiver.status = 500;
  expect(await run("test", id)).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^failed after \d+ ms: status 500\./),
  });
  receiver.status = 204;
  const unknown = await run("test", "unknown");
  expect([unknown.code, unknown.error]).toEqual([1, expect.stringContaining("no such webhook")]);
});

test("webhooks redeliver sends an event again, or all since a time", async () => {
  const locations = reportsOf(3, Date.now(), true);
  await send(client, "POST", "/ingest/v1/locations", { locations });
  await until(() => receiver.received.length === 3);
  const [event] = await listEvents(client);
  expect(await run("redeliver", id, "--event", event!.id)).toMatchObject({ code: 0 });
  expect(receiver.received.at(-1)!.data.id).toBe(event!.id);
  expect(await run("redeliver", id, "--since", "0")).toMatchObject({
    ...{ code: 0, out: "Sending begins again at that time.\n" },
  });
  await until(() => receiver.received.length === 7);
  expect(await run("redeliver", id)).toMatchObject({ code: 2 });
});

test("keys revoke lists the webhooks of the key, and ends them if it is asked to", async () => {
  const key = await makeKey(runtime, place);
  const own = { ...client, key };
  await untilKnown(own);
  const made = await subscribe(own, receiver);
  const [keyId] = /k_[0-9A-Za-z]{8}/.exec(
    JSON.stringify(await send(client, "GET", `/api/v1/webhooks/${made}`)),
  )!;
  const listed = await runCommand(runtime, place, ["keys", "revoke", keyId]);
  expect(listed.error).toContain(`It made webhooks that go on: ${made}.`);
  const ended = await runCommand(runtime, place, ["keys", "revoke", keyId, "--with-webhooks"]);
  expect(ended.error).toContain(`Its webhooks end: ${made}.`);
  const stateOf = async () => {
    const answer = (await send(client, "GET", `/api/v1/webhooks/${made}`)) as unknown;
    return (answer as { webhook: { state: string } }).webhook.state;
  };
  await until(async () => (await stateOf()) === "disabled");
});

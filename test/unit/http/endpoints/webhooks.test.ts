import { beforeEach, describe, expect, test } from "bun:test";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { putAll, revisionAt } from "../../../support/geofences/test-events.ts";
import {
  answerOf,
  createTestApp,
  type JsonObject,
  type KeyName,
  type TestApp,
} from "../../../support/test-app.ts";

const PATH = "/api/v1/webhooks";
const URL_ = "https://hooks.example.com/a?token=t";

let app: TestApp;

beforeEach(async () => {
  app = await createTestApp();
});

async function send(method: string, path: string, body: unknown = {}, key: KeyName = "full") {
  const headers = { authorization: `Bearer ${app.keys[key]}`, "content-type": "application/json" };
  const init = method === "DELETE" ? { method, headers } : { method, headers, body: JSON.stringify(body) };
  return answerOf(await app.fetch(path, init));
}

async function make(members: object = {}): Promise<JsonObject & { readonly id: string }> {
  const { status, body } = await send("POST", PATH, { url: URL_, ...members });
  expect(status).toBe(200);
  return body.webhook as JsonObject & { readonly id: string };
}

describe("POST /api/v1/webhooks", () => {
  test("shows the secret once, and never the values of headers", async () => {
    const headers = { Authorization: "Bearer 1", "X-Two": "2" };
    const made = await send("POST", PATH, { url: URL_, types: ["enter"], devices: ["bus"], headers });
    expect(made.body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const { id } = made.body.webhook as { readonly id: string };
    const { body } = await app.get(`${PATH}/${id}`);
    expect(body.webhook).toEqual(made.body.webhook);
    expect(body.webhook).toMatchObject({ url: URL_, types: ["enter"], headers: ["authorization", "x-two"] });
    expect(JSON.stringify(body)).not.toContain("whsec_");
    expect(JSON.stringify(body)).not.toContain("Bearer 1");
  });

  test.each([
    [{ url: undefined }, "url must be a text"],
    [{ url: "ftp://a.example/" }, "url must begin with https://"],
    [{ url: "https://me:secret@a.example/" }, "url must have no user name and no password: send a header"],
    [{ url: "https://a.example/#x" }, "url must have no fragment"],
    [{ url: `https://a.example/${"x".repeat(2048)}` }, "url must have at most 2,048 characters"],
    [{ types: ["arrive"] }, "types[0] must be enter or exit or dwell or alert_start or alert_end"],
    [{ devices: [] }, "devices must be a list of 1 to 1,000 items"],
    [{ headers: { Host: "x" } }, "headers.host can't be set"],
    [{ headers: { "Webhook-Id": "x" } }, "headers.webhook-id can't be set"],
    [{ headers: { "content-type": "x" } }, "headers.content-type can't be set"],
    [{ headers: { "a b": "x" } }, "headers has a name that no header can have"],
    [{ headers: { a: "x\r\ny: z" } }, "headers.a must be 1 to 1,024 visible ASCII characters"],
    [
      { headers: Object.fromEntries([..."abcdef"].map((name) => [name, "1"])) },
      "headers must be at most 5 headers",
    ],
    [{ url: "https://127.0.0.1/" }, "url leads to a loopback address, which webhooks may not reach"],
    [{ url: "https://inside.example/" }, "url leads to a private address, which webhooks may not reach"],
    [{ url: "http://a.example/" }, "url leads to a public address without encryption: use https"],
    [{ secret: "x" }, "secret is unknown"],
  ])("refuses %j", async (members, message) => {
    const { status, body } = await send("POST", PATH, { url: URL_, ...members });
    expect(status).toBe(400);
    expect(body.message).toStartWith(message);
  });

  test("reaches what the operator allows, also without encryption", async () => {
    expect((await make({ url: "http://10.1.2.3:8080/" })).url).toBe("http://10.1.2.3:8080/");
  });

  test("needs the permission to read, since a webhook tells what happens", async () => {
    const { status, body } = await send("POST", PATH, { url: URL_ }, "manager");
    expect([status, body.message]).toEqual([403, "the API key lacks the permission read"]);
  });

  test("is refused for the 1,001st of an app", async () => {
    for (let count = 0; count < 1000; count += 50)
      await Promise.all(Array.from({ length: 50 }, () => make()));
    const { status, body } = await send("POST", PATH, { url: URL_ });
    expect([status, body.message]).toEqual([409, "an app has at most 1,000 webhooks"]);
    expect((await send("POST", PATH, { url: URL_ }, "other")).status).toBe(200);
  });
});

test("a webhook is replaced, paused, resumed, rotated and deleted; its headers stay unless others are sent", async () => {
  const { id } = await make({ name: "Depot", late: true, headers: { a: "1" } });
  const replaced = await send("PUT", `${PATH}/${id}`, { url: `${URL_}2`, types: ["exit"] });
  expect(replaced.body.webhook).toMatchObject({
    url: `${URL_}2`,
    types: ["exit"],
    late: false,
    headers: ["a"],
  });
  expect(replaced.body.webhook).not.toHaveProperty("name");
  const cleared = await send("PUT", `${PATH}/${id}`, { url: URL_, headers: {} });
  expect(cleared.body.webhook).toMatchObject({ headers: [] });
  for (const [verb, state] of [
    ["pause", "paused"],
    ["resume", "active"],
  ])
    expect((await send("POST", `${PATH}/${id}/${verb}`)).body.webhook).toMatchObject({ state });
  const secrets = [await send("POST", `${PATH}/${id}/rotate`), await send("POST", `${PATH}/${id}/rotate`)];
  expect(new Set(secrets.map(({ body }) => body.secret)).size).toBe(2);
  expect((await send("DELETE", `${PATH}/${id}`)).body).toMatchObject({ id });
  expect((await app.get(`${PATH}/${id}`)).status).toBe(404);
  expect(((await app.get(PATH)).body.webhooks as unknown[]).length).toBe(0);
});

test("a test is sent at once, and is among the deliveries", async () => {
  const { id } = await make();
  const { body } = await send("POST", `${PATH}/${id}/test`);
  expect(body.delivery).toMatchObject({ event_id: null, outcome: "delivered", status: 200, answer: "ok" });
  const listed = await app.get(`${PATH}/${id}/deliveries`);
  expect(listed.body.deliveries).toEqual([body.delivery]);
});

test("one event is sent again, or all since a time, and nothing else can be asked", async () => {
  const { id } = await make();
  const event = revisionAt(5, "5", { deviceId: "bus" as DeviceId }, { appId: "fleet" as never });
  putAll(app.events, [event]);
  const path = `${PATH}/${id}/redeliver`;
  const one = await send("POST", path, { event_id: event.event.id });
  expect(one.body.delivery).toMatchObject({ event_id: event.event.id, revision: 1, outcome: "delivered" });
  expect((await send("POST", path, { since: 0 })).body).toEqual({ success: true } as never);
  expect((await send("POST", path, { event_id: "unknown" })).body.message).toBe("the app has no such event");
  for (const wrong of [
    {},
    { since: -1 },
    { since: "x" },
    { event_id: 7 },
    { event_id: "a", since: 1 },
    { all: 1 },
  ])
    expect((await send("POST", path, wrong)).status).toBe(400);
});

test("the doctor lists webhooks that the server paused or disabled, by their hosts, and no others", async () => {
  await make();
  const { id } = await make();
  const asked = await make();
  await send("POST", `${PATH}/${asked.id}/pause`);
  expect((await app.get("/api/v1/doctor")).body.webhooks).toBeUndefined();
  const webhook = (await app.webhooks.resend.find("fleet" as AppId, id))!;
  expect(await app.webhooks.edit.suspend(webhook, "paused", "its receiver failed 10 times in a row")).toBe(
    true,
  );
  expect((await app.get("/api/v1/doctor")).body.webhooks).toEqual([
    {
      id,
      host: "https://hooks.example.com",
      state: "paused",
      reason: "its receiver failed 10 times in a row",
    },
  ]);
  expect(await app.webhooks.edit.suspend(webhook, "disabled", "too late")).toBe(false);
});

import { expect, test } from "bun:test";
import { WebhookStore } from "../../../src/hot/webhook-store.ts";
import type { AppId, DeviceId, UserId } from "../../../src/model/ids.ts";
import type { Webhook } from "../../../src/model/webhooks/webhook.ts";
import type { WebhookEntry } from "../../../src/model/webhooks/webhook-entry.ts";

const APP = "app" as AppId;
const EVERY_TIME = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };

function entry(id: string, members: Partial<Webhook> | null = {}, appId = APP): WebhookEntry {
  const times = { createdMs: 1, changedMs: 1, stateMs: 1 };
  const filters = { types: null, watches: null, devices: null, users: null, sendsLate: false };
  const common = { id, appId, keyId: "k_00000001", name: null, url: "https://a.example/" };
  const webhook: Webhook = { ...common, ...times, ...filters, state: "active", reason: null, ...members };
  return { kind: "webhook", appId, id, webhook: members === null ? null : webhook };
}

test("WebhookStore keeps the webhooks of each app in the order of their making, and counts all", () => {
  const store = new WebhookStore();
  store.apply(entry("b"), 1);
  store.apply(entry("a"), 2);
  store.apply(entry("b", { name: "again" }), 3);
  store.apply(entry("c", {}, "other" as AppId), 4);
  expect(store.ofApp(APP).map(({ id, name }) => [id, name])).toEqual([
    ["b", "again"],
    ["a", null],
  ]);
  expect([store.count, store.sequence, store.find("other" as AppId, "a")]).toEqual([3, 4, null]);
  store.apply(entry("b", null), 5);
  store.apply(entry("b", null), 6);
  expect([store.count, store.ofApp(APP).length]).toEqual([2, 1]);
});

test("WebhookStore goes on from what a seal wrote, and skips entries that it covers", () => {
  const before = new WebhookStore();
  before.apply(entry("a", { state: "paused" }), 3);
  before.apply(entry("b"), 4);
  const store = new WebhookStore();
  for (const each of before.entries()) store.restore(each);
  store.endRestore(4);
  store.apply(entry("b", null), 4);
  expect(store.ofApp(APP)).toEqual(before.ofApp(APP));
  store.apply(entry("b", null), 5);
  expect(store.ofApp(APP).map(({ id }) => id)).toEqual(["a"]);
});

test("WebhookStore.erase() takes a device or a user out of the filters, which then let nothing through", () => {
  const store = new WebhookStore();
  const devices = ["bus", "van"] as DeviceId[];
  store.apply(entry("both", { devices, users: ["ada" as UserId] }), 1);
  store.apply(entry("one", { devices: ["bus" as DeviceId] }), 2);
  store.apply(entry("all"), 3);
  const changes: string[] = [];
  store.watch((_, webhook) => changes.push(webhook!.id));
  const bus = { appId: APP, deviceIds: ["bus" as DeviceId], userId: null, range: EVERY_TIME };
  store.erase(APP, { ...bus, range: { startMs: 0, endMs: 1 } }, 4);
  store.erase(APP, bus, 5);
  store.erase(APP, { ...bus, deviceIds: ["van" as DeviceId], userId: "ada" as UserId, range: EVERY_TIME }, 6);
  expect(store.ofApp(APP).map(({ devices: ids, users }) => [ids, users] as unknown)).toEqual([
    [["van"], []],
    [[], null],
    [null, null],
  ]);
  expect([changes, store.sequence]).toEqual([["both", "one", "both"], 6]);
});

import { expect, test } from "bun:test";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import type { Webhook } from "../../../../src/web/webhooks/webhook.ts";
import { Webhooks } from "../../../../src/web/webhooks/webhooks.ts";
import { turns } from "../../../support/turns.ts";
import { fenceServer } from "../fences/fence-server.ts";

function webhook(id: string, members: Partial<Webhook> = {}): Webhook {
  return {
    ...{ id, url: `https://${id}.example.com`, late: false, headers: [] },
    ...{ state: "active", state_since: 0, ...members },
  };
}

function open() {
  const server = fenceServer();
  const webhooks = new Webhooks({
    ...{ api: server.api, zones: { zone: "UTC" }, changed: () => undefined },
    table: { ids: ["van"], labels: ["Van"], size: 1, labelOf: (id) => id },
  });
  /** The last request to a path. */
  const last = (path: string) => server.asked.findLast((each) => each.path === `/api/v1/webhooks${path}`)!;
  return { ...server, webhooks, last };
}

test("the secret of a new webhook is shown until the user leaves it", async () => {
  const { webhooks, last } = open();
  webhooks.begin();
  webhooks.editor.set({ url: "https://a.example.com" }, "url");
  webhooks.devices.add("van");
  void webhooks.editor.save();
  expect(JSON.parse(String(last("").init.body))).toEqual({
    ...{ url: "https://a.example.com", devices: ["van"], late: false, headers: {} },
  });
  last("").answer({ webhook: webhook("a"), secret: "whsec_1" });
  await turns();
  expect([webhooks.chosen?.id, webhooks.secret, webhooks.editor.draft]).toEqual(["a", "whsec_1", null]);
  expect(webhooks.leave()).toBeTrue();
  webhooks.choose(webhook("a"));
  expect(webhooks.secret).toBeNull();
  void webhooks.rotate();
  last("/a/rotate").answer({ webhook: webhook("a"), secret: "whsec_2" });
  await turns();
  expect(webhooks.secret).toBe("whsec_2");
  webhooks.close();
  expect([webhooks.secret, webhooks.leave()]).toEqual([null, false]);
});

test("the secret of a webhook that was left while it was made is shown, unless another draft was begun", async () => {
  const { webhooks, last } = open();
  for (const isBusy of [false, true]) {
    webhooks.begin();
    void webhooks.editor.save();
    webhooks.leave();
    if (isBusy) webhooks.begin();
    last("").answer({ webhook: webhook("a"), secret: "whsec_1" });
    await turns();
    expect(webhooks.secret).toBe(isBusy ? null : "whsec_1");
  }
  expect(webhooks.list.find("a")).not.toBeNull();
});

test("the result of an action is shown only for its own webhook", async () => {
  const { webhooks, last } = open();
  webhooks.choose(webhook("a"));
  void webhooks.setActive(false);
  expect(webhooks.running).toBe("pause");
  void webhooks.test(); // One after the other.
  expect(last("/a/test")).toBeUndefined();
  webhooks.choose(webhook("b"));
  last("/a/pause").answer({ webhook: webhook("a", { state: "paused" }) });
  await turns();
  expect([webhooks.chosen!.state, webhooks.list.find("a")!.state]).toEqual(["active", "paused"]);
  void webhooks.test();
  last("/b/test").fail(new ApiError(404, "the app has no such webhook", { isOurs: true }));
  await turns();
  expect([webhooks.running, webhooks.fault]).toEqual([null, "The app has no such webhook."]);
  void webhooks.redeliverSince(5);
  expect(JSON.parse(String(last("/b/redeliver").init.body))).toEqual({ since: 5 });
  last("/b/redeliver").answer({});
  await turns();
  expect([webhooks.fault, webhooks.note]).toEqual([null, "What was made since then is sent again."]);
});

test("an action begun before the user left does not end one of the next webhook", async () => {
  const { webhooks, last } = open();
  webhooks.choose(webhook("a"));
  void webhooks.test();
  webhooks.choose(webhook("b"));
  void webhooks.test();
  last("/a/test").answer({});
  await turns();
  expect(webhooks.running).toBe("test");
  last("/b/test").answer({});
  await turns();
  expect(webhooks.running).toBeNull();
});

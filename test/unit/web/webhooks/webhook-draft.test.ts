import { expect, test } from "bun:test";
import type { Webhook } from "../../../../src/web/webhooks/webhook.ts";
import { bodyOf, draftOf, faultOf, NEW_WEBHOOK } from "../../../../src/web/webhooks/webhook-draft.ts";
import {
  deliveryText,
  stateText,
  webhookName,
  webhookRules,
} from "../../../../src/web/webhooks/webhook-texts.ts";

const WEBHOOK: Webhook = {
  ...{ id: "1", url: "https://hooks.example.com/a?token=b", late: false, headers: [] },
  ...{ state: "active", state_since: 0 },
};

test("unchanged members are stored again as they were, including those that the form does not show", () => {
  for (const members of [
    {},
    { name: "Depot", types: ["enter", "alert_end"], late: true },
    { watches: ["a", "b"], devices: ["van"], users: ["ada"] },
  ]) {
    const body = bodyOf(draftOf({ ...WEBHOOK, ...members }));
    expect(body).toEqual({ url: WEBHOOK.url, late: false, ...members });
  }
});

test("the headers of a webhook stay unless they are set anew; a new one has those that are filled in", () => {
  const draft = draftOf({ ...WEBHOOK, headers: ["authorization"] });
  expect(bodyOf(draft)).not.toHaveProperty("headers");
  expect(bodyOf({ ...draft, headers: [{ name: "", value: "" }] }).headers).toEqual({});
  const headers = [
    { name: " Authorization ", value: "Bearer x" },
    { name: "", value: "" },
  ];
  expect(bodyOf({ ...NEW_WEBHOOK, headers }).headers).toEqual({ Authorization: "Bearer x" });
});

test("all kinds of events are left to the server's default, and an empty list is left to the server to refuse", () => {
  expect(bodyOf(NEW_WEBHOOK)).not.toHaveProperty("types");
  expect(bodyOf({ ...NEW_WEBHOOK, types: [] }).types).toEqual([]);
});

test("an error of the server stands beside the member that it names", () => {
  expect(faultOf("url must begin with https://")).toEqual({
    member: "url",
    text: "url must begin with https://.",
  });
  expect(faultOf("headers.x-a can't be set").member).toBe("headers");
  expect(faultOf("an app has at most 1,000 webhooks")).toEqual({
    member: null,
    text: "An app has at most 1,000 webhooks.",
  });
});

const labelOf = (id: string) => (id === "a" ? "Depot" : id);

test("the texts say what a webhook does, how it fares, and what a receiver answered", () => {
  expect([webhookName(WEBHOOK), webhookName({ ...WEBHOOK, name: "Depot" })]).toEqual([
    ...["hooks.example.com", "Depot"],
  ]);
  expect(webhookRules(WEBHOOK, labelOf)).toEqual(["Sends all events."]);
  const some = { ...WEBHOOK, types: ["exit"], devices: ["b", "c"] };
  expect(webhookRules({ ...some, watches: ["a", "z"] }, labelOf)).toEqual([
    ...["Sends: Left.", "Only of Depot, z.", "Only of 2 devices."],
  ]);
  expect(webhookRules({ ...WEBHOOK, watches: ["a", "b", "c", "d", "e", "f"] }, labelOf)).toEqual([
    ...["Sends all events.", "Only of 6 geofences or alerts."],
  ]);
  const failing = { failures: 2, next_attempt: 300_000 };
  expect(stateText({ ...WEBHOOK, failing }, "UTC", 0)).toBe("Fails, 2 times in a row: tried again in 5 min");
  expect(stateText({ ...WEBHOOK, failing }, "UTC", 400_000)).toEndWith("tried again now");
  expect(stateText({ ...WEBHOOK, state: "disabled", reason: "it answered 410" }, "UTC", 0)).toMatch(
    /^Disabled since .*: it answered 410$/,
  );
  const delivery = { event_id: null, revision: 0, timestamp: 0, latency_ms: 1, answer: "" };
  expect([
    deliveryText({ ...delivery, outcome: "delivered", status: 204 }),
    deliveryText({ ...delivery, event_id: "e", outcome: "failed", status: null }),
  ]).toEqual(["Test delivered: 204", "Failed: no answer"]);
});

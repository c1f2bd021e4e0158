import { afterEach, expect, test } from "bun:test";
import { WebhookStore } from "../../../../src/hot/webhook-store.ts";
import type { Erasure } from "../../../../src/model/erasure.ts";
import type { AppId, DeviceId, UserId } from "../../../../src/model/ids.ts";
import type { Webhook } from "../../../../src/model/webhooks/webhook.ts";
import { FileError } from "../../../../src/runtime/files.ts";
import type { EventStore } from "../../../../src/service/watching/event-store.ts";
import type { NewRevision } from "../../../../src/service/watching/stored-event.ts";
import { WebhookDelivery } from "../../../../src/service/webhooks/delivery.ts";
import { DELIVERIES_MAX, DeliveryStore } from "../../../../src/service/webhooks/delivery-store.ts";
import type { Message, Sent } from "../../../../src/service/webhooks/sender.ts";
import { APP, openEvents, putAll, revisionAt } from "../../../support/geofences/test-events.ts";
import { until } from "../../../support/until.ts";

/* Real stores in memory; receivers are functions, and time is set by hand. */

const DAY_MS = 86_400_000;

let running: { readonly world: World; readonly delivery: WebhookDelivery }[] = [];

afterEach(async () => {
  for (const { world, delivery } of running) await world.stop(delivery);
  running = [];
});

type Answer = Partial<Sent>;
type Receiver = (webhook: Webhook, message: Message, signal: AbortSignal) => Promise<Answer> | Answer;

class World {
  readonly events: EventStore;
  readonly store: DeliveryStore;
  readonly webhooks = new WebhookStore();
  readonly notes: string[] = [];
  readonly requests: { readonly webhookId: string; readonly id: string; readonly body: string }[] = [];
  readonly revoked = new Set<string>();
  nowMs = 1_000_000;
  receive: Receiver = () => ({});
  #sequence = 0;
  #ticks: (() => void)[] = [];

  constructor(events = openEvents()) {
    this.events = events;
    this.store = new DeliveryStore(events.database);
  }

  start(): WebhookDelivery {
    const delivery = new WebhookDelivery({
      events: {
        after: (...asked) => this.#unlessBroken().after(...asked),
        find: (...asked) => this.#unlessBroken().find(...asked),
        lastSeq: () => this.events.lastSeq(),
        onAppended: (listener) => this.events.onAppended(listener),
      },
      store: this.store,
      webhooks: this.webhooks,
      send: async (webhook, message, signal) => {
        this.requests.push({ webhookId: webhook.id, ...message });
        const answer = await this.receive(webhook, message, signal);
        const sent = { verdict: "delivered", retryAfterMs: 0, status: 200, answer: "ok" } as const;
        return { ...sent, atMs: this.nowMs, latencyMs: 1, ...answer };
      },
      clock: { nowMs: () => this.nowMs },
      timers: {
        nowMs: () => this.nowMs,
        after: (_, call) => {
          this.#ticks.push(call);
          return () => {};
        },
      },
      isRevoked: (id) => this.revoked.has(id),
      suspend: async (webhook, state, reason) => {
        this.set({ ...webhook, state, reason, stateMs: this.nowMs });
        return true;
      },
      onNote: (note) => this.notes.push(note),
      random: () => 0,
    });
    delivery.start();
    running.push({ world: this, delivery });
    return delivery;
  }

  /** Receivers that hang are not waited for. */
  async stop(delivery: WebhookDelivery): Promise<void> {
    const stopped = delivery.stop();
    this.pass(0);
    await stopped;
  }

  isBroken = false;

  #unlessBroken(): EventStore {
    if (this.isBroken) throw new FileError("use database", "events.sqlite", "EIO");
    return this.events;
  }

  set(webhook: Webhook | null, id = webhook!.id): void {
    this.webhooks.apply({ kind: "webhook", appId: APP, id, webhook }, ++this.#sequence);
  }

  add(id: string, members: Partial<Webhook> = {}): Webhook {
    const times = { createdMs: this.nowMs, changedMs: this.nowMs, stateMs: this.nowMs };
    const filters = { types: null, watches: null, devices: null, users: null, sendsLate: false };
    const common = { appId: APP, keyId: "k_00000001", name: null, url: `https://${id}.example/secret` };
    const webhook: Webhook = {
      id,
      ...common,
      ...times,
      state: "active",
      reason: null,
      ...filters,
      ...members,
    };
    this.set(webhook);
    return webhook;
  }

  put(...revisions: readonly NewRevision[]): void {
    putAll(this.events, revisions);
  }

  /** Lets time pass, second by second at its end. */
  pass(ms: number): void {
    this.nowMs += ms;
    for (const call of this.#ticks.splice(0)) call();
  }

  idsTo(webhookId: string): string[] {
    return this.requests.filter((request) => request.webhookId === webhookId).map(({ id }) => id);
  }

  arrived(count: number): Promise<void> {
    return until(() => this.requests.length >= count);
  }
}

function at(
  number: number,
  deviceId = "bus",
  revision: Partial<Omit<NewRevision, "event">> = {},
): NewRevision {
  return revisionAt(
    number,
    String(number),
    { deviceId: deviceId as DeviceId },
    { madeMs: 2_000_000, ...revision },
  );
}

const idOf = ({ event, revision }: NewRevision) => `${event.id}_${revision}`;

test("a webhook gets what happens after it was made, and each event once", async () => {
  const world = new World();
  world.put(at(1));
  const delivery = world.start();
  world.add("w");
  world.put(at(2), at(3));
  await world.arrived(2);
  world.put(at(4));
  await world.arrived(3);
  await delivery.save();
  expect(world.idsTo("w")).toEqual([at(2), at(3), at(4)].map(idOf));
  expect(JSON.parse(world.requests[0]!.body)).toEqual({
    type: "enter",
    timestamp: "1970-01-01T00:00:00.002Z",
    data: {
      ...{ id: at(2).event.id, revision: 1, kind: "enter", timestamp: 2, device_id: "bus", user_id: "ada" },
      ...{ visit_id: at(2).event.id, fence_id: "depot", version: 1 },
    },
  });
  await until(() => world.store.count("w") === 3);
  expect(world.store.findCursor("w")?.seq).toBe(world.events.lastSeq());
  expect(world.store.list("w", 0, 1)[0]).toMatchObject({
    eventId: at(4).event.id,
    status: 200,
    answer: "ok",
  });
});

test("corrections and withdrawals are sent as such, and what was replaced meanwhile is not", async () => {
  const world = new World();
  world.start();
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  world.receive = async () => {
    await opened;
    return {};
  };
  world.add("w");
  world.put(at(1));
  await world.arrived(1);
  world.put(at(2), at(3));
  world.put(at(2, "bus", { revision: 2 }), at(3, "bus", { revision: 2, isWithdrawn: true }));
  open();
  await world.arrived(3);
  expect(world.idsTo("w").slice(1)).toEqual([`${at(2).event.id}_2`, `${at(3).event.id}_2`]);
  const [, corrected, withdrawn] = world.requests.map(({ body }) => JSON.parse(body).data);
  expect([corrected.correction, corrected.withdrawn, withdrawn.withdrawn]).toEqual([true, undefined, true]);
});

test("filters let through what they name, and late events need a webhook that wants them", async () => {
  const world = new World();
  world.start();
  world.add("types", { types: ["exit"] });
  world.add("watches", { watches: ["home"] });
  world.add("devices", { devices: ["van" as DeviceId] });
  world.add("users", { users: ["bob" as UserId] });
  world.add("nobody", { devices: [] });
  world.add("late", { sendsLate: true });
  world.add("all");
  const events = [
    revisionAt(1, "1", { kind: "exit" }),
    revisionAt(2, "2", { watchId: "home" }),
    revisionAt(3, "3", { deviceId: "van" as DeviceId }),
    revisionAt(4, "4", { userId: "bob" as UserId }),
    revisionAt(5, "5", {}, { isLate: true }),
  ];
  world.put(...events);
  await world.arrived(4 + 5 + 4);
  const got = (id: string) =>
    world
      .idsTo(id)
      .sort()
      .map((sent) => Number(sent.at(-3)));
  expect(["types", "watches", "devices", "users", "nobody"].map(got)).toEqual([[1], [2], [3], [4], []]);
  expect([got("late"), got("all")]).toEqual([
    [1, 2, 3, 4, 5],
    [1, 2, 3, 4],
  ]);
});

test("a receiver that hangs or fails holds up no other webhook", async () => {
  const world = new World();
  world.receive = (webhook, _, signal) => {
    if (webhook.id === "failing") return { verdict: "failed", status: 500 };
    if (!webhook.id.startsWith("hanging")) return {};
    return new Promise<Answer>((resolve) => signal.addEventListener("abort", () => resolve({})));
  };
  world.start();
  for (let number = 0; number < 20; number++) world.add(`hanging${number}`);
  world.add("failing");
  for (let number = 0; number < 100; number++) world.add(`w${number}`);
  world.put(...Array.from({ length: 9 }, (_, index) => at(index + 1, `d${index}`)));
  await until(() =>
    Array.from({ length: 100 }, (_, index) => world.idsTo(`w${index}`).length).every((n) => n === 9),
  );
  expect(world.idsTo("hanging0").length).toBe(8);
});

test("a receiver that fails is tried on schedule, and all its events arrive once it works", async () => {
  const world = new World();
  world.receive = () => ({ verdict: "failed", status: 503 });
  const delivery = world.start();
  world.add("w");
  world.put(at(1, "a"), at(2, "a"));
  await world.arrived(1);
  await until(() => delivery.findFailing("w")?.failures === 1);
  world.pass(4999);
  world.put(at(3, "b"));
  await delivery.save();
  expect(world.requests.length).toBe(1);
  const seq = world.events.find(APP, at(1).event.id)!.seq - 1;
  expect(world.store.findCursor("w")).toEqual({ webhookId: "w", seq, failing: delivery.findFailing("w") });
  world.receive = () => ({});
  world.pass(1);
  await world.arrived(4);
  expect(world.idsTo("w")).toEqual([at(1), at(1), at(2), at(3)].map(idOf));
});

test("an event that is erased while it waits is not sent, even before it is gone from the files", async () => {
  const erasures: Erasure[] = [];
  const world = new World(openEvents(null, undefined, () => erasures));
  world.receive = () => ({ verdict: "failed", status: 503 });
  const delivery = world.start();
  world.add("w");
  world.put(at(1, "a"), at(2, "b"));
  await world.arrived(2);
  await until(() => delivery.findFailing("w")?.failures === 1);
  const range = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
  const terms = { id: "e", block: false, createdMs: 1000, createdBy: "k", continues: false };
  erasures.push({ appId: APP, deviceIds: ["a" as DeviceId], userId: null, range, ...terms });
  world.receive = () => ({});
  world.pass(5000);
  await world.arrived(3);
  expect(world.idsTo("w")).toEqual([at(1), at(2), at(2)].map(idOf));
});

test("a webhook whose receiver fails for days is paused, and goes on where it was", async () => {
  const world = new World();
  world.receive = () => ({ verdict: "failed", status: null });
  world.start();
  const webhook = world.add("w");
  world.put(at(1));
  for (let failures = 1; failures <= 10; failures++) {
    await world.arrived(failures);
    await until(
      () => world.webhooks.find(APP, "w")!.state === "paused" || world.requests.length === failures,
    );
    await new Promise(setImmediate);
    world.pass(2 * DAY_MS);
  }
  await until(() => world.webhooks.find(APP, "w")!.state === "paused");
  expect(world.notes).toEqual([
    "The webhook w of the app app, to https://w.example, is paused: its receiver failed 10 times in a row.",
  ]);
  world.receive = () => ({});
  world.put(at(2));
  world.set({ ...webhook, stateMs: world.nowMs });
  await world.arrived(12);
  expect(world.idsTo("w").slice(-2)).toEqual([at(1), at(2)].map(idOf));
});

test("a webhook that is paused keeps its place for 30 days, and a disabled one does not", async () => {
  const world = new World();
  world.start();
  for (const [id, state, days] of [
    ["kept", "paused", 29],
    ["late", "paused", 31],
    ["disabled", "disabled", 0],
  ] as const) {
    const webhook = world.add(id);
    world.set({ ...webhook, state, stateMs: world.nowMs - days * DAY_MS });
  }
  world.put(at(1));
  for (const webhook of world.webhooks.ofApp(APP))
    world.set({ ...webhook, state: "active", stateMs: world.nowMs });
  world.put(at(2));
  await world.arrived(4);
  expect(["kept", "late", "disabled"].map((id) => world.idsTo(id).length)).toEqual([2, 1, 1]);
});

test("410 disables a webhook, and a rejected event is parked after five attempts", async () => {
  const world = new World();
  world.receive = ({ id }, message) =>
    id === "gone"
      ? { verdict: "gone", status: 410 }
      : { verdict: message.id === idOf(at(1)) ? "rejected" : "delivered" };
  const delivery = world.start();
  world.add("gone");
  world.add("w");
  world.put(at(1), at(2));
  await until(() => world.webhooks.find(APP, "gone")!.state === "disabled");
  expect(world.notes[0]).toContain("is disabled: its receiver answered 410 Gone");
  for (let attempts = 1; attempts < 5; attempts++) {
    await until(() => world.idsTo("w").length === attempts);
    await delivery.save();
    world.pass(120_000);
  }
  await until(() => world.idsTo("w").length === 6);
  await delivery.save();
  expect(world.store.list("w", 0, 9).map(({ outcome }) => outcome)).toEqual([
    "delivered",
    "parked",
    ...new Array(4).fill("rejected"),
  ]);
});

test("a webhook that was ended with its key is disabled within a second", async () => {
  const world = new World();
  world.start();
  for (const id of ["w", "other"]) world.add(id);
  world.revoked.add("w");
  world.pass(1000);
  await until(() => world.webhooks.find(APP, "w")!.state === "disabled");
  expect(world.webhooks.find(APP, "other")!.state).toBe("active");
});

test("while the database fails webhooks wait, and nothing is lost", async () => {
  const world = new World();
  const delivery = world.start();
  world.add("w");
  world.isBroken = true;
  world.put(at(1), at(2));
  await until(() => world.notes.length > 0);
  world.pass(1000);
  await delivery.save();
  expect(world.notes[0]).toContain("Webhooks wait for the database of events");
  world.isBroken = false;
  world.pass(1000);
  await world.arrived(2);
  expect(world.idsTo("w")).toEqual([at(1), at(2)].map(idOf));
});

test("after a crash a webhook goes on behind its saved cursor; without one, with what was made since it was", async () => {
  const world = new World();
  const first = world.start();
  world.add("w");
  world.put(at(1));
  await world.arrived(1);
  await first.save();
  // The process ends here: a new one has the same database and the same entries.
  const after = new World(world.events);
  after.add("w", { createdMs: 1 });
  after.add("lost", { createdMs: 1_500_000 });
  world.put(at(2));
  after.start();
  await after.arrived(3);
  expect([after.idsTo("w"), after.idsTo("lost")]).toEqual([[idOf(at(2))], [idOf(at(1)), idOf(at(2))]]);
});

test("rewind() sends again what was made since then", async () => {
  const world = new World();
  const delivery = world.start();
  const webhook = world.add("w");
  for (let number = 1; number <= 5; number++) world.put(at(number, "bus", { madeMs: number * 10 }));
  await world.arrived(5);
  delivery.rewind(webhook, 31);
  await world.arrived(7);
  expect(world.idsTo("w").slice(5)).toEqual([at(4), at(5)].map(idOf));
});

test("deliveries of an erased subject and of a deleted webhook go, and of others the last 1,000 stay", async () => {
  const world = new World();
  const delivery = world.start();
  for (const id of ["w", "gone"]) world.add(id);
  world.put(at(1, "bus"), at(2, "van"));
  await world.arrived(4);
  await delivery.forgetSubject({ appId: APP, deviceIds: ["van" as DeviceId], userId: null });
  expect(world.store.list("w", 0, 9).map(({ deviceId }) => String(deviceId))).toEqual(["bus"]);
  world.set(null, "gone");
  await until(() => world.store.count("gone") === 0 && world.store.findCursor("gone") === null);
  const [one] = world.store.list("w", 0, 1);
  for (let number = 0; number < DELIVERIES_MAX / 200 + 1; number++)
    world.store.save([], new Array(200).fill({ ...one, latencyMs: number }));
  expect(world.store.count("w")).toBe(DELIVERIES_MAX);
  await delivery.forgetSubject({ appId: APP, deviceIds: [], userId: "ada" as UserId });
  expect(world.store.count("w")).toBe(0);
  expect(world.webhooks.find("other" as AppId, "w")).toBeNull();
});

test("a stop waits for answers that are under way, so these events are not sent again", async () => {
  const world = new World();
  world.add("slow");
  const answer = Promise.withResolvers<Answer>();
  world.receive = () => answer.promise;
  const first = world.start();
  world.put(revisionAt(1, "a"));
  await until(() => world.requests.length === 1);
  const stopped = first.stop();
  answer.resolve({});
  await stopped;
  world.receive = () => ({});
  world.start();
  world.put(revisionAt(2, "b"));
  await until(() => world.requests.length >= 2);
  expect(world.requests.map(({ id }) => id)).toEqual([...new Set(world.requests.map(({ id }) => id))]);
});

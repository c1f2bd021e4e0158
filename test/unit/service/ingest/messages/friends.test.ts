import { describe, expect, test } from "bun:test";
import { PassPhrases } from "../../../../../src/auth/pass-phrases.ts";
import { osmand } from "../../../../../src/clients/osmand.ts";
import { encryptBox, keyOf, openBox } from "../../../../../src/clients/owntracks/encryption.ts";
import { owntracks } from "../../../../../src/clients/owntracks/owntracks.ts";
import { createHotStore } from "../../../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../../../src/lib/schedule/scheduler.ts";
import type { AppId } from "../../../../../src/model/ids.ts";
import { createManualClock } from "../../../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION } from "../../../../../src/model/time/retention.ts";
import { createFriendsFor } from "../../../../../src/service/ingest/messages/friends.ts";
import { PointCollector } from "../../../../../src/service/ingest/messages/point-collector.ts";
import type { MessageEnvelope } from "../../../../../src/service/ingest/messages/refused-messages.ts";
import { messageOf } from "../../../../support/clients/collected.ts";
import * as fc from "../../../../support/fast-check.ts";
import { batchOf, type Report } from "../../../../support/reports/batches.ts";
import { createMemoryKeyFiles, createMemoryLock } from "../../../auth/memory-key-files.ts";

/*
 * Goal: phones of one app see each other, and nobody else does, in words that no app chokes on. Method: the real store
 * and pass phrases, and answers read as the apps read them.
 */

const NOW_MS = Date.UTC(2026, 1, 2, 12);
const DAY_MS = 86_400_000;
const FAMILY = "family" as AppId;
const RIVAL = "rival" as AppId;
const KEY_ID = "k_00000001";

async function createBench(apps: readonly AppId[] = [FAMILY]) {
  const clock = createManualClock(NOW_MS);
  const scheduler = new Scheduler();
  const hot = createHotStore(scheduler);
  const passPhrases = await PassPhrases.open({
    files: createMemoryKeyFiles(),
    path: "data/pass-phrases.json",
    clock,
    acquireLock: createMemoryLock(),
    process: { pid: 1, command: "test" },
  });
  const friendsFor = createFriendsFor({ apps, hot, passPhrases, scheduler, clock });
  let sequence = 0;

  function report(appId: AppId, reports: readonly Report[]): void {
    hot.apply(appId, batchOf(reports), ++sequence);
  }

  interface Asked {
    readonly appId?: AppId;
    readonly mayRead?: boolean;
    readonly topic?: string;
    readonly value?: object;
    readonly client?: typeof owntracks;
  }

  /** The body that a device is answered with, whose position was just taken; null where it is told nothing. */
  async function ask(device: string | null, asked: Asked = {}): Promise<string | null> {
    const { appId = FAMILY, mayRead = true, topic = null, value = {}, client = owntracks } = asked;
    const sender = { appId, keyId: KEY_ID, lastFour: "7xYz", deviceId: null, userId: null, mayRead };
    const address = { device: null, user: null };
    const message = messageOf({ kind: "json", value }, { topic });
    const source = { method: "POST", path: "/ingest/owntracks", body: new Uint8Array() };
    const sent: MessageEnvelope = { sender, address, message, source };
    const oldestMs = DEFAULT_RETENTION.startMs(NOW_MS);
    const context = { sender, address, client, arrivedMs: NOW_MS, nowMs: NOW_MS, oldestMs, blocks: null };
    const reports = device === null ? [] : [at(device)];
    const answer = await friendsFor(sent, {
      answeredBy: client,
      collected: new PointCollector(context),
      batches: [batchOf(reports)],
      accepted: reports.length,
      duplicates: 0,
    });
    if (answer !== null) expect(answer.contentType).toBe("application/json");
    return answer?.body ?? null;
  }

  return { clock, passPhrases, report, ask, messages: async (device: string) => read(await ask(device)) };
}

function at(device: string, other: Report = {}): Report {
  return { device_id: device, timestamp: NOW_MS, latitude: 52.5, longitude: 13.4, ...other };
}

type Message = Readonly<Record<string, unknown>>;

function read(body: string | null): readonly Message[] {
  if (body === null) throw new Error("no answer");
  return JSON.parse(body);
}

const locations = (messages: readonly Message[]) => messages.filter(({ _type }) => _type === "location");
const cards = (messages: readonly Message[]) => messages.filter(({ _type }) => _type === "card");

function openText(phrase: string, box: Uint8Array): string | null {
  const steps = openBox(keyOf(phrase), box);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value === null ? null : new TextDecoder().decode(value);
  }
}

describe("an answer", () => {
  test("shows the others as they are now, in the apps' units, and leaves out what nobody knows", async () => {
    const { report, messages } = await createBench();
    const moving = {
      horizontal_accuracy: 8.4,
      altitude: 35.5,
      speed: 10,
      bearing: 87.6,
      battery_level: 61.2,
    };
    report(FAMILY, [at("anna:pixel"), at("bea:iphone", { ...moving, user_id: "bea" }), at("truck")]);
    expect(await messages("anna:pixel")).toEqual([
      {
        _type: "location",
        tid: "be",
        lat: 52.5,
        lon: 13.4,
        tst: NOW_MS / 1000,
        acc: 8,
        alt: 36,
        vel: 36,
        cog: 88,
        batt: 61,
        topic: "owntracks/bea/iphone",
      },
      { _type: "card", tid: "be", name: "bea" },
      {
        _type: "location",
        tid: "tr",
        lat: 52.5,
        lon: 13.4,
        tst: NOW_MS / 1000,
        topic: "owntracks/user/truck",
      },
      { _type: "card", tid: "tr", name: "truck" },
    ]);
    report(FAMILY, [at("truck", { timestamp: NOW_MS + 1999, latitude: -1 })]);
    expect(locations(await messages("anna:pixel"))[1]).toMatchObject({ lat: -1, tst: NOW_MS / 1000 + 1 });
  });

  test("has numbers where the apps want numbers, and of them integers, whatever was reported", async () => {
    const number = (min: number, max: number) =>
      fc.option(fc.double({ min, max, noNaN: true }), { nil: undefined });
    const details = fc.record({
      horizontal_accuracy: number(0, 1_000_000),
      altitude: number(-20_000, 100_000),
      speed: number(0, 1_000_000),
      bearing: number(0, 360),
      battery_level: number(0, 100),
    });
    await fc.assert(
      fc.asyncProperty(
        details,
        fc.constantFrom("a", "ü/+#", '"\\', "x:y:z", "😀".repeat(100)),
        async (known, device) => {
          const { report, messages } = await createBench();
          const sent = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
          report(FAMILY, [at(device, sent)]);
          const [location, card] = await messages("me");
          const { _type, tid, lat, lon, topic, ...numbers } = location!;
          expect([_type, typeof tid, lat, lon, typeof topic]).toEqual([
            "location",
            "string",
            52.5,
            13.4,
            "string",
          ]);
          expect((topic as string).split("/")).toHaveLength(3);
          expect(topic).not.toMatch(/[+#]/);
          expect(Object.keys(numbers).length).toBe(1 + Object.keys(sent).length);
          for (const value of Object.values(numbers)) expect(Number.isInteger(value)).toBe(true);
          expect(Object.keys(card!)).toEqual(["_type", "tid", "name"]);
        },
      ),
      { numRuns: 50 },
    );
  });

  test("never shows whoever asks, nobody older than a week, and nobody of another app", async () => {
    const { report, messages } = await createBench([FAMILY, RIVAL]);
    const week = NOW_MS - 7 * DAY_MS;
    report(FAMILY, [at("me"), at("old", { timestamp: week - 1 }), at("late", { timestamp: week })]);
    report(RIVAL, [at("spy")]);
    expect((await messages("me")).map(({ topic }) => topic).filter(Boolean)).toEqual(["owntracks/user/late"]);
  });

  test("shows those who came later within ten seconds, and no more those who are a week old by then", async () => {
    const { clock, report, messages } = await createBench();
    report(FAMILY, [at("bus", { timestamp: NOW_MS - 7 * DAY_MS })]);
    expect(locations(await messages("me"))).toHaveLength(1);
    report(FAMILY, [at("tram")]);
    clock.advance(9999);
    expect(locations(await messages("me"))).toHaveLength(0);
    clock.advance(1);
    expect(locations(await messages("me"))).toMatchObject([{ tid: "tr" }]);
  });

  test("tells a name once an hour to each", async () => {
    const { clock, report, messages } = await createBench();
    report(FAMILY, [at("bus"), at("tram")]);
    expect(cards(await messages("me"))).toHaveLength(2);
    expect(cards(await messages("me"))).toHaveLength(0);
    expect(cards(await messages("you"))).toHaveLength(2);
    clock.advance(3_599_999);
    expect(cards(await messages("me"))).toHaveLength(0);
    clock.advance(1);
    expect(cards(await messages("me"))).toHaveLength(2);
  });

  test("has the fifty who reported last, and is below 64 KiB however long their names are", async () => {
    for (const name of ["d", '"'.repeat(120), "😀".repeat(120)]) {
      const { report, ask, passPhrases } = await createBench();
      const reports = Array.from({ length: 700 }, (_, index) =>
        at(`${name}${index}`, { timestamp: NOW_MS - index * 1000, user_id: `${name}${index}` }),
      );
      report(FAMILY, [...reports, at("me")]);
      const body = (await ask("me"))!;
      expect(Buffer.byteLength(body)).toBeLessThan(64 * 1024);
      const shown = locations(read(body));
      if (name === "d") expect(shown).toHaveLength(50);
      expect(shown.length).toBeGreaterThan(25);
      expect(new Set(shown.map(({ tid }) => tid)).size).toBe(shown.length);
      for (const { tst } of shown) expect(tst).toBeGreaterThan(NOW_MS / 1000 - 52);

      await passPhrases.set({ keyId: KEY_ID, appId: FAMILY, deviceId: null, text: "secret" });
      const data = Buffer.from(encryptBox(keyOf("secret"), new Uint8Array(2))).toString("base64");
      const sealed = (await ask("me", { value: { _type: "encrypted", data } }))!;
      expect(Buffer.byteLength(sealed)).toBeLessThan(64 * 1024);
    }
  });
});

describe("nothing is told", () => {
  const cases = {
    "a key that may not read": { mayRead: false },
    "a client that is not OwnTracks": { client: osmand },
    "a broker": { topic: "owntracks/me/phone" },
    "an app that it was not switched on for": { appId: RIVAL },
  };
  test.each(Object.entries(cases))("to %s", async (_name, asked) => {
    const { report, ask } = await createBench();
    for (const appId of [FAMILY, RIVAL]) report(appId, [at("bus")]);
    expect(await ask("me", asked)).toBeNull();
  });

  test("where no position was taken, and an empty list where there is nobody else", async () => {
    const { report, ask } = await createBench();
    report(FAMILY, [at("me")]);
    expect(await ask(null)).toBeNull();
    expect(await ask("me")).toBe("[]");
  });
});

describe("whoever encrypts", () => {
  const SECRET = "s3cr1t";
  const boxed = (phrase: string) => {
    const data = Buffer.from(encryptBox(keyOf(phrase), new TextEncoder().encode("{}"))).toString("base64");
    return { value: { _type: "encrypted", data } };
  };

  async function createSecretBench() {
    const bench = await createBench();
    bench.report(FAMILY, [at("anna:pixel"), at("bus")]);
    const set = (deviceId: string | null, text: string) =>
      bench.passPhrases.set({ keyId: KEY_ID, appId: FAMILY, deviceId, text });
    await set(null, "of any device");
    await set("pixel", SECRET);
    return bench;
  }

  test("is answered with the phrase that the message was encrypted with", async () => {
    const { ask } = await createSecretBench();
    for (const phrase of [SECRET, "of any device"]) {
      const { _type, data } = JSON.parse((await ask("anna:pixel", boxed(phrase)))!);
      expect(_type).toBe("encrypted");
      const messages = read(openText(phrase, Buffer.from(data, "base64")));
      expect(locations(messages)).toMatchObject([{ topic: "owntracks/user/bus" }]);
    }
  });

  test("and sends in clear for once is told nothing: an app without a phrase would choke on a box", async () => {
    const { ask } = await createSecretBench();
    expect(await ask("anna:pixel")).toBeNull();
  });
});

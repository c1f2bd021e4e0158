import { expect, test } from "bun:test";
import { PassPhrases } from "../../../../../src/auth/pass-phrases.ts";
import { type Client, plainFailure } from "../../../../../src/clients/client.ts";
import type { Content } from "../../../../../src/clients/content.ts";
import { BROKER_KEY_ID } from "../../../../../src/clients/identity.ts";
import { encryptBox, keyOf } from "../../../../../src/clients/owntracks/encryption.ts";
import { owntracks } from "../../../../../src/clients/owntracks/owntracks.ts";
import type { RefusedMessage } from "../../../../../src/clients/refused-message.ts";
import type { Blocks } from "../../../../../src/directory/erasure-ledger.ts";
import { fail, ok, type Result } from "../../../../../src/lib/result.ts";
import { Scheduler } from "../../../../../src/lib/schedule/scheduler.ts";
import { inOneStep } from "../../../../../src/lib/schedule/steps.ts";
import type { ServiceError } from "../../../../../src/model/errors.ts";
import type { AppId } from "../../../../../src/model/ids.ts";
import type { ReportBatch } from "../../../../../src/model/report-batch.ts";
import { createManualClock } from "../../../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION } from "../../../../../src/model/time/retention.ts";
import type { Ingest } from "../../../../../src/service/ingest/ingest.ts";
import { createIngestMessage, decryptOf } from "../../../../../src/service/ingest/messages/ingest-message.ts";
import { MessageCounts } from "../../../../../src/service/ingest/messages/message-counts.ts";
import type { MessageEnvelope } from "../../../../../src/service/ingest/messages/refused-messages.ts";
import { blocksOf, NO_BLOCKS } from "../../../../support/reports/blocks.ts";
import { createMemoryKeyFiles, createMemoryLock } from "../../../auth/memory-key-files.ts";

const NOW_MS = Date.UTC(2026, 1, 2, 2, 41);
const FULL: ServiceError = { kind: "unavailable", message: "full", retryAfterSeconds: 30 };

/** Each number of a list is the latitude of a point; a text is an event. */
const LIST_CLIENT: Client = {
  name: "overland",
  methods: ["POST"],
  takesQuery: false,
  recognizes: () => false,
  speaks: () => true,
  *read({ content, arrivedMs }, sink) {
    if (content.kind !== "json" || !Array.isArray(content.value)) return;
    for (const value of content.value) {
      if (typeof value === "string") sink.skip(value);
      else {
        const where = { latitude: Number(value), longitude: 1, timestampMs: arrivedMs };
        sink.add({ device: "bus", user: null, details: {}, ...where }, [value]);
      }
      yield;
    }
  },
  success: { contentType: null, body: "" },
  failure: plainFailure,
  retriesAtOnce: false,
  mustNameDevice: false,
};

function sentOf(content: Content, body = "raw"): MessageEnvelope {
  return {
    sender: {
      appId: "fleet" as AppId,
      keyId: "k_1",
      lastFour: "7xYz",
      deviceId: null,
      userId: null,
      mayRead: false,
    },
    address: { device: null, user: null },
    message: {
      arrivedMs: NOW_MS,
      content,
      query: new URLSearchParams(),
      headers: { "user-agent": "test" },
      basicUser: null,
      topic: null,
      speedUnit: null,
      decrypt: () => inOneStep(() => null),
    },
    source: { method: "POST", path: "/ingest/overland", body: new TextEncoder().encode(body) },
  };
}

const json = (value: unknown): Content => ({ kind: "json", value });

interface Fates {
  readonly nowMs?: number;
  readonly stored?: Awaited<ReturnType<Ingest>>;
  readonly kept?: Result<void, ServiceError>;
  readonly blocks?: Blocks;
}

/** What became of a message, step by step. */
async function take(
  sent: MessageEnvelope,
  { stored, kept = ok(undefined), nowMs = NOW_MS, blocks = NO_BLOCKS }: Fates = {},
  client = LIST_CLIENT,
) {
  const steps: string[] = [];
  const batches: ReportBatch[] = [];
  const refused: RefusedMessage[] = [];
  const ingestMessage = createIngestMessage({
    async ingest(_appId, batch) {
      steps.push("ingest");
      batches.push(batch);
      return (
        stored ??
        ok({
          accepted: batch.count,
          duplicates: 0,
          created: batch.count,
          outranked: 0,
          createdLate: [],
          repeated: 0,
          blocked: [],
          sequence: 1,
        })
      );
    },
    async quarantineRefused(messages) {
      steps.push("keep");
      refused.push(...messages);
      return kept;
    },
    blocks,
    doctor: { note: () => steps.push("note") },
    counts: new MessageCounts(),
    scheduler: new Scheduler(),
    clock: createManualClock(nowMs),
    retention: DEFAULT_RETENTION,
  });
  const taken = await ingestMessage(sent, client);
  return { taken, steps, batches, refused };
}

test("a message is taken once its reports are stored and the rest is kept", async () => {
  const { taken, steps, batches, refused } = await take(sentOf(json([52, 91, "visit", 53])));
  expect(taken.ok && [taken.value.accepted, taken.value.collected.skipped.get("visit")]).toEqual([2, 1]);
  expect(steps).toEqual(["ingest", "keep", "note"]);
  expect(batches[0]?.count).toBe(2);
  expect(refused).toHaveLength(1);
  const { reason, index, deviceId, body, headers, client } = refused[0]!;
  expect({ reason, index, deviceId, client }).toEqual({
    reason: "bad_coordinates",
    index: 1,
    deviceId: "bus",
    client: "overland",
  });
  expect(new TextDecoder().decode(body)).toBe("[91]");
  expect(headers).toEqual({ "user-agent": "test" });
});

test("the doctor is not told of a message that is tried again", async () => {
  const { taken, steps } = await take(sentOf(json([52])), { nowMs: NOW_MS + 60_000 });
  expect(taken.ok).toBe(true);
  expect(steps).toEqual(["ingest"]);
});

test("nothing is kept of a message whose reports could not be stored", async () => {
  const { taken, steps } = await take(sentOf(json([52, 91])), { stored: fail(FULL) });
  expect(taken).toEqual(fail(FULL));
  expect(steps).toEqual(["ingest"]);
});

test("a message is not taken where the rest could not be kept", async () => {
  const { taken, steps } = await take(sentOf(json([52, 91])), { kept: fail(FULL) });
  expect(taken).toEqual(fail(FULL));
  expect(steps).toEqual(["ingest", "keep"]);
});

test.each([
  ["bad_json", { kind: "unreadable" }],
  ["unknown_shape", { kind: "json", value: { what: "ever" } }],
  ["unknown_shape", { kind: "text", text: "what=ever" }],
] as const)("a whole body is kept as %s: %p", async (reason, content) => {
  const { taken, refused } = await take(sentOf(content, "all of it"));
  expect(taken.ok).toBe(true);
  expect(refused.map(({ reason, index, body }) => [reason, index, new TextDecoder().decode(body)])).toEqual([
    [reason, null, "all of it"],
  ]);
});

test("nothing is kept of a broken message that may hold somebody's password, but that it came", async () => {
  const settings = '{"_type" : "dump","configuration":{"_type":"configuration","password":"hunter2"';
  for (const body of [settings, settings.replace('"dump"', '"x"'), `${" ".repeat(100_000)}${settings}`]) {
    const { taken, refused } = await take(sentOf({ kind: "unreadable" }, body));
    expect(refused).toEqual([]);
    expect(taken.ok && [...taken.value.collected.skipped]).toEqual([["unreadable settings", 1]]);
  }
  for (const body of ['{"_type":"location","lat":', '{"tag":"dump"', '{"_type":"location","tag":"my dump"'])
    expect((await take(sentOf({ kind: "unreadable" }, body))).refused).toHaveLength(1);
});

test.each([
  ["parameters", { message: { query: new URLSearchParams({ note: "x".repeat(12_000) }) } }],
  ["headers", { message: { headers: { "user-agent": "x".repeat(12_000) } } }],
  ["a topic", { message: { topic: "x".repeat(12_000) } }],
  ["an address", { address: { device: null, user: "x".repeat(12_000) } }],
])("where its points with %s would be far more than a message, all of it is kept", async (_what, told) => {
  const points = Array<number>(200).fill(91);
  const sent = sentOf(json([...points, 52]), "all of it");
  const { taken, refused, batches } = await take({
    ...sent,
    ...told,
    message: { ...sent.message, ...("message" in told ? told.message : {}) },
  });
  expect(taken.ok && taken.value.collected.refused.length).toBe(200);
  expect(batches[0]?.count).toBe(1);
  expect(
    refused.map(({ reason, index, deviceId, isCut, body }) => {
      return { reason, index, deviceId, isCut, body: new TextDecoder().decode(body) };
    }),
  ).toEqual([{ reason: "bad_coordinates", index: null, deviceId: "bus", isCut: false, body: "all of it" }]);
});

test("of more than a thousand points the message is kept, once", async () => {
  const { refused } = await take(sentOf(json(new Array(1001).fill(91)), "whole"));
  expect(refused.map(({ index, body }) => [index, new TextDecoder().decode(body)])).toEqual([
    [null, "whole"],
  ]);
  expect((await take(sentOf(json(new Array(1000).fill(91))))).refused).toHaveLength(1000);
});

/** Points are of two devices by turns. */
const MIXED_CLIENT: Client = {
  ...LIST_CLIENT,
  *read({ content, arrivedMs }, sink) {
    if (content.kind !== "json" || !Array.isArray(content.value)) return;
    for (const [index, value] of content.value.entries()) {
      const where = { latitude: Number(value), longitude: 1, timestampMs: arrivedMs };
      sink.add({ device: index % 2 === 0 ? "bus" : "van", user: null, details: {}, ...where }, [value]);
      yield;
    }
  },
};

test("of a blocked device nothing is kept but that it sent something, and the phone has success", async () => {
  const blocks = blocksOf("bus");
  const query = new URLSearchParams({ lat: "52", lon: "1" });
  for (const content of [json([52, 91]), json(new Array(2000).fill(91))]) {
    const sent = sentOf(content, "secret");
    const { taken, batches, refused } = await take(
      { ...sent, message: { ...sent.message, query } },
      { blocks },
    );
    expect(taken.ok && taken.value.accepted).toBe(0);
    expect(batches.map(({ count }) => count)).toEqual([0]);
    expect(refused).toMatchObject([
      { reason: "erased", deviceId: "bus", index: null, isCut: true, query: "", keyId: "k_1" },
    ]);
    expect(refused[0]!.body.length).toBe(0);
  }
  const unreadable = sentOf({ kind: "unreadable" }, "secret");
  const { refused } = await take(
    { ...unreadable, sender: { ...unreadable.sender, deviceId: "bus" } },
    { blocks },
  );
  expect(refused).toMatchObject([{ reason: "erased", deviceId: "bus", isCut: true }]);
  expect(refused[0]!.body.length).toBe(0);
});

test("beside points of a blocked device, those of others are stored, and kept alone where they are refused", async () => {
  for (const points of [[52, 52, 91, 91, 52], new Array<number>(2400).fill(91)]) {
    const { batches, refused } = await take(
      sentOf(json(points), "all"),
      { blocks: blocksOf("bus") },
      MIXED_CLIENT,
    );
    const others = points.flatMap((latitude, index) => (index % 2 === 0 ? [] : [{ latitude, index }]));
    const bad = others.filter(({ latitude }) => latitude === 91);
    expect(batches.reduce((sum, { count }) => sum + count, 0)).toBe(others.length - bad.length);
    expect(refused[0]).toMatchObject({ reason: "erased", deviceId: "bus", index: null });
    expect(refused[0]!.body.length).toBe(0);
    expect(
      refused.slice(1).map(({ reason, deviceId, index, body }) => {
        return { reason, deviceId, index, body: new TextDecoder().decode(body) };
      }),
    ).toEqual(bad.map(({ index }) => ({ reason: "bad_coordinates", deviceId: "van", index, body: "[91]" })));
  }
});

test("of a point that is too long its beginning is kept, and no more of it in memory", async () => {
  const value = { note: "x".repeat(100_000) };
  const { refused } = await take(sentOf(json([value])));
  expect(refused.map(({ isCut, body }) => [isCut, body.length, body.buffer.byteLength])).toEqual([
    [true, 65_536, 65_536],
  ]);
});

test("nothing is taken by a clock that can't be right, so that whoever sent it keeps it", async () => {
  const { taken, steps } = await take(sentOf(json([52, 91])), { nowMs: Date.UTC(2025, 11, 31) });
  expect(taken.ok ? null : taken.error.kind).toBe("unavailable");
  expect(steps).toEqual([]);
});

test("a phone that may publish to a topic of its own reports as nobody else, in whatever words", async () => {
  const tst = NOW_MS / 1000;
  const location = { coords: { latitude: 1, longitude: 2 }, timestamp: tst };
  const feature = {
    geometry: { coordinates: [2, 1] },
    properties: { timestamp: tst, device_id: "anna:pixel" },
  };
  for (const value of [
    { locations: [feature] },
    { location, device_id: "anna:pixel" },
    { position: { latitude: 1, longitude: 2, fixTime: tst }, device: { uniqueId: "anna:pixel" } },
    { _type: "location", lat: 1, lon: 2, tst, topic: "owntracks/anna:pixel" },
    { _type: "location", lat: 1, lon: 2, tst, topic: "owntracks/anna/pixel", tid: "an" },
  ]) {
    const sent = sentOf(json(value));
    const topic = "owntracks/mallory/phone1";
    const { batches, refused } = await take({ ...sent, message: { ...sent.message, topic } }, {}, owntracks);
    for (const { texts } of batches) expect(texts.join()).not.toContain("anna:pixel");
    expect(batches.reduce((sum, { count }) => sum + count, refused.length)).toBe(1);
    for (const { deviceId } of refused) expect(deviceId).toBe("mallory:phone1");
  }
});

test("a body with nothing in it is taken, and nothing of it kept", async () => {
  for (const content of [{ kind: "empty" } as const, json(["visit"])]) {
    const { taken, steps } = await take(sentOf(content));
    expect(taken.ok).toBe(true);
    expect(steps).toEqual(["ingest", "note"]);
  }
});

test("a point that is longer than an entry may be is cut, and says so", async () => {
  const { refused } = await take(sentOf(json([`${"9".repeat(70_000)}`].map((text) => [text]))));
  expect(refused[0]?.isCut).toBe(true);
  expect(refused[0]?.body.length).toBe(64 * 1024);
});

const APP = "fleet" as AppId;
const ANYWHERE = { device: null, user: null };
const KEY = { appId: APP, keyId: "k_00000001", deviceId: null };

const passPhrases = await PassPhrases.open({
  files: createMemoryKeyFiles(),
  path: "data/pass-phrases.json",
  clock: createManualClock(0),
  acquireLock: createMemoryLock(),
  process: { pid: 1, command: "test" },
});
for (const [keyId, deviceId, text] of [
  ["k_00000001", "pixel", "of pixel"],
  ["k_00000001", "truck", "of truck"],
  ["k_00000002", "pixel", "of another key"],
] as const)
  await passPhrases.set({ keyId, appId: APP, deviceId, text });

const TEXT = "clear";

/** What a sender's box comes out as, if it was made with this phrase. */
function opened(
  phrase: string,
  sender: { appId: AppId; keyId: string; deviceId: string | null },
  address: { device: string | null; user: string | null },
  claimed: string | null,
): string | null {
  const box = encryptBox(keyOf(phrase), new TextEncoder().encode(TEXT));
  const steps = decryptOf(passPhrases, sender, address)(claimed, box);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value === null ? null : new TextDecoder().decode(value);
  }
}

test("a box is opened with the phrase of the key and the device that sent it", () => {
  expect(opened("of pixel", KEY, ANYWHERE, "anna:pixel")).toBe(TEXT);
  expect(opened("of truck", KEY, ANYWHERE, "anna:pixel")).toBeNull();
  expect(opened("of another key", KEY, ANYWHERE, "anna:pixel")).toBeNull();
  expect(opened("of pixel", KEY, ANYWHERE, null)).toBeNull();
});

test("whom the key is bound to counts before the URL, and the URL before what is claimed", () => {
  const truck = { device: "truck", user: null };
  expect(opened("of truck", KEY, truck, "pixel")).toBe(TEXT);
  expect(opened("of truck", { ...KEY, deviceId: "pixel" }, truck, "truck")).toBeNull();
  expect(opened("of pixel", { ...KEY, deviceId: "pixel" }, truck, "truck")).toBe(TEXT);
});

test("a broker's box is opened with the phrase of any key of its app", () => {
  const broker = { ...KEY, keyId: BROKER_KEY_ID };
  for (const phrase of ["of pixel", "of another key"])
    expect(opened(phrase, broker, ANYWHERE, "anna:pixel")).toBe(TEXT);
  expect(opened("of truck", broker, ANYWHERE, "anna:pixel")).toBeNull();
  expect(opened("of pixel", { ...broker, appId: "rival" as AppId }, ANYWHERE, "anna:pixel")).toBeNull();
});

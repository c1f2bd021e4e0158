import { afterAll, describe, expect, test } from "bun:test";
import {
  checkMqtt,
  checkProxy,
  checkReady,
  checkStored,
  checkWebhooks,
} from "../../../../src/operator/remote/checkup.ts";

const ADDRESS = "https://example.org";

test("checkReady() counts damage that no operator acknowledged", async () => {
  const asked: string[] = [];
  const problems = await checkReady(ADDRESS, async (address) => {
    asked.push(address);
    return Response.json({ status: "ready", damaged: 2 });
  });
  expect(asked).toEqual(["https://example.org/ready"]);
  expect(problems).toMatchObject([{ what: expect.stringContaining("2 in all") }]);
});

test("checkReady() names a last seal that is long ago", async () => {
  const [since, never, timely] = await Promise.all(
    [
      { last: "2026-11-22T11:00:04.120Z", late: true },
      { last: null, late: true },
      { last: "2026-11-22T11:00:04.120Z", late: false },
    ].map((seal) => checkReady(ADDRESS, async () => Response.json({ status: "ready", damaged: 0, seal }))),
  );
  expect(since).toMatchObject([{ what: expect.stringContaining("since 2026-11-22T11:00:04.120Z") }]);
  expect(never).toMatchObject([{ what: expect.stringContaining("since it started") }]);
  expect(timely).toEqual([]);
});

test("checkReady() finds nothing where nothing is damaged, and where the server does not tell", async () => {
  const answers = [
    Response.json({ status: "ready", damaged: 0 }),
    Response.json({ status: "starting", replayed: 0, total: 1 }, { status: 503 }),
    new Response("<html>", { status: 502 }),
    Response.json(null),
  ];
  for (const answer of answers) expect(await checkReady(ADDRESS, async () => answer)).toEqual([]);
  expect(
    await checkReady(ADDRESS, async () => {
      throw new TypeError("fetch failed");
    }),
  ).toEqual([]);
});

/** What stood before a server answered, by address without port: the ports of this machine are somebody else's. */
type Answers = Readonly<Record<string, () => Response>>;

const servers: Bun.Server<undefined>[] = [];
afterAll(() => Promise.all(servers.map((server) => server.stop(true))));

/** Checks an address whose hosts are served here; notes what was asked. */
async function check(url: string, answers: Answers) {
  const asked: string[] = [];
  const problems = await checkProxy(url, (address, init) => {
    const { origin, pathname } = new URL(address);
    const headers = [...new Headers(init.headers).keys()];
    asked.push(`${init.method} ${address} ${headers}`);
    const answer = answers[origin];
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => answer?.() ?? new Response() });
    servers.push(server);
    if (answer === undefined) void server.stop(true);
    return fetch(`http://127.0.0.1:${server.port}${pathname}`, init);
  });
  return { asked: asked.map((line) => line.trim()), problems };
}

const refusal = () => new Response("Unknown key\n", { status: 401 });
const redirect = () => new Response(null, { status: 301, headers: { location: "https://example.org/" } });

describe("checkProxy()", () => {
  test("finds nothing where phones are asked for a key and http is closed", async () => {
    const { asked, problems } = await check("https://example.org", { "https://example.org": refusal });
    expect(problems).toEqual([]);
    expect(asked).toEqual([
      "POST https://example.org/ingest/owntracks",
      "POST http://example.org/ingest/owntracks",
    ]);
  });

  test("finds nothing where the server is busy, or answers on http too", async () => {
    const busy = () => new Response("", { status: 503 });
    expect((await check("http://example.org", { "http://example.org": busy })).problems).toEqual([]);
    const both = { "https://example.org": refusal, "http://example.org": refusal };
    expect((await check("https://example.org", both)).problems).toEqual([]);
  });

  test("finds a redirect from http to https", async () => {
    const answers = { "https://example.org:8443": refusal, "http://example.org": redirect };
    const { asked, problems } = await check("https://example.org:8443/base", answers);
    expect(asked[1]).toBe("POST http://example.org/base/ingest/owntracks");
    expect(problems).toEqual([
      {
        what: "http is redirected to https (301): a phone that was given http:// loses what it sends.",
        advice:
          "Let /ingest/ and /pub answer on http too, or close http: a phone then keeps what it can't send.",
      },
    ]);
  });

  test("finds a redirect of the address itself, and asks no other where that has no TLS", async () => {
    const { asked, problems } = await check("http://example.org", { "http://example.org": redirect });
    expect(asked).toHaveLength(1);
    expect(problems.map(({ what }) => what)).toEqual([
      "What phones send is redirected (301), and most of them lose it on the way.",
    ]);
  });

  test("finds a proxy that does not pass on what phones send", async () => {
    const page = () => new Response("<html>", { status: 404 });
    const { problems } = await check("http://example.org", { "http://example.org": page });
    expect(problems.map(({ what }) => what)).toEqual([
      "What phones send does not reach the server: /ingest/owntracks answered 404 where a key is asked for.",
    ]);
  });
});

const WELL = { connections: 2, connected: 2, unassured_messages: 0, outage_seconds: 3600 };

test("checkMqtt() finds connections that are not there, and messages that nobody keeps", () => {
  expect(checkMqtt(WELL)).toEqual([]);
  expect(checkMqtt({ ...WELL, connected: 1, unassured_messages: 7 }).map(({ what }) => what)).toEqual([
    "1 of 2 connections to the MQTT broker are up: the rest of what phones publish waits there.",
    "Phones published 7 messages with QoS 0, which a broker does not store.",
  ]);
  const [problem] = checkMqtt({ ...WELL, unheard_messages: 2, unheard_topics: ["owntracks/pixel"] });
  expect(problem?.what).toBe(
    "2 positions were published to topics that --mqtt-topic does not take, and are not stored: owntracks/pixel.",
  );
});

test("checkStored() warns from four fifths of a bound on", () => {
  const stored = {
    ...{ corrections: 7999, corrections_max: 10_000 },
    ...{ corrected_records: 1200, corrected_records_max: 1_000_000 },
    ...{ profiles: 3, profile_bytes: 4000, profile_bytes_max: 67_108_864 },
  };
  expect(checkStored(stored)).toEqual([]);
  const near = { ...stored, corrections: 8000, corrected_records: 1_000_000, profile_bytes: 60_000_000 };
  expect(checkStored(near).map(({ what }) => what)).toEqual([
    "The app has 8,000 active corrections, and may have 10,000.",
    "The app has 1,000,000 records that corrections touch, and may have 1,000,000.",
    "The app has 60,000,000 bytes of device profiles, and may have 67,108,864.",
  ]);
});

test("checkWebhooks() says why a webhook is sent nothing, and what to do", () => {
  const common = { id: "01W", host: "https://hooks.example.com" };
  const problems = checkWebhooks([
    { ...common, state: "active", failures: 3 },
    { ...common, state: "disabled", reason: "its receiver answered 410 Gone" },
  ]);
  expect(problems.map(({ what }) => what)).toEqual([
    "Webhook 01W to https://hooks.example.com failed 3 times in a row: its events wait.",
    "Webhook 01W to https://hooks.example.com is disabled: its receiver answered 410 Gone.",
  ]);
});

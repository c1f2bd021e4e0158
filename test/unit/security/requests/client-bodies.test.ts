import { expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { INGEST_LIMITS } from "../../../../src/app/config.ts";
import type { ClientMessage } from "../../../../src/clients/client.ts";
import { CLIENTS } from "../../../../src/clients/clients.ts";
import type { MessageSink } from "../../../../src/clients/point.ts";
import { readContent } from "../../../../src/clients/read-content.ts";
import { createBodyBudget } from "../../../../src/http/body/body-budget.ts";
import { inOneStep, type Steps } from "../../../../src/lib/schedule/steps.ts";
import { createTestApp } from "../../../support/test-app.ts";
import { until } from "../../../support/until.ts";

// Its cases compute for seconds on a quiet machine, and wait for nothing.
setDefaultTimeout(60_000);

/*
 * Goal: no body on a client's path, whatever it holds, keeps others waiting or memory for itself. Method: bodies of
 * 16 MiB in the shapes that clients read, with what is dearest in them, are read as the server reads them; counted is
 * what is done between two steps, in bytes that are parsed and in points. Then such bodies are sent to a server, and
 * its budget is looked at.
 */

const BODY_BYTES = 16 * 1024 * 1024 - 100;
const ELEMENTS_MAX = 10_000;

/** What a list may be filled with: points that are honest, tiny, and nothing but brackets, of all lengths. */
const FILLINGS: Readonly<Record<string, (like: unknown) => string>> = {
  "honest points with a photo": (like) => {
    const photo = "x".repeat(Math.floor(BODY_BYTES / ELEMENTS_MAX) - JSON.stringify(like).length - 14);
    return JSON.stringify({ ...(like as object), image: photo });
  },
  "points of brackets": () => `{"a":${"[".repeat(800)}${"]".repeat(800)}}`,
  "long points of brackets": () => `{"a":${"[".repeat(30_000)}${"]".repeat(30_000)}}`,
  "long points with many members": (like) => {
    const members = Array.from({ length: 16 }, (_, i) => `"m${i}":${"[".repeat(1900)}${"]".repeat(1900)},`);
    return `{${members.join("")}"like":${JSON.stringify(like)}}`;
  },
};

/** Lists of points, as clients send them. */
const LISTS: Readonly<Record<string, (list: string) => string>> = {
  "a list": (list) => list,
  locations: (list) => `{"locations":${list},"device_id":"phone"}`,
  points: (list) => `{"points":${list}}`,
};

const POINT = {
  _type: "location",
  ...{ tst: 1_795_000_000, lat: 53.4, lon: -2.9, timestamp: "2026-11-20T12:00:00Z", device_id: "phone" },
  geometry: { type: "Point", coordinates: [-2.9, 53.4] },
  properties: { timestamp: "2026-11-20T12:00:00Z" },
};

function filledList(element: string): string {
  const count = Math.min(ELEMENTS_MAX, Math.floor(BODY_BYTES / (element.length + 1)));
  return `[${new Array(count).fill(element).join(",")}]`;
}

/** What is done between two steps, at most. */
class Stretches {
  readonly longest = { parsedBytes: 0, points: 0 };
  #parsedBytes = 0;
  #points = 0;
  /** What a client's reading finds. */
  readonly sink: MessageSink = {
    add: () => this.#points++,
    refuse: () => this.#points++,
    skip: () => this.#points++,
  };

  run<Value>(steps: Steps<Value>): Value {
    const parse = JSON.parse;
    const spy = spyOn(JSON, "parse").mockImplementation((text: string) => {
      this.#parsedBytes += text.length;
      return parse(text);
    });
    try {
      for (;;) {
        const { done, value } = steps.next();
        this.#rest();
        if (done === true) return value;
      }
    } finally {
      spy.mockRestore();
    }
  }

  #rest(): void {
    const { longest } = this;
    longest.parsedBytes = Math.max(longest.parsedBytes, this.#parsedBytes);
    longest.points = Math.max(longest.points, this.#points);
    this.#parsedBytes = this.#points = 0;
  }
}

function messageWith(content: ClientMessage["content"]): ClientMessage {
  return {
    arrivedMs: 1_795_000_000_000,
    content,
    query: new URLSearchParams(),
    headers: {},
    ...{ basicUser: null, topic: null, speedUnit: null },
    decrypt: () => inOneStep(() => null),
  };
}

const CASES = Object.keys(LISTS).flatMap((list) =>
  Object.keys(FILLINGS).map((filling) => [list, filling] as const),
);

test.each(CASES)("%s of %s is read in steps, by every client", (list, filling) => {
  const body = Buffer.from(LISTS[list]!(filledList(FILLINGS[filling]!(POINT))));
  expect(body.length).toBeLessThanOrEqual(16 * 1024 * 1024);
  const reading = new Stretches();
  const message = messageWith(reading.run(readContent(body)));
  expect(reading.longest.parsedBytes).toBeLessThanOrEqual(PARSED_BYTES_MAX);
  for (const client of CLIENTS) {
    const stretches = new Stretches();
    stretches.run(client.read(message, stretches.sink));
    const { parsedBytes, points } = stretches.longest;
    expect([client.name, points <= 64], `${points} points`).toEqual([client.name, true]);
    const isShort = parsedBytes <= PARSED_BYTES_MAX;
    expect([client.name, isShort], `${parsedBytes} bytes`).toEqual([client.name, true]);
  }
});

/** 0.1 µs for each, where it is nothing but brackets: some 30 ms at worst. */
const PARSED_BYTES_MAX = 300 * 1024;

test("bodies of clients have their shares of the budget, and give back all of it", async () => {
  const bodies = createBodyBudget(INGEST_LIMITS);
  const app = await createTestApp({ bodies });
  const held: number[] = [];
  const { begin } = bodies;
  bodies.begin = (holder) => {
    const share = begin(holder);
    held.push(bodies.requests);
    return share;
  };
  const send = async (
    path: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ) => {
    const { status } = await app.fetch(path, {
      method: "POST",
      headers: { authorization: `Bearer ${app.keys.writer}`, ...headers },
      body,
    });
    return status;
  };
  const long = `[${new Array(100).fill(FILLINGS["points of brackets"]!(POINT)).join(",")}]`;
  for (const { name, takesQuery } of CLIENTS.filter(({ methods }) => methods.includes("POST"))) {
    const path = `/ingest/${name}`;
    expect(await send(path, long)).toBe(200);
    expect(await send(path, "{")).toBe(200);
    expect(await send(path, "")).toBe(takesQuery ? 400 : 200);
    expect(await send(`${path}?speed_unit=x`, long)).toBe(400);
    expect(await send(path, "no gzip", { "content-encoding": "gzip" })).toBe(400);
    expect(await send(path, new Uint8Array(17 * 1024 * 1024))).toBe(413);
    expect([bodies.requests, bodies.bytes]).toEqual([0, 0]);
  }
  expect(Math.max(...held)).toBe(1);
});

test("a request that nobody waits for gives back its share too", async () => {
  const bodies = createBodyBudget(INGEST_LIMITS);
  const app = await createTestApp({ bodies });
  const gone = new AbortController();
  const body = new ReadableStream<Uint8Array>({
    start(stream) {
      stream.enqueue(new Uint8Array(70_000));
      gone.signal.addEventListener("abort", () => stream.error(gone.signal.reason));
    },
  });
  const headers = { authorization: `Bearer ${app.keys.writer}` };
  const answer = app.fetch("/ingest/overland", { method: "POST", headers, body });
  await until(() => bodies.bytes > 0);
  gone.abort();
  expect((await answer).status).toBe(503);
  expect([bodies.requests, bodies.bytes]).toEqual([0, 0]);
});

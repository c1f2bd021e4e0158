import { describe, expect, test } from "bun:test";
import { createKeyText } from "../../../../src/auth/api-key.ts";
import type { ClientName } from "../../../../src/clients/client.ts";
import { CLIENTS } from "../../../../src/clients/clients.ts";
import { DAWARICH_ENDPOINTS } from "../../../../src/http/clients/client-endpoints.ts";
import { EXAMPLE_REPORT } from "../../../../src/http/shapes/record-schemas.ts";
import { createTestApp, type KeyName, type TestApp } from "../../../support/test-app.ts";
import { askedWith, nameOf, OF_CLIENTS, takesReports } from "../requests.ts";

/*
 * What the gate of client paths answers, byte by byte: the specification of client paths, §2 and §14. The answers are
 * written out here, since phones delete, keep or repeat what they sent by every byte of them.
 */

const SUCCESS: Readonly<Record<ClientName, { readonly type: string | null; readonly body: string }>> = {
  owntracks: { type: "application/json", body: "[]" },
  overland: { type: "application/json", body: '{"result":"ok"}' },
  homeassistant: { type: "application/json", body: "{}" },
  phonetrack: { type: "application/json", body: '{"done":1,"friends":[]}' },
  ...{
    traccar: { type: null, body: "" },
    osmand: { type: null, body: "" },
    gpslogger: { type: null, body: "" },
    opengts: { type: null, body: "" },
    colota: { type: null, body: "" },
    "traccar-forward": { type: null, body: "" },
  },
};

function failureOf(client: ClientName, sentence: string) {
  return client === "overland"
    ? { type: "application/json", body: JSON.stringify({ error: sentence }) }
    : { type: "text/plain; charset=utf-8", body: `${sentence}\n` };
}

/** When the examples of the document are news. */
const EXAMPLE_MS = Number(EXAMPLE_REPORT.timestamp);

async function told(response: Response) {
  const { status, headers } = response;
  return { status, type: headers.get("content-type"), body: await response.text() };
}

const app = await createTestApp();
const EVERY = OF_CLIENTS.map((endpoint) => [nameOf(endpoint), endpoint] as const);
const REPORTS = EVERY.filter(([, endpoint]) => takesReports(endpoint));

test("every client has its path, one for a key, one for a key and a device, and OwnTracks the Recorder's", () => {
  const paths = new Set(OF_CLIENTS.map(({ path }) => path));
  const expected = CLIENTS.flatMap(({ name }) =>
    ["", "/k/:key", "/k/:key/:device"].map((end) => `/ingest/${name}${end}`),
  );
  expect([...paths].sort()).toEqual([...expected, "/pub"].sort());
});

describe.each(REPORTS)("%s", (_name, endpoint) => {
  const { client, path, method } = endpoint;
  const ask = async (from: TestApp, key: KeyName | null, headers = {}) => {
    const [asked, init] = askedWith(endpoint, key === null ? createKeyText() : from.keys[key], headers);
    return from.fetch(asked, init);
  };

  test("answers success in the client's words, and keeps out of caches", async () => {
    const response = await ask(app, "writer");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(response.headers.get("ratelimit")).toBeNull();
    expect(await told(response)).toEqual({ status: 200, ...SUCCESS[client.name] });
  });

  test("is a 401 with any wrong key, in one sentence", async () => {
    for (const key of [null, "revoked", "reader"] satisfies (KeyName | null)[]) {
      const response = await ask(app, key);
      const sentence = key === "reader" ? "The key may not write" : "Unknown key";
      expect(response.headers.get("www-authenticate")).toBe('Basic realm="Wherehouse"');
      expect(await told(response)).toEqual({ status: 401, ...failureOf(client.name, sentence) });
    }
  });

  test("is a 503 while the server starts or stops, whatever is sent", async () => {
    const own = await createTestApp();
    for (const [state, sentence] of [
      [{ status: "starting", replayed: 0, total: 9 }, "the server is starting: it reads its log"],
      [{ status: "stopping" }, "the server is stopping"],
    ] as const) {
      own.setReadiness(state);
      const response = await ask(own, "writer");
      expect(response.headers.get("retry-after")).toBe("30");
      expect(await told(response)).toEqual({ status: 503, ...failureOf(client.name, sentence) });
    }
  });

  test("is a 503 on a full disk, and stores what is sent again", async () => {
    const own = await createTestApp({ startMs: EXAMPLE_MS });
    const room = own.files.capacityBytes;
    own.files.capacityBytes = 0;
    const response = await ask(own, "writer");
    expect(response.headers.get("retry-after")).toBe("30");
    const sentence = "the disk is full: no reports are taken until there is room";
    expect(await told(response)).toEqual({ status: 503, ...failureOf(client.name, sentence) });
    own.files.capacityBytes = room;
    expect((await ask(own, "writer")).status).toBe(200);
    const { locations } = (await own.get("/api/v1/locations/current")).body;
    expect(locations).toHaveLength(1);
  });

  test("answers a fault of ours with a 500 that says nothing of it", async () => {
    const own = await createTestApp({
      ingestMessage: () => {
        throw new Error("secret");
      },
    });
    const { status, body } = await told(await ask(own, "writer"));
    expect([status, body.includes("secret"), own.faults.length]).toEqual([500, false, 1]);
  });

  test("answers the path with a slash at its end as the one without", async () => {
    const [asked, init] = askedWith(endpoint, app.keys.writer);
    const slashed = asked.includes("?") ? asked.replace("?", "/?") : `${asked}/`;
    expect(await told(await app.fetch(slashed, init))).toEqual({ status: 200, ...SUCCESS[client.name] });
  });

  test("refuses other methods in the client's words, and a HEAD without storing anything", async () => {
    const own = await createTestApp({ startMs: EXAMPLE_MS });
    const allowed = OF_CLIENTS.filter((each) => each.path === path).map((each) => each.method);
    const [asked] = askedWith(endpoint, own.keys.writer);
    const headers = { authorization: `Bearer ${own.keys.writer}` };
    for (const wrong of ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"].filter(
      (each) => !allowed.includes(each as "GET"),
    )) {
      const response = await own.fetch(asked, { method: wrong, headers });
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toBe([...allowed].sort().join(", "));
      const sentence = `this path takes ${[...allowed].sort().join(", ")}, not ${wrong}`;
      if (wrong !== "HEAD")
        expect(await told(response)).toEqual({ status: 405, ...failureOf(client.name, sentence) });
    }
    expect((await own.get("/api/v1/locations/current")).body.locations).toEqual([]);
  });

  if (method === "POST") {
    test("answers an empty body as what it is: nothing, or a request that lost its parameters", async () => {
      const [asked, init] = askedWith(endpoint, app.keys.writer);
      const answer = await told(await app.fetch(asked, { ...init, body: "" }));
      const sentence = "the request has neither parameters nor a body; it may have been redirected";
      if (client.takesQuery) expect(answer).toEqual({ status: 400, ...failureOf(client.name, sentence) });
      else expect(answer).toEqual({ status: 200, ...SUCCESS[client.name] });
    });

    test("answers what can't be read with success, and keeps all of it", async () => {
      const own = await createTestApp();
      const [asked, init] = askedWith(endpoint, own.keys.writer);
      const answer = await told(await own.fetch(asked, { ...init, body: '{"lat":' }));
      expect(answer).toEqual({ status: 200, ...SUCCESS[client.name] });
      expect(own.refused.map(({ reason, body }) => [reason, Buffer.from(body).toString()])).toEqual([
        ["bad_json", '{"lat":'],
      ]);
      expect(own.refused[0]).toMatchObject({ path, method, client: client.name });
    });

    test("is a 413 for a body that is too large", async () => {
      const [asked, init] = askedWith(endpoint, app.keys.writer, {
        "content-length": String(16 * 1024 * 1024 + 1),
      });
      const sentence = "the body must be at most 16 MiB, before and after decompression";
      expect(await told(await app.fetch(asked, init))).toEqual({
        status: 413,
        ...failureOf(client.name, sentence),
      });
    });
  }
});

test("OwnTracks on iOS, which deletes what it is told is at fault, is never told so", async () => {
  const ios = { "x-limit-d": "8B5C", "user-agent": "CFNetwork/1498" };
  const send = (path: string, headers: Record<string, string>) =>
    app.fetch(path, { method: "POST", headers: { ...ios, ...headers }, body: "{}" });
  const good = { authorization: `Bearer ${app.keys.writer}` };
  for (const [response, sentence] of [
    [await send("/ingest/owntracks", {}), "Unknown key"],
    [await send("/pub", { authorization: "Bearer x" }), "Unknown key"],
    [await send(`/ingest/owntracks/k/${app.keys.revoked}`, {}), "Unknown key"],
    [await send("/ingest/owntracks?speed_unit=knots", good), "speed_unit must be mps, kmh, kn, mph"],
    [
      await send("/ingest/owntracks", { ...good, "content-encoding": "br" }),
      'content-encoding must be gzip or zstd, or absent; "br" is not supported',
    ],
  ] as const) {
    expect(response.headers.get("retry-after")).toBe("30");
    expect(await told(response)).toEqual({
      status: 503,
      ...failureOf("owntracks", `${sentence}; the app keeps its points`),
    });
  }
});

test("OwnTracks on iOS keeps its points where its key is wrong, on every client's path", async () => {
  const headers = { "x-limit-d": "8B5C", "user-agent": "CFNetwork/1498" };
  for (const { name } of CLIENTS.filter(({ methods }) => methods.includes("POST"))) {
    if (name === "osmand") continue; // Its refusals are held.
    const response = await app.fetch(`/ingest/${name}`, { method: "POST", headers, body: "{}" });
    expect(await told(response)).toEqual({
      status: 503,
      ...failureOf(name, "Unknown key; the app keeps its points"),
    });
  }
});

test("OwnTracks on iOS keeps its points where its URL is mistyped; others are told what is wrong", async () => {
  const ios = { "x-limit-d": "8B5C", "user-agent": "CFNetwork/1498" };
  const android = { ...ios, "user-agent": "Owntracks-Android/gms/420500000" };
  const nothing = "there is nothing at this path; see /docs";
  for (const [path, sentence, status] of [
    ["/", nothing, 404],
    ["/ingest/OwnTracks", nothing, 404],
    [`/ingest/owntracks/${app.keys.writer}`, nothing, 404],
    ["/api/v1/owntracks/points", nothing, 404],
    ["/ingest/opengts", "this path takes GET, not POST", 405],
    ["/health", "this path takes GET, HEAD, not POST", 405],
  ] as const) {
    const response = await app.fetch(path, { method: "POST", headers: ios, body: "{}" });
    expect(response.headers.get("retry-after")).toBe("30");
    expect(await told(response)).toEqual({
      status: 503,
      ...failureOf("owntracks", `${sentence}; the app keeps its points`),
    });
    for (const headers of [android, {}])
      expect((await app.fetch(path, { method: "POST", headers, body: "{}" })).status).toBe(status);
  }
});

test("Overland's question is answered with the key's label, and no word of success", async () => {
  const ask = (path: string, key: KeyName) =>
    app.fetch(path, { headers: { authorization: `Bearer ${app.keys[key]}` } });
  const answer = await told(await ask("/ingest/overland", "writer"));
  expect(answer).toEqual({ status: 200, type: "application/json", body: '{"name":"writer"}' });
  expect(await told(await app.fetch(`/ingest/overland/k/${app.keys.writer}/phone`))).toEqual(answer);
  const refused = { status: 401, type: "application/json", body: '{"error":"Unknown key"}' };
  expect(await told(await ask("/ingest/overland", "revoked"))).toEqual(refused);
});

test("a key is taken from every channel, and two that differ are as good as none", async () => {
  const { writer, full } = app.keys;
  const body = JSON.stringify({ locations: [] });
  const status = async (path: string, authorization?: string) => {
    const headers = authorization === undefined ? {} : { authorization };
    return (await app.fetch(path, { method: "POST", headers, body })).status;
  };
  const path = "/ingest/overland";
  const basic = (text: string) => `Basic ${btoa(text)}`;
  for (const authorization of [
    `Bearer ${writer}`,
    basic(`anna:${writer}`),
    basic(`${writer}:`),
    `Basic ${writer}:`,
  ]) {
    expect(await status(path, authorization)).toBe(200);
    expect(await status(`${path}/k/${writer}`, authorization)).toBe(200);
    expect(await status(`${path}?api_key=${writer}&token=${writer}`, authorization)).toBe(200);
    expect(await status(`${path}/k/${full}`, authorization)).toBe(401);
    expect(await status(`${path}?api_key=${full}`, authorization)).toBe(401);
    expect(await status(`${path}?token=nonsense`, authorization)).toBe(401);
  }
  expect(await status(`${path}/k/${writer.replace("wh_", "%77%68%5f")}/a%20phone`)).toBe(200);
  expect(await status(`${path}?token=${writer}`)).toBe(200);
  expect(await status(`${path}/k/%ff`)).toBe(401);
  expect(await status(path)).toBe(401);
});

test("a key in a path or a query counts on client paths alone", async () => {
  const { full } = app.keys;
  for (const path of [
    `/api/v1/locations/current?api_key=${full}`,
    `/api/v1/locations/current?token=${full}`,
    `/ingest/v1/locations?api_key=${full}`,
  ]) {
    const init = path.startsWith("/ingest") ? { method: "POST", body: "{}" } : {};
    expect((await app.fetch(path, init)).status).toBe(401);
  }
  for (const path of [`/api/v1/k/${full}/locations/current`, `/ingest/v1/k/${full}`, `/pub/k/${full}`]) {
    for (const method of ["GET", "POST"]) expect((await app.fetch(path, { method })).status).toBe(404);
  }
});

test("paths of Dawarich are served where they are asked for, with keys in the query, and nowhere else", async () => {
  const own = await createTestApp({ moreEndpoints: DAWARICH_ENDPOINTS, startMs: EXAMPLE_MS });
  expect(DAWARICH_ENDPOINTS.map(nameOf).sort()).toEqual([
    "GET /api/v1/overland/batches",
    "GET /api/v1/traccar/points",
    "POST /api/v1/overland/batches",
    "POST /api/v1/owntracks/points",
    "POST /api/v1/traccar/points",
  ]);
  for (const endpoint of DAWARICH_ENDPOINTS.filter(takesReports)) {
    const [path, init] = askedWith(endpoint, "");
    const asked = `${path}${path.includes("?") ? "&" : "?"}api_key=`;
    const sent = { ...init, headers: {} };
    const success = { status: 200, ...SUCCESS[endpoint.client.name] };
    expect(await told(await own.fetch(asked + own.keys.writer, sent))).toEqual(success);
    expect((await own.fetch(asked + own.keys.reader, sent)).status).toBe(401);
    expect((await app.fetch(asked + app.keys.writer, sent)).status).toBe(404);
  }
  expect((await own.get("/api/v1/locations/current")).body.locations).not.toEqual([]);
  // All else under /api/ goes by the header alone, as before.
  expect((await own.fetch(`/api/v1/locations/current?api_key=${own.keys.full}`)).status).toBe(401);
});

test("a body is not looked at before the key is known", async () => {
  let isRead = false;
  const pull = (stream: ReadableStreamDefaultController) => {
    isRead = true;
    stream.enqueue(new Uint8Array(9));
  };
  const body = new ReadableStream({ pull }, { highWaterMark: 0 });
  const response = await app.fetch("/ingest/overland/k/nonsense", { method: "POST", body });
  expect([response.status, isRead]).toEqual([401, false]);
});

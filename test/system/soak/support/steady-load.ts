import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import type { ReferenceReport } from "../../../reference/records.ts";
import { pathOf } from "../../../support/test-app.ts";
import { BODY_FORMATS, type Client, get, post } from "../../support/client.ts";
import { pause } from "../../support/pause.ts";
import type { Picker } from "../../support/random.ts";
import type { SteadyFleet } from "./steady-fleet.ts";

/** A mixed load at fixed rates, good and bad requests, over connections that stay and connections that go. */
export interface SteadyLoad {
  /** Requests sent so far. */
  readonly sent: number;
  /** Left out since too many were unanswered: the server, or this process, could not keep up. */
  readonly skipped: number;
  /** Answers other than the expected ones, at most a few. */
  readonly wrong: readonly string[];
  stop(): Promise<void>;
}

/** One kind of request: how many a second, and what to do. */
interface Kind {
  readonly perSecond: number;
  send(): Promise<void>;
}

const TICK_MS = 50;
const UNANSWERED_MAX = 64;
const WRONG_MAX = 20;
const MS_PER_DAY = 86_400_000;

const BATCH_REPORTS = 50;
const IDLE_MS = 30_000; // How long a connection that says nothing is kept.
const ABANDON_MS = 500;

const BOMB = gzipSync(new Uint8Array(17 * 1024 * 1024));

export function startSteadyLoad(client: Client, fleet: SteadyFleet, pick: Picker): SteadyLoad {
  const wrong: string[] = [];
  const unanswered = new Set<Promise<void>>();
  const idle = new Set<() => void>();
  let sent = 0;
  let skipped = 0;

  async function expectStatus(status: number, what: string, answer: Promise<Response>): Promise<void> {
    const response = await answer;
    const body = await response.text();
    if (response.status !== status) note(`${what}: ${response.status} ${body.slice(0, 200)}`);
  }

  function note(what: string): void {
    if (wrong.length < WRONG_MAX) wrong.push(what);
  }

  function store(next: () => ReferenceReport): Promise<void> {
    const reports = Array.from({ length: BATCH_REPORTS }, next);
    return expectStatus(200, "reports", post(client, reports, pick.item(BODY_FORMATS)));
  }

  function ask(path: string, status = 200): Promise<void> {
    return expectStatus(status, path, get(client, path));
  }

  function send(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>, status: number) {
    const url = `${client.url}/ingest/v1/locations`;
    const all = { authorization: `Bearer ${client.key}`, "content-type": "application/json", ...headers };
    return expectStatus(
      status,
      `a body of ${body.length}`,
      fetch(url, { method: "POST", headers: all, body }),
    );
  }

  /** A connection of its own that sends this much and goes away after a while, whatever comes back. */
  function connection(text: string, forMs: number): Promise<void> {
    const { hostname, port } = new URL(client.url);
    return new Promise((resolve) => {
      const socket = connect(Number(port), hostname, () => socket.write(text));
      const end = () => socket.destroy();
      const closed = new AbortController();
      void pause(forMs, closed.signal).then(end);
      idle.add(end);
      socket.on("data", () => undefined);
      socket.on("error", () => undefined); // The server may close it first.
      socket.on("close", () => {
        closed.abort();
        idle.delete(end);
        resolve();
      });
    });
  }

  const { host } = new URL(client.url);
  const head = `Host: ${host}\r\nAuthorization: Bearer ${client.key}\r\nContent-Type: application/json\r\n`;
  const device = () => `/api/v1/devices/${pick.item(fleet.deviceIds)}/locations`;
  const user = () => `/api/v1/users/driver-${pick.integer(0, 99)}`;
  const days = (from: number, to: number) => ({ start_date: dateBefore(from), end_date: dateBefore(to) });
  const here = () => ({ latitude: pick.decimal(42.2, 42.5, 4), longitude: pick.decimal(-71.3, -70.9, 4) });

  const kinds: readonly Kind[] = [
    { perSecond: 3.2, send: () => store(fleet.live) },
    { perSecond: 0.4, send: () => store(fleet.late) },
    { perSecond: 0.4, send: () => store(fleet.aging) },
    {
      perSecond: 10,
      send: () => ask(pathOf("/api/v1/devices/nearby", { ...here(), radius_miles: pick.integer(1, 20) })),
    },
    { perSecond: 5, send: () => ask(pathOf("/api/v1/locations/current", { offset: pick.integer(0, 900) })) },
    { perSecond: 5, send: () => ask(`${device()}/current`) },
    { perSecond: 5, send: () => ask(pathOf(`${device()}/history`, { ...days(1, 0), limit: 1000 })) },
    { perSecond: 0.5, send: () => ask(pathOf(`${device()}/history`, days(30, 0))) },
    {
      perSecond: 0.2,
      send: () =>
        ask(
          pathOf("/api/v1/locations/history", { ...days(12, 8), offset: pick.integer(0, 3000), limit: 1000 }),
        ),
    },
    { perSecond: 2, send: () => ask(`${user()}/devices`) },
    { perSecond: 1, send: () => ask(pathOf(`${user()}/locations/history`, { ...days(12, 0), limit: 200 })) },
    { perSecond: 1, send: () => ask("/api/v1/devices/nearby?latitude=91&longitude=0", 400) },
    { perSecond: 1, send: () => ask(`/api/v1/nothing/${pick.integer(0, 1e6)}`, 404) },
    {
      perSecond: 1,
      send: () => ask(`/api/v1/devices/stranger-${pick.integer(0, 1e6)}/locations/current`, 404),
    },
    {
      perSecond: 1,
      send: () =>
        expectStatus(
          401,
          "a wrong key",
          get({ ...client, key: `wh_${pick.integer(0, 1e9)}` }, "/api/v1/locations/current"),
        ),
    },
    { perSecond: 1, send: () => send('{"locations": [', {}, 400) },
    { perSecond: 1, send: () => send("no gzip at all", { "content-encoding": "gzip" }, 400) },
    { perSecond: 0.2, send: () => send(new Uint8Array(BOMB), { "content-encoding": "gzip" }, 413) },
    {
      perSecond: 3,
      send: () => connection(`GET /health HTTP/1.1\r\n${head}Connection: close\r\n\r\n`, 5000),
    },
    {
      perSecond: 1, // Half a body, and then the client is gone.
      send: () =>
        connection(`POST /ingest/v1/locations HTTP/1.1\r\n${head}Content-Length: 1000\r\n\r\n{`, ABANDON_MS),
    },
    { perSecond: 1, send: () => connection("GET /health HTTP/1.1\r\nHo", ABANDON_MS) },
    { perSecond: 0.5, send: () => keepIdle() },
  ];
  const due = kinds.map(() => 0);

  async function keepIdle(): Promise<void> {
    void connection("", IDLE_MS); // Not counted as unanswered: nothing is asked.
  }

  let lastMs = performance.now();
  const stopped = new AbortController();
  async function sendOn(): Promise<void> {
    for (
      await pause(TICK_MS, stopped.signal);
      !stopped.signal.aborted;
      await pause(TICK_MS, stopped.signal)
    ) {
      const nowMs = performance.now();
      const seconds = (nowMs - lastMs) / 1000;
      lastMs = nowMs;
      kinds.forEach(({ perSecond, send }, index) => {
        due[index] = due[index]! + perSecond * seconds;
        for (; due[index]! >= 1; due[index] = due[index]! - 1) begin(send);
      });
    }
  }
  const sending = sendOn();

  function begin(send: Kind["send"]): void {
    if (unanswered.size >= UNANSWERED_MAX) {
      skipped++;
      return;
    }
    sent++;
    const work = send()
      .catch((error) => note(String(error)))
      .finally(() => unanswered.delete(work));
    unanswered.add(work);
  }

  return {
    get sent() {
      return sent;
    },
    get skipped() {
      return skipped;
    },
    wrong,
    async stop() {
      stopped.abort();
      await sending;
      for (const end of idle) end();
      await Promise.all(unanswered);
    },
  };
}

function dateBefore(days: number): string {
  return new Date(Date.now() - days * MS_PER_DAY).toISOString().slice(0, 10);
}

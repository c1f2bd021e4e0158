import { createRandom, pick, type Random } from "../fleets/random.ts";
import { getRequest } from "../servers/load.ts";
import { ARCHIVED_DAYS_AGO_MIN, dayName } from "./attack/attacked-data.ts";

/** What the well-behaved app has: devices around a place, and a path of each today and on one archived day. */
export const BYSTANDER_DEVICES = 500;
export const BYSTANDER_PLACE = { latitude: 42.36, longitude: -71.06 } as const;
const REPORTS_A_REQUEST = 20;

export function bystanderDevice(index: number): string {
  return `device-${String(index).padStart(6, "0")}`;
}

/** One request of the well-behaved app. */
export interface Asked {
  readonly kind: Kind;
  /** When it was to be sent, by `performance.now()`. */
  readonly dueMs: number;
  /** Until all of the answer was there, or until it failed, from when it was to be sent. */
  readonly latencyMs: number;
  /** What it got instead of a 200, or null. */
  readonly failure: string | null;
}

/** One request in ten is about archived days. */
const KINDS = [
  "nearby",
  "current",
  "reports",
  "nearby",
  "history",
  "current",
  "nearby",
  "reports",
  "history",
  "archive",
] as const;
type Kind = (typeof KINDS)[number];

/** Longer than anybody waits. */
const PATIENCE_MS = 30_000;

/** Requests that nothing is special about, for a server to get warm by. */
export function ordinaryQuestions(url: string, key: string): readonly Uint8Array[] {
  const { latitude, longitude } = BYSTANDER_PLACE;
  const device = bystanderDevice(0);
  const paths = [
    `/api/v1/devices/nearby?latitude=${latitude}&longitude=${longitude}&max_age_hours=72`,
    `/api/v1/devices/${device}/locations/current`,
    `/api/v1/devices/${device}/locations/history?start_date=${dayName(2, Date.now())}`,
    "/api/v1/locations/current?limit=1000",
  ];
  return paths.map((path) => getRequest(url + path, { authorization: `Bearer ${key}` }));
}

export interface BystanderOptions {
  readonly url: string;
  readonly key: string;
  readonly requestsPerSecond: number;
  readonly seed: number;
}

export interface Bystander {
  /** Sends no more, and waits for what is under way. */
  stop(): Promise<readonly Asked[]>;
}

/**
 * The well-behaved app: it asks and reports at a modest rate that depends on no answer, so that a server that stalls is
 * charged for each request that it kept waiting.
 */
export function startBystander({ url, key, requestsPerSecond, seed }: BystanderOptions): Bystander {
  const random = createRandom(seed);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const asked: Asked[] = [];
  const underWay = new Set<Promise<void>>();
  let isOver = false;

  async function ask(kind: Kind, dueMs: number): Promise<void> {
    const [path, body] = requestOf(kind, random);
    let failure: string | null = null;
    try {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      const answer = await fetch(
        url + path,
        body === undefined ? { headers, signal } : { method: "POST", headers, signal, body },
      );
      await answer.arrayBuffer();
      if (answer.status !== 200) failure = String(answer.status);
    } catch (error) {
      const { code, name } = error as { code?: unknown; name: string };
      failure = typeof code === "string" ? code : name;
    }
    asked.push({ kind, dueMs, latencyMs: performance.now() - dueMs, failure });
  }

  async function goOn(): Promise<void> {
    const startMs = performance.now();
    for (let sent = 0; !isOver; sent++) {
      const dueMs = startMs + (sent * 1000) / requestsPerSecond;
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await Bun.sleep(waitMs);
      const request = ask(KINDS[sent % KINDS.length]!, dueMs).finally(() => underWay.delete(request));
      underWay.add(request);
    }
    while (underWay.size > 0) await Promise.all(underWay);
  }

  const gone = goOn();
  return {
    async stop() {
      isOver = true;
      await gone;
      return asked;
    },
  };
}

/** Of a device at random, at a place at random. */
function requestOf(kind: Kind, random: Random): [path: string, body?: string] {
  const device = bystanderDevice(Math.floor(random() * BYSTANDER_DEVICES));
  const nowMs = Date.now();
  const place = () => ({
    latitude: BYSTANDER_PLACE.latitude + (random() - 0.5) * 0.3,
    longitude: BYSTANDER_PLACE.longitude + (random() - 0.5) * 0.3,
  });
  switch (kind) {
    case "nearby": {
      const { latitude, longitude } = place();
      const limit = pick(random, [10, 100]);
      return [
        `/api/v1/devices/nearby?latitude=${latitude}&longitude=${longitude}&limit=${limit}&max_age_hours=72`,
      ];
    }
    case "current":
      return [`/api/v1/devices/${device}/locations/current`];
    case "history": {
      const days = `start_date=${dayName(2, nowMs)}&end_date=${dayName(0, nowMs)}`;
      return [`/api/v1/devices/${device}/locations/history?${days}`];
    }
    case "archive": {
      const day = dayName(ARCHIVED_DAYS_AGO_MIN, nowMs);
      return [`/api/v1/devices/${device}/locations/history?start_date=${day}&end_date=${day}`];
    }
    case "reports": {
      const locations = Array.from({ length: REPORTS_A_REQUEST }, (_, row) => ({
        device_id: bystanderDevice(Math.floor(random() * BYSTANDER_DEVICES)),
        timestamp: nowMs - row,
        ...place(),
      }));
      return ["/ingest/v1/locations", JSON.stringify({ locations })];
    }
  }
}

import { createRandom, pick, type Random } from "../fleets/random.ts";
import { getRequest } from "../servers/load.ts";
import { ARCHIVED_DAYS_AGO_MIN, dayName } from "./attack/attacked-data.ts";

/** The well-behaved app's data: devices around a place, each with a path today and on one archived day. */
export const BYSTANDER_DEVICES = 500;
export const BYSTANDER_PLACE = { latitude: 42.36, longitude: -71.06 } as const;
const REPORTS_A_REQUEST = 20;

export function bystanderDevice(index: number): string {
  return `device-${String(index).padStart(6, "0")}`;
}

/** A request of the well-behaved app. */
export interface Asked {
  readonly kind: Kind;
  /** When it was due, by `performance.now()`. */
  readonly dueMs: number;
  /** The time from when it was due until the complete answer or the failure. */
  readonly latencyMs: number;
  /** The result other than a 200, or null. */
  readonly failure: string | null;
}

/** One request in ten concerns archived days. */
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

/** Longer than any client waits. */
const PATIENCE_MS = 30_000;

/** Ordinary requests for warming up a server. */
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
  /** Stops sending, and waits for pending requests. */
  stop(): Promise<readonly Asked[]>;
}

/**
 * The well-behaved app sends queries and reports at a modest, fixed rate, so that a stalled server is charged for every
 * delayed request.
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

/** A request for a random device or place. */
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

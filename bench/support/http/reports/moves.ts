import type { Metropolis } from "../../fleets/metropolis.ts";
import { createRandom } from "../../fleets/random.ts";
import { postRequest } from "../../servers/load.ts";
import type { City } from "../city.ts";

/** The default number of reports per request. */
export const BATCH = 100;

const BLOCK_DECIMALS = 3; // Constant decimals of six: changes are below a thousandth of a degree, some 100 m.
const DIGIT_0 = 0x30;

/** Endless requests with reports of moving devices; a repeated one has new positions and times. */
export interface Moves {
  /** Returns the next request, with positions of now. */
  next(nowMs: number): Uint8Array;
  /** The first device of the last request, and its time. */
  last(): { readonly deviceId: string; readonly timestampMs: number };
}

export interface MovesOptions {
  readonly url: string;
  readonly key: string;
  readonly metropolis: Metropolis;
  /** The indexes of moving devices. */
  readonly devices: readonly number[];
  readonly batchSize: number;
  readonly seed: number;
}

/**
 * Bodies are encoded once, with numbers of fixed width, and only digits are overwritten: encoding 20,000 reports a
 * second would use much of the client's core.
 */
export function createMoves(options: MovesOptions): Moves {
  const { url, key, metropolis, devices, batchSize, seed } = options;
  const random = createRandom(seed);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const batches = Array.from({ length: Math.ceil(devices.length / batchSize) }, (_, batch) => {
    const members = devices.slice(batch * batchSize, (batch + 1) * batchSize);
    const body = new TextEncoder().encode(
      `{"locations":[${members.map((index) => reportText(metropolis, index)).join(",")}]}`,
    );
    const request = postRequest(`${url}/ingest/v1/locations`, headers, body);
    return { request, deviceId: metropolis.deviceId(members[0]!), places: placesOf(request) };
  });
  let sent = 0;
  let last = { deviceId: "", timestampMs: 0 };

  return {
    next(nowMs) {
      const { request, deviceId, places } = batches[sent++ % batches.length]!;
      for (const { timestamp, latitude, longitude } of places) {
        writeDigits(request, timestamp, 13, nowMs);
        writeDigits(request, latitude - BLOCK_DECIMALS, BLOCK_DECIMALS, Math.floor(random() * 1000));
        writeDigits(request, longitude - BLOCK_DECIMALS, BLOCK_DECIMALS, Math.floor(random() * 1000));
      }
      last = { deviceId, timestampMs: nowMs };
      return request.slice(); // A socket may still use the bytes at their next turn.
    },
    last: () => last,
  };
}

/** Moves only live devices: moving others would change the number of nearby ones. */
export function movesOf({ metropolis, live }: City, url: string, key: string, seed: number): Moves {
  return createMoves({ url, key, metropolis, devices: live, batchSize: BATCH, seed });
}

function reportText(metropolis: Metropolis, index: number): string {
  const { timestamp, latitude, longitude, ...others } = metropolis.report(index);
  const moving = `"timestamp":${timestamp},"latitude":${Number(latitude).toFixed(6)},"longitude":${Number(longitude).toFixed(6)}`;
  return `{${moving},${JSON.stringify(others).slice(1)}`;
}

interface Places {
  /** The offsets of the timestamp's first digit, and of the degrees' ends. */
  readonly timestamp: number;
  readonly latitude: number;
  readonly longitude: number;
}

function placesOf(request: Uint8Array): Places[] {
  const text = Buffer.from(request).toString("latin1");
  return [...text.matchAll(/"timestamp":\d{13},"latitude":-?\d+\.\d{6},"longitude":-?\d+\.\d{6}/g)].map(
    ({ 0: moving, index }) => ({
      timestamp: index + '"timestamp":'.length,
      latitude: index + moving.indexOf(',"longitude"'),
      longitude: index + moving.length,
    }),
  );
}

function writeDigits(bytes: Uint8Array, at: number, digits: number, value: number): void {
  let rest = value;
  for (let place = at + digits - 1; place >= at; place--) {
    bytes[place] = DIGIT_0 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}

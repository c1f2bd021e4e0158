import type { Metropolis } from "../../fleets/metropolis.ts";
import { createRandom } from "../../fleets/random.ts";
import { postRequest } from "../../servers/load.ts";
import type { City } from "../city.ts";

/** Reports of a request, where nothing else is asked for. */
export const BATCH = 100;

const BLOCK_DECIMALS = 3; // Of six: what changes is below a thousandth of a degree, some 100 m.
const DIGIT_0 = 0x30;

/** Endless reports of devices that move, as requests; one that is sent again has other positions and times. */
export interface Moves {
  /** The next request, with positions as of now. */
  next(nowMs: number): Uint8Array;
  /** The device that the last request began with, and the time it carried. */
  last(): { readonly deviceId: string; readonly timestampMs: number };
}

export interface MovesOptions {
  readonly url: string;
  readonly key: string;
  readonly metropolis: Metropolis;
  /** Who moves, by index. */
  readonly devices: readonly number[];
  readonly batchSize: number;
  readonly seed: number;
}

/**
 * Bodies are encoded once, with numbers of fixed width, and only those digits are written over: encoding 20,000 reports
 * a second would take a good part of the client's core.
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
      return request.slice(); // A socket may still hold the bytes when their turn comes again.
    },
    last: () => last,
  };
}

/** Of devices that are heard of: were others to move, more of them would be near anybody than before. */
export function movesOf({ metropolis, live }: City, url: string, key: string, seed: number): Moves {
  return createMoves({ url, key, metropolis, devices: live, batchSize: BATCH, seed });
}

function reportText(metropolis: Metropolis, index: number): string {
  const { timestamp, latitude, longitude, ...others } = metropolis.report(index);
  const moving = `"timestamp":${timestamp},"latitude":${Number(latitude).toFixed(6)},"longitude":${Number(longitude).toFixed(6)}`;
  return `{${moving},${JSON.stringify(others).slice(1)}`;
}

interface Places {
  /** Where the digits of the timestamp begin, and where those of both degrees end. */
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

import { claimedMs, type Point } from "../phone/point.ts";

/* How clients write times, speeds and names. */

const KNOTS_PER_MPS = 1 / 0.514444;
const KMH_PER_MPS = 3.6;

export function unixSeconds(point: Point): number {
  return claimedMs(point) / 1000;
}

/** `2026-02-02T02:40:00Z`, with milliseconds where asked for. */
export function isoTime(point: Point, decimals: 0 | 3 = 0): string {
  const text = new Date(claimedMs(point)).toISOString();
  return decimals === 3 ? text : `${text.slice(0, 19)}Z`;
}

export function knots({ speedMps }: Point): number {
  return speedMps * KNOTS_PER_MPS;
}

/** Cut, as Android's Java does it. */
export function wholeKmh({ speedMps }: Point): number {
  return Math.trunc(speedMps * KMH_PER_MPS);
}

export function basicAuthorization(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}

export function queryText(parameters: Readonly<Record<string, string | number>>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
}

/** JSON that breaks off: no server can read it. */
export function brokenJson(point: Point): string {
  return `{"tst":${unixSeconds(point)},"lat":`;
}

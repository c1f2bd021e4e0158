import { getRequest, postRequest } from "../../servers/load.ts";
import type { Target } from "../shape.ts";

/** Encoded requests of an attacker. */

const INGEST = "/ingest/v1/locations";

export function question(target: Target, path: string): Uint8Array {
  return getRequest(target.url + path, { authorization: `Bearer ${target.key}` });
}

export type BodyHeaders = Readonly<Record<string, string>>;

export function reports(target: Target, body: Uint8Array, headers: BodyHeaders = {}): Uint8Array {
  return postRequest(target.url + INGEST, bodyHeaders(target, headers), body);
}

/** The head of a request whose body is sent separately, or never. */
export function reportsHead(target: Target, headers: BodyHeaders): string {
  const { host } = new URL(target.url);
  const lines = Object.entries({ host, ...bodyHeaders(target, headers) });
  return `POST ${INGEST} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
}

function bodyHeaders({ key }: Target, headers: BodyHeaders): BodyHeaders {
  return { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers };
}

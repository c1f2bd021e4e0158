import { type Client, type ClientMessage, MESSAGE_HEADERS } from "../../clients/client.ts";
import { pathnameOf } from "../pathname.ts";
import { type Credentials, credentialsOf, KEY_PARAMETERS } from "./presented-key.ts";

/** One path and method of a client. */
export interface ClientRoute {
  readonly method: "GET" | "POST";
  /** `:key` and `:device` are its variable segments. */
  readonly path: string;
  readonly client: Client;
}

/** What a request says besides its body. */
export interface ClientRequest {
  readonly headers: ClientMessage["headers"];
  readonly credentials: Credentials;
  /** Parameters of the URL, without those that hold keys. */
  readonly query: URLSearchParams;
  /** The device that the path names; null where it names none. */
  readonly device: string | null;
}

/** Makes what reads the requests of a route. */
export function createRequestReader({ path }: ClientRoute): (request: Request) => ClientRequest {
  const segments = path.split("/");
  const [keyIndex, deviceIndex] = [segments.indexOf(":key"), segments.indexOf(":device")];

  return function readRequest({ url, headers }) {
    const texts = keyIndex < 0 ? [] : pathnameOf(url).split("/");
    const query = queryOf(url);
    const authorization = headers.get("authorization");
    const credentials = credentialsOf(authorization, segmentAt(texts, keyIndex), query);
    for (const name of KEY_PARAMETERS) query.delete(name);
    return { headers: messageHeaders(headers), credentials, query, device: segmentAt(texts, deviceIndex) };
  };
}

function queryOf(url: string): URLSearchParams {
  const start = url.indexOf("?");
  return new URLSearchParams(start < 0 ? "" : url.slice(start + 1).split("#", 1)[0]);
}

/** Percent-decoded, or as it was sent where that can't be: it is somebody's name all the same. */
function segmentAt(texts: readonly string[], index: number): string | null {
  const text = index < 0 ? undefined : texts[index];
  if (text === undefined || text === "") return null;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Those of a request that say something about a report. */
export function messageHeaders(headers: Headers): ClientMessage["headers"] {
  const kept: Record<string, string> = {};
  for (const name of MESSAGE_HEADERS) {
    const value = headers.get(name);
    if (value !== null) kept[name] = value;
  }
  return kept;
}

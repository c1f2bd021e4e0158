import { Buffer } from "node:buffer";
import { KEY_PREFIX } from "../../auth/api-key.ts";
import { type Client, type ClientMessage, MESSAGE_HEADERS } from "../../clients/client.ts";
import { parseSpeedUnit, SPEED_UNITS, type SpeedUnit } from "../../clients/reading/speed.ts";
import { ok } from "../../lib/result.ts";
import { invalid, type Parameter } from "../parameters/parameter.ts";
import { textSegment } from "../parameters/path-parameter.ts";
import { pathnameOf } from "../request.ts";

/*
 * What the request of a client says besides its body: the key in any of the places where clients put it, the device,
 * and what people add to the URL.
 */

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

/** The credentials that a request of a client carries. */
export interface Credentials {
  /** Distinct texts that it gives as a key, wherever. More than one is as wrong as none. */
  readonly keyTexts: readonly string[];
  /** The name beside a password; null where there is none, or where it is a key itself. */
  readonly basicUser: string | null;
}

/** Parameters of the URL that hold keys: Dawarich's and Colota's name, and Overland's. */
const KEY_PARAMETERS = ["api_key", "token"] as const;

/** Every channel that some client has for a key. Most have only one, and it is not the same for all. */
export function credentialsOf(
  authorization: string | null,
  pathKey: string | null,
  query: URLSearchParams,
): Credentials {
  const { keyTexts, basicUser } = fromHeader(authorization);
  const ofQuery = KEY_PARAMETERS.flatMap((name) => query.getAll(name));
  // No key has blanks, and who pastes one on a phone easily types one beside it.
  const given = [...keyTexts, ...(pathKey === null ? [] : [pathKey]), ...ofQuery].map((text) => text.trim());
  return { keyTexts: [...new Set(given.filter((text) => text !== ""))], basicUser };
}

const NOBODY: Credentials = { keyTexts: [], basicUser: null };

/** A scheme that is none of ours says nothing: a proxy may have put it there. */
function fromHeader(authorization: string | null): Credentials {
  const [, scheme = "", credentials = ""] = /^(bearer|basic) +(\S.*)$/i.exec(authorization ?? "") ?? [];
  switch (scheme.toLowerCase()) {
    case "bearer":
      return { keyTexts: [credentials], basicUser: null };
    case "basic":
      return fromUserAndPassword(decodeBasic(credentials));
    default:
      return NOBODY;
  }
}

/** Overland, in its mode for OwnTracks, sends `Basic KEY:` as it is; base64 has no underscore. */
function decodeBasic(credentials: string): string {
  return isLikeKey(credentials) ? credentials : Buffer.from(credentials, "base64").toString("utf8");
}

function fromUserAndPassword(text: string): Credentials {
  const colon = text.indexOf(":");
  const user = colon < 0 ? text : text.slice(0, colon);
  const password = colon < 0 ? "" : text.slice(colon + 1);
  if (isLikeKey(user)) return { keyTexts: [user, password], basicUser: null };
  return { keyTexts: [password], basicUser: user === "" ? null : user };
}

function isLikeKey(text: string): boolean {
  return text.startsWith(KEY_PREFIX);
}

function name(description: string): Parameter<string | null> {
  return {
    description,
    required: false,
    schema: { type: "string" },
    parse: (_name, text) => ok(text === "" ? null : text),
  };
}

const speedUnit: Parameter<SpeedUnit | null> = {
  description: "What the client's speeds are in, where they turn out to be other than usual for it.",
  required: false,
  schema: { type: "string", enum: SPEED_UNITS },
  parse(name, text) {
    if (text === null || text === "") return ok(null);
    const unit = parseSpeedUnit(text);
    return unit === null ? invalid(`${name} must be ${SPEED_UNITS.join(", ")}`) : ok(unit);
  },
};

/** What people add to the URL that they type into a client: whose device it is, and the unit of its speeds. */
export const ADDRESS_PARAMETERS = {
  device_id: name("The device that reports, whatever the client calls it."),
  user_id: name("The device's user, whatever the client calls it."),
  speed_unit: speedUnit,
};

/** Read by the gate, not as parameters; here they are described. */
export const KEY_PARAMETERS_DESCRIBED = {
  api_key: name("The key, for clients that can't send it in a header."),
  token: name("The same under another name."),
};

export const keySegment = textSegment("The key, for clients that have room for nothing but a URL.", "wh_…");
export const deviceSegment = textSegment("The device that reports, whatever the client calls it.", "pixel7");

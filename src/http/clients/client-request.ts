import { Buffer } from "node:buffer";
import { KEY_PREFIX } from "../../auth/api-key.ts";
import { type Client, type ClientMessage, MESSAGE_HEADERS } from "../../clients/client.ts";
import { parseSpeedUnit, SPEED_UNITS, type SpeedUnit } from "../../clients/reading/speed.ts";
import { ok } from "../../lib/result.ts";
import { percentDecoded } from "../../lib/text/percent.ts";
import { invalid, type Parameter } from "../parameters/parameter.ts";
import { textSegment } from "../parameters/path-parameter.ts";
import { pathnameOf, segmentAt } from "../request.ts";

/* Reads everything of a client's request but its body: the key in any place, the device, and the URL's parameters. */

export interface ClientRoute {
  readonly method: "GET" | "POST";
  /** `:key` and `:device` are its variable segments. */
  readonly path: string;
  readonly client: Client;
}

export interface ClientRequest {
  readonly headers: ClientMessage["headers"];
  readonly credentials: Credentials;
  readonly query: URLSearchParams;
  /** The device in the path; null if there is none. */
  readonly device: string | null;
}

export function createRequestReader({ path }: ClientRoute): (request: Request) => ClientRequest {
  const segments = path.split("/");
  const [keyIndex, deviceIndex] = [segments.indexOf(":key"), segments.indexOf(":device")];

  return function readRequest({ url, headers }) {
    const pathname = keyIndex < 0 ? "" : pathnameOf(url);
    const query = queryOf(url);
    const authorization = headers.get("authorization");
    const credentials = credentialsOf(authorization, decodedSegment(pathname, keyIndex), query);
    for (const name of KEY_PARAMETERS) query.delete(name);
    return {
      headers: messageHeaders(headers),
      credentials,
      query,
      device: decodedSegment(pathname, deviceIndex),
    };
  };
}

function queryOf(url: string): URLSearchParams {
  const start = url.indexOf("?");
  return new URLSearchParams(start < 0 ? "" : url.slice(start + 1).split("#", 1)[0]);
}

/** Percent-decoded, or as sent if that is invalid, because a name is needed in any case. */
function decodedSegment(pathname: string, index: number): string | null {
  const text = index < 0 ? "" : segmentAt(pathname, index);
  return text === "" ? null : (percentDecoded(text) ?? text);
}

/** The headers that describe a report. */
export function messageHeaders(headers: Headers): ClientMessage["headers"] {
  const relevant: Record<string, string> = {};
  for (const name of MESSAGE_HEADERS) {
    const value = headers.get(name);
    if (value !== null) relevant[name] = value;
  }
  return relevant;
}

export interface Credentials {
  /** Distinct texts sent as a key, in any place. More than one is as wrong as none. */
  readonly keyTexts: readonly string[];
  /** The user name of Basic authentication; null if there is none, or if it is a key. */
  readonly basicUser: string | null;
}

/** URL parameters that contain keys: Dawarich's and Colota's name, and Overland's. */
const KEY_PARAMETERS = ["api_key", "token"] as const;

/** Reads every place where some client puts its key. Most clients have only one such place. */
export function credentialsOf(
  authorization: string | null,
  pathKey: string | null,
  query: URLSearchParams,
): Credentials {
  const { keyTexts, basicUser } = fromHeader(authorization);
  const ofQuery = KEY_PARAMETERS.flatMap((name) => query.getAll(name));
  // No key has blanks, but a person who pastes one on a phone easily adds one.
  const all = [...keyTexts, ...(pathKey === null ? [] : [pathKey]), ...ofQuery].map((text) => text.trim());
  return { keyTexts: [...new Set(all.filter((text) => text !== ""))], basicUser };
}

const NO_CREDENTIALS: Credentials = { keyTexts: [], basicUser: null };

/** Ignores other schemes: a proxy may have added them. */
function fromHeader(authorization: string | null): Credentials {
  const [, scheme = "", credentials = ""] = /^(bearer|basic) +(\S.*)$/i.exec(authorization ?? "") ?? [];
  switch (scheme.toLowerCase()) {
    case "bearer":
      return { keyTexts: [credentials], basicUser: null };
    case "basic":
      return fromUserAndPassword(decodeBasic(credentials));
    default:
      return NO_CREDENTIALS;
  }
}

/** Overland's OwnTracks mode sends `Basic KEY:` without base64, which has no underscore. */
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
  description: "The unit of the client's speeds, if it differs from the client's usual one.",
  required: false,
  schema: { type: "string", enum: SPEED_UNITS },
  parse(name, text) {
    if (text === null || text === "") return ok(null);
    const unit = parseSpeedUnit(text);
    return unit === null ? invalid(`${name} must be ${SPEED_UNITS.join(", ")}`) : ok(unit);
  },
};

/** Parameters that people add to the URL in a client: the device, its user, and the unit of speeds. */
export const ADDRESS_PARAMETERS = {
  device_id: name("The device that reports; overrides the client's name."),
  user_id: name("The device's user; overrides the client's name."),
  speed_unit: speedUnit,
};

/** Described here, but read by the gate. */
export const KEY_PARAMETERS_DESCRIBED = {
  api_key: name("The key, for clients that can't send it in a header."),
  token: name("Another name for `api_key`."),
};

export const keySegment = textSegment("The key, for clients that can set only a URL.", "wh_…");
export const deviceSegment = textSegment("The device that reports; overrides the client's name.", "pixel7");

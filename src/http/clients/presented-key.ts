import { Buffer } from "node:buffer";
import { KEY_PREFIX } from "../../auth/api-key.ts";

/** What a request of a client says of who sends it. */
export interface Credentials {
  /** Distinct texts that it gives as a key, wherever. More than one is as wrong as none. */
  readonly keyTexts: readonly string[];
  /** The name beside a password; null where there is none, or where it is a key itself. */
  readonly basicUser: string | null;
}

/** Parameters of the URL that hold keys: Dawarich's and Colota's name, and Overland's. */
export const KEY_PARAMETERS = ["api_key", "token"] as const;

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

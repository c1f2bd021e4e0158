/** Every kind of failure by the code in `Wherehouse-Error-Code`: its status, and what it means. */
export const ERROR_CODES = {
  AUTH_001: { status: 401, meaning: "No key was sent." },
  AUTH_002: { status: 401, meaning: "The key is not known here." },
  AUTH_003: { status: 401, meaning: "The key was revoked." },
  AUTH_004: { status: 401, meaning: "The key has expired." },
  AUTH_005: { status: 403, meaning: "The key lacks a permission." },
  AUTH_006: {
    status: 403,
    meaning: "The key is bound to a device or user, and this is about all of the app.",
  },
  AUTH_007: { status: 401, meaning: "The session of the map page is not known here." },
  AUTH_008: { status: 401, meaning: "The session of the map page has ended." },
  AUTH_009: { status: 401, meaning: "Nobody is signed in on the map page." },
  AUTH_010: { status: 403, meaning: "Only the map page may ask this." },
  AUTH_011: { status: 401, meaning: "The code of a sign-in link is unknown, used or too old." },
  RATE_001: { status: 429, meaning: "More requests than the key's tier allows." },
  PARAMETER_001: { status: 400, meaning: "A parameter, a header or a part of the path is invalid." },
  PARAMETER_002: { status: 400, meaning: "The time zone is none that is known." },
  PARAMETER_003: { status: 400, meaning: "The user id is empty, blank or ANONYMOUS." },
  BODY_001: { status: 400, meaning: "The body can't be read." },
  BODY_002: { status: 400, meaning: "The body ended too early." },
  BODY_003: { status: 413, meaning: "The body is too large." },
  BODY_004: { status: 415, meaning: "The media type or content encoding is none that is taken here." },
  NOT_FOUND_001: { status: 404, meaning: "There is nothing at this path." },
  NOT_FOUND_002: { status: 404, meaning: "The app has no such device." },
  NOT_FOUND_003: { status: 404, meaning: "The quarantine of the app has no such entry." },
  NOT_FOUND_004: { status: 404, meaning: "The map has no such tile." },
  NOT_FOUND_005: { status: 404, meaning: "A file to copy is no longer there." },
  NOT_FOUND_006: { status: 404, meaning: "There is no such key among those that the page's key made." },
  METHOD_001: { status: 405, meaning: "The path takes other methods." },
  CONFLICT_001: { status: 409, meaning: "The server is no node of a cluster." },
  CONFLICT_002: { status: 409, meaning: "Another node was asked than the one whose copy was begun." },
  CONFLICT_003: { status: 409, meaning: "Too many keys were made with one key." },
  SERVER_001: { status: 500, meaning: "The server failed; its log says more under the request's id." },
  SERVER_002: { status: 500, meaning: "The archive has lost records that the answer needs." },
  UNAVAILABLE_001: { status: 503, meaning: "The server is starting, stopping, full, overloaded or behind." },
} as const satisfies Readonly<Record<string, { readonly status: number; readonly meaning: string }>>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** The codes as a table of Markdown, for the document and docs/asking.md. */
export function errorCodeTable(): string {
  const rows = Object.entries(ERROR_CODES).map(
    ([code, { status, meaning }]) => `| \`${code}\` | ${status} | ${meaning} |`,
  );
  return ["| code | status | what it means |", "|---|---|---|", ...rows].join("\n");
}

/** The header of a failure. */
export function codeHeader(code: ErrorCode): { readonly "wherehouse-error-code": ErrorCode } {
  return { "wherehouse-error-code": code };
}

/* Why a request failed, in words without addresses. */

const PHRASES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was closed",
  EPIPE: "the connection was closed",
  ENOTFOUND: "the name has no address",
  EAI_AGAIN: "the name could not be looked up",
  EHOSTUNREACH: "the address can't be reached",
  ENETUNREACH: "the address can't be reached",
  ETIMEDOUT: "the connection took too long",
};

/** The sender itself ended the request. */
export class EndedError extends Error {}

/** Messages of the runtimes name addresses, so their codes count. */
export function phraseOf(error: unknown): string {
  if (error instanceof EndedError) return error.message;
  const { code } = error as { readonly code?: unknown };
  if (typeof code !== "string") return "the request failed";
  if (/CERT|SSL|TLS|ALTNAME|SIGNED|ISSUER/.test(code)) return `the certificate is not valid (${code})`;
  return PHRASES[code] ?? `the request failed (${code})`;
}

/** Why a server that was asked over HTTP gave no answer, as a sentence that says what to look at. */
export function noAnswer(url: string, cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : null;
  switch (code) {
    case "UnexpectedRedirect":
      return `${url} redirects, and a key must not follow: give the address that it redirects to.`;
    case "EPROTO":
      return `${url} answers without TLS: did you mean http://?`;
    default:
      return `Nobody answers at ${url}${code === null ? "" : ` (${code})`}; is the server running there?`;
  }
}

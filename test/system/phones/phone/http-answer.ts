/** An answer as it came over the wire. */
export interface HttpAnswer {
  readonly status: number;
  /** Names in small letters. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** Whether the connection ends with it. */
  readonly closes: boolean;
}

/** The answer, once all of it is there; each character of the text is a byte. */
export function readAnswer(text: string): HttpAnswer | null {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd === -1) return null;
  const [first = "", ...lines] = text.slice(0, headEnd).split("\r\n");
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const rest = text.slice(headEnd + 4);
  const body = headers.get("transfer-encoding") === "chunked" ? joinChunks(rest) : plainBody(rest, headers);
  if (body === null) return null;
  return {
    status: Number(first.split(" ")[1]),
    headers,
    body,
    closes: headers.get("connection") === "close",
  };
}

function plainBody(rest: string, headers: ReadonlyMap<string, string>): string | null {
  const length = Number(headers.get("content-length") ?? 0);
  return rest.length < length ? null : rest.slice(0, length);
}

function joinChunks(rest: string): string | null {
  let body = "";
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf("\r\n", at);
    if (lineEnd === -1) return null;
    const size = Number.parseInt(rest.slice(at, lineEnd), 16);
    const end = lineEnd + 2 + size + 2;
    if (rest.length < end) return null;
    if (size === 0) return body;
    body += rest.slice(lineEnd + 2, end - 2);
    at = end;
  }
}

/* A web server of one file, as a function from a request to its answer. */

export interface RangeServer {
  /** May be replaced, as by an upload. */
  bytes: Uint8Array<ArrayBuffer>;
  etag: string | null;
  /** The ranges of all requests, start and end included. */
  readonly requests: [first: number, last: number][];
  /** Answers in place of the server; null leaves the request to it. */
  intercept: (first: number, last: number, count: number) => Response | null;
  answer(request: Request): Response;
  /** Like `fetch`, without a network. */
  fetch(url: string, init: RequestInit): Promise<Response>;
}

export function createRangeServer(bytes: Uint8Array<ArrayBuffer>): RangeServer {
  const server: RangeServer = {
    bytes,
    etag: '"1"',
    requests: [],
    intercept: () => null,
    answer(request) {
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get("range") ?? "")!;
      server.requests.push([Number(first), Number(last)]);
      const answer = server.intercept(Number(first), Number(last), server.requests.length);
      return answer ?? partOf(server, Number(first), Number(last));
    },
    fetch: async (url, init) => {
      init.signal?.throwIfAborted();
      return server.answer(new Request(url, { ...init, signal: null }));
    },
  };
  return server;
}

/** A right answer, apart from the headers that are replaced. */
export function partOf(
  { bytes, etag }: Pick<RangeServer, "bytes" | "etag">,
  first: number,
  last: number,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const part = bytes.slice(first, last + 1);
  return new Response(part, {
    status: 206,
    headers: {
      "content-range": `bytes ${first}-${first + part.length - 1}/${bytes.length}`,
      ...(etag === null ? {} : { etag }),
      ...headers,
    },
  });
}

import { connect, type Socket } from "node:net";

/* The result of a closed-loop load. */

export interface Load {
  readonly requestsPerSecond: number;
  /** Sorted. */
  readonly latenciesMs: readonly number[];
}

export interface LoadOptions {
  readonly url: string;
  readonly connections: number;
  /** The next encoded request of a connection; null ends the connection. */
  next(): Uint8Array | null;
}

/** Limits a source of requests to some seconds. */
export function forSeconds(seconds: number, next: () => Uint8Array): () => Uint8Array | null {
  const endMs = performance.now() + seconds * 1000;
  return () => (performance.now() < endMs ? next() : null);
}

/**
 * Runs a closed-loop load over plain sockets: each connection sends its next request after the last answer. Answers are
 * only counted, so that the client uses little of the server's core; all must have status 200.
 */
export async function measureLoad({ url, connections, next }: LoadOptions): Promise<Load> {
  const { hostname, port } = new URL(url);
  const latenciesMs: number[] = [];
  const startMs = performance.now();
  await Promise.all(
    Array.from({ length: connections }, () =>
      runConnection(connect(Number(port), hostname), next, latenciesMs),
    ),
  );
  const elapsedSeconds = (performance.now() - startMs) / 1000;
  return {
    requestsPerSecond: latenciesMs.length / elapsedSeconds,
    latenciesMs: latenciesMs.sort((a, b) => a - b),
  };
}

function runConnection(socket: Socket, next: () => Uint8Array | null, latenciesMs: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentMs = 0;
    let missing = 0; // Remaining bytes of the body.
    let begun: Buffer | null = null; // An incomplete head, which is rare.
    const send = () => {
      const bytes = next();
      if (bytes === null) {
        socket.end(resolve);
        return;
      }
      sentMs = performance.now();
      socket.write(bytes);
    };
    const answered = () => {
      latenciesMs.push(performance.now() - sentMs);
      send();
    };
    socket.on("connect", send);
    socket.on("error", reject);
    socket.on("data", (piece: Buffer) => {
      const bytes: Buffer = begun === null ? piece : Buffer.concat([begun, piece]);
      begun = null;
      if (missing === 0) {
        const headEnd = bytes.indexOf("\r\n\r\n");
        if (headEnd < 0) {
          begun = bytes;
          return;
        }
        const head = bytes.toString("latin1", 0, headEnd);
        if (!head.startsWith("HTTP/1.1 200")) {
          reject(new Error(`not a 200: ${bytes.toString("utf8", 0, 400)}`));
          socket.destroy();
          return;
        }
        const length = /content-length: (\d+)/i.exec(head);
        missing = Number(length![1]) - (bytes.length - headEnd - 4);
      } else {
        missing -= bytes.length;
      }
      if (missing === 0) answered();
    });
  });
}

/** A request without a body. */
export function getRequest(url: string, headers: Readonly<Record<string, string>>): Uint8Array {
  return request("GET", url, headers, new Uint8Array());
}

export function postRequest(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): Uint8Array {
  return request("POST", url, { ...headers, "content-length": String(body.length) }, body);
}

/** Bodies of full batches of this size; the last one may be smaller. */
export function batchBodies(reports: readonly object[], size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(reports.length / size) }, (_, index) => {
    const locations = reports.slice(index * size, (index + 1) * size);
    return new TextEncoder().encode(JSON.stringify({ locations }));
  });
}

function request(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): Uint8Array {
  const { host, pathname, search } = new URL(url);
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = new TextEncoder().encode(`${method} ${pathname}${search} HTTP/1.1\r\n${lines.join("")}\r\n`);
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes;
}

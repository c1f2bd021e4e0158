import { doneWithin, hostAndPort, ListenError, type Listener, type ListenOptions } from "./listen.ts";

/** The parts of Deno used here, declared because its own types would clash with Bun's. */
declare const Deno: {
  serve(
    options: { hostname: string; port: number; onListen(): void },
    handler: (request: Request) => Response | Promise<Response>,
  ): DenoServer;
};

interface DenoServer {
  readonly addr: { readonly port: number };
  /** Rejects if the server ended by itself. */
  readonly finished: Promise<void>;
  shutdown(): Promise<void>;
  unref(): void;
}

const RELISTEN_MS = 250;

export async function listenOnDeno({ hostname, port, fetch }: ListenOptions): Promise<Listener> {
  /** The pending answers to requests with a body. */
  const uploads = new Set<Promise<Response>>();
  let stopped: Promise<void> | null = null;
  let server = serve({ hostname, port, fetch: noteUpload });
  const boundPort = server.addr.port;
  keepListening(server);

  /** If the process runs out of descriptors, Deno stops accepting for good, so start another server. */
  function keepListening(running: DenoServer): void {
    running.finished.catch(async () => {
      while (stopped === null) {
        await new Promise((resolve) => setTimeout(resolve, RELISTEN_MS));
        try {
          server = serve({ hostname, port: boundPort, fetch: noteUpload });
          keepListening(server);
          return;
        } catch (error) {
          if (!(error instanceof ListenError)) throw error; // No descriptor is free yet: try again.
        }
      }
    });
  }

  function noteUpload(request: Request): Response | Promise<Response> {
    const answer = fetch(request);
    if (request.method === "GET" || answer instanceof Response) return answer;
    uploads.add(answer);
    return answer.finally(() => uploads.delete(answer));
  }

  async function stop(graceMs: number): Promise<void> {
    const startedMs = performance.now();
    // Shutting down discards bodies that are still arriving (Deno 2.9.6: `BadResource`), so wait for those first.
    await doneWithin(Promise.allSettled(uploads), graceMs);
    const restMs = Math.max(0, graceMs - (performance.now() - startedMs));
    // Aborting a server during shutdown crashes (`BadResource` again), so the rest is only released.
    if (!(await doneWithin(server.shutdown(), restMs))) server.unref();
  }

  return {
    hostname,
    port: boundPort,
    url: `http://${hostAndPort(hostname, boundPort)}`,
    stop: (graceMs) => {
      stopped ??= stop(graceMs);
      return stopped;
    },
  };
}

function serve({ hostname, port, fetch }: ListenOptions): DenoServer {
  try {
    // Without `onListen` Deno prints a line to stdout.
    return Deno.serve({ hostname, port, onListen() {} }, (request) =>
      fetch(request.url.startsWith("http://") ? request : withPlainOrigin(request)),
    );
  } catch (cause) {
    throw new ListenError(hostname, port, cause);
  }
}

/** Deno passes a target that is a whole URL on unchanged, in which the framework finds no path. */
function withPlainOrigin(request: Request): Request {
  const pathStart = request.url.indexOf("/", request.url.indexOf("://") + 3);
  return new Request(`http://localhost${pathStart < 0 ? "/" : request.url.slice(pathStart)}`, request);
}

import { lookup } from "node:dns/promises";
import { doneWithin, hostAndPort, ListenError, type Listener, type ListenOptions } from "./listen.ts";

/** The parts of Bun used here, declared so that Deno's type check can read this file too. */
declare const Bun: {
  serve(options: {
    hostname: string;
    port: number;
    maxRequestBodySize: number;
    idleTimeout: number;
    development: false;
    reusePort: false;
    fetch(request: Request, server: BunServer): Response | Promise<Response>;
  }): BunServer;
};

interface BunServer {
  readonly port: number;
  stop(closeActiveConnections: boolean): Promise<void>;
  /** Sets the idle timeout of the request's connection; 0 disables it. */
  timeout(request: Request, seconds: number): void;
}

/** Longer than the 60 s after which common load balancers drop an idle connection, so they close first. */
const IDLE_TIMEOUT_SECONDS = 75;

export async function listenOnBun(
  options: ListenOptions,
  idleSeconds = IDLE_TIMEOUT_SECONDS,
): Promise<Listener> {
  const { hostname, port } = options;
  await expectAddress(hostname, port);
  const server = serve(options, idleSeconds);
  let stopped: Promise<void> | null = null;

  async function stop(graceMs: number): Promise<void> {
    if (!(await doneWithin(server.stop(false), graceMs))) await server.stop(true);
  }

  return {
    hostname,
    port: server.port,
    url: `http://${hostAndPort(hostname, server.port)}`,
    stop: (graceMs) => {
      stopped ??= stop(graceMs);
      return stopped;
    },
  };
}

function serve({ hostname, port, fetch }: ListenOptions, idleSeconds: number): BunServer {
  /** Bun counts a connection as idle while its request is being answered, and would close it without an answer. */
  function answer(request: Request, server: BunServer): Response | Promise<Response> {
    const answered = fetch(request.url.startsWith("/") ? withOrigin(request) : request);
    if (answered instanceof Response) return answered;
    server.timeout(request, 0);
    return answered.finally(() => server.timeout(request, idleSeconds));
  }

  try {
    return Bun.serve({
      hostname,
      port,
      fetch: answer,
      // Bun would answer 413 itself, without our body; the routes count bytes as they read them.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      idleTimeout: idleSeconds,
      development: false,
      // Otherwise Bun shares the port with another server that asks for it, and neither notices.
      reusePort: false,
    });
  } catch (cause) {
    throw new ListenError(hostname, port, cause);
  }
}

/** If Bun can't resolve a name, its error has the code of an unrelated failure, so resolve it here first. */
async function expectAddress(hostname: string, port: number): Promise<void> {
  try {
    await lookup(hostname);
  } catch (cause) {
    throw new ListenError(hostname, port, cause);
  }
}

/** HTTP/1.0 requests may lack `Host`, as those of old load balancers do; Bun then gives the bare path as URL. */
function withOrigin(request: Request): Request {
  return new Request(`http://localhost${request.url}`, request);
}

import { doneWithin, hostAndPort, ListenError, type Listener, type ListenOptions } from "./listen.ts";

/** What is used of Deno, declared here because its own types would clash with the other runtime's. */
declare const Deno: {
  serve(
    options: { hostname: string; port: number; onListen(): void },
    handler: (request: Request) => Response | Promise<Response>,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void>; unref(): void };
};

export function listenOnDeno({ hostname, port, fetch }: ListenOptions): Listener {
  const server = serve({ hostname, port, fetch });
  let stopped: Promise<void> | null = null;

  async function stop(graceMs: number): Promise<void> {
    // Aborting a server that is shutting down crashes Deno 2.9.6 (`BadResource`), so the rest is only let go.
    if (!(await doneWithin(server.shutdown(), graceMs))) server.unref();
  }

  return {
    hostname,
    port: server.addr.port,
    url: `http://${hostAndPort(hostname, server.addr.port)}`,
    stop: (graceMs) => {
      stopped ??= stop(graceMs);
      return stopped;
    },
  };
}

function serve({ hostname, port, fetch }: ListenOptions) {
  try {
    // Without `onListen` Deno writes a line of its own to stdout.
    return Deno.serve({ hostname, port, onListen() {} }, (request) => fetch(request));
  } catch (cause) {
    throw new ListenError(hostname, port, cause);
  }
}

import { doneWithin, hostAndPort, ListenError, type Listener, type ListenOptions } from "./listen.ts";

/** What is used of Deno, declared here because its own types would clash with the other runtime's. */
declare const Deno: {
  serve(
    options: { hostname: string; port: number; onListen(): void },
    handler: (request: Request) => Response | Promise<Response>,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void>; unref(): void };
};

export function listenOnDeno({ hostname, port, fetch }: ListenOptions): Listener {
  /** Running requests that bring a body, by their answers. */
  const uploads = new Set<Promise<Response>>();
  const server = serve({ hostname, port, fetch: noteUpload });
  let stopped: Promise<void> | null = null;

  function noteUpload(request: Request): Response | Promise<Response> {
    const answer = fetch(request);
    if (request.method === "GET" || answer instanceof Response) return answer;
    uploads.add(answer);
    return answer.finally(() => uploads.delete(answer));
  }

  async function stop(graceMs: number): Promise<void> {
    const startedMs = performance.now();
    // Shutting down takes away the bodies that are still coming in (Deno 2.9.6: `BadResource`), so they go first.
    await doneWithin(Promise.allSettled(uploads), graceMs);
    const restMs = Math.max(0, graceMs - (performance.now() - startedMs));
    // Aborting a server that is shutting down crashes (`BadResource` again), so the rest is only let go.
    if (!(await doneWithin(server.shutdown(), restMs))) server.unref();
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

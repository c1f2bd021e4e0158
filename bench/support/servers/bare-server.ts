/**
 * The control of the HTTP benches: a bare `Bun.serve`. `bytes FILE` sends the file's bytes as JSON to every
 * request; `parse` parses each body as JSON and counts its reports, and does nothing else with it.
 */
const [mode, file] = process.argv.slice(2);

async function createHandler(): Promise<(request: Request) => Response | Promise<Response>> {
  if (mode === "parse") {
    return async (request) => {
      const { locations } = (await request.json()) as { locations: unknown[] };
      return Response.json({ accepted: locations.length });
    };
  }
  const body = await Bun.file(file!).bytes();
  return () => new Response(body, { headers: { "content-type": "application/json" } });
}

export const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  maxRequestBodySize: 1 << 30,
  fetch: await createHandler(),
});
console.log(`http://127.0.0.1:${server.port}`);

/**
 * The control of the HTTP benches: a bare `Bun.serve`. `bytes FILE [MICROS]` answers every request with the file as
 * JSON, after computing for that many microseconds; `parse` parses each body as JSON and only counts its reports.
 */
const [mode, file, micros = "0"] = process.argv.slice(2);

async function createHandler(): Promise<(request: Request) => Response | Promise<Response>> {
  if (mode === "parse") {
    return async (request) => {
      const { locations } = (await request.json()) as { locations: unknown[] };
      return Response.json({ accepted: locations.length });
    };
  }
  const body = await Bun.file(file!).bytes();
  const holdMs = Number(micros) / 1000;
  return () => {
    if (holdMs > 0) keepBusy(holdMs);
    return new Response(body, { headers: { "content-type": "application/json" } });
  };
}

function keepBusy(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

export const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  maxRequestBodySize: 1 << 30,
  fetch: await createHandler(),
});
console.log(`http://127.0.0.1:${server.port}`);

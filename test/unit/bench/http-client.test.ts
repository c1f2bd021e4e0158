import { expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { openHttpClient } from "../../../bench/support/servers/http-client.ts";
import * as fc from "../../support/fast-check.ts";
import { outcome } from "../../support/rejection.ts";
import { turns } from "../../support/turns.ts";

/*
 * What a bench counts must be whole answers, however the network cuts them: a server sends each answer in pieces, each
 * of which arrives on its own.
 */

interface CutServer extends AsyncDisposable {
  readonly url: string;
}

/** Answers each request with the next of these texts, in pieces of the sizes given, over and over. */
async function startCutServer(answers: readonly string[], sizes: readonly number[]): Promise<CutServer> {
  let answered = 0;
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    socket.on("data", async () => {
      const bytes = Buffer.from(answers[answered++]!);
      for (let start = 0, cut = 0; start < bytes.length; cut++) {
        const end = start + sizes[cut % sizes.length]!;
        socket.write(bytes.subarray(start, end));
        await turns(3); // The piece arrives before the next one is written.
        start = end;
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => closeServer(server) };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

const texts = fc.string({ unit: "binary", maxLength: 20 });
const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 30 });

test("openHttpClient() reads each answer to its end, wherever it is cut", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(texts, { minLength: 1, maxLength: 4 }), cuts, async (values, sizes) => {
      const answers = values.map((value) => {
        const body = JSON.stringify(value);
        return `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
      });
      await using server = await startCutServer(answers, sizes);
      const client = await openHttpClient(server.url);
      const read: unknown[] = [];
      for (const _ of values) read.push(JSON.parse((await client.ask(Buffer.from("?"))).toString()));
      client.close();
      expect(read).toEqual(values);
    }),
    { numRuns: 30 },
  );
});

test("openHttpClient() throws where the status is not 200", async () => {
  const refusal = "HTTP/1.1 429 Too Many Requests\r\ncontent-length: 2\r\n\r\n{}";
  await using server = await startCutServer([refusal], [100]);
  const client = await openHttpClient(server.url);
  expect(await outcome(client.ask(Buffer.from("?")))).toThrow("429");
  client.close();
});

test("openHttpClient() throws where the server has closed an idle connection", async () => {
  const server = createServer((socket) => socket.end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const client = await openHttpClient(`http://127.0.0.1:${port}`);
  await closeServer(server); // Waits for the connection's end.
  await turns();
  expect(await outcome(client.ask(Buffer.from("?")))).toThrow("closed the connection");
});

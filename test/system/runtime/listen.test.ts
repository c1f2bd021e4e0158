import { describe, expect, test } from "bun:test";
import { listenOnBun } from "../../../src/runtime/bun-listen.ts";
import { nativeDeno } from "../../support/native-deno.ts";
import { outcome } from "../../support/rejection.ts";
import { until } from "../../support/until.ts";
import { createAnswers } from "./listen-answer.ts";

interface Server {
  readonly url: string;
  /** Lets `/slow` be answered. */
  release(): void;
  /** Resolves when the server has stopped. */
  stop(): Promise<void>;
}

/** The shortest that Bun takes. */
const IDLE_SECONDS = 1;

const RUNTIMES = { Bun: startOnBun, Deno: startOnDeno };

for (const [name, start] of Object.entries(RUNTIMES)) {
  describe(`on ${name}`, () => {
    test("stop() accepts nothing more and lets running requests finish", async () => {
      const server = await start(0, 5000);
      expect(await fetchText(`${server.url}/`)).toBe("quick");
      const running = fetchText(`${server.url}/slow`);
      await fetchText(`${server.url}/`); // Answered after the slow request has arrived.
      const stopped = server.stop();
      expect(await Promise.race([running, untilRefused(server.url)])).toBe("refused");
      server.release();
      expect(await running).toBe("slow");
      await stopped;
    });

    test("stop() gives up on a request that goes on too long", async () => {
      const server = await start(0, 100);
      const running = fetchText(`${server.url}/hang`);
      await fetchText(`${server.url}/`);
      await server.stop();
      expect(await running).toBe("refused");
    });

    if (name === "Bun") {
      test("an answer that takes longer than a connection may be idle arrives", async () => {
        const server = await start(0, 100); // Deno has no such limit.
        expect(await fetchText(`${server.url}/slowest`)).toBe("slowest");
        await server.stop();
      });
    }

    test("a port in use is named, with what to do", async () => {
      const first = await listenOnBun({ hostname: "127.0.0.1", port: 0, fetch: createAnswers().answer });
      expect(await outcome(start(first.port, 0))).toThrow(
        `Cannot listen on 127.0.0.1:${first.port}: the port is in use. ` +
          "Stop the program that uses it, or choose another with --port.",
      );
      await first.stop(0);
    });

    test("a host that has no address is named, with what to do", async () => {
      expect(await outcome(start(0, 0, "nowhere.invalid"))).toThrow(
        'Cannot listen on nowhere.invalid:0: no address is known for the name "nowhere.invalid". ' +
          "Give an address of this machine with --host.",
      );
    });
  });
}

test("listenOnBun() closes a connection that is silent after its answer", async () => {
  const { answer, release } = createAnswers();
  release();
  const listener = await listenOnBun({ hostname: "127.0.0.1", port: 0, fetch: answer }, IDLE_SECONDS);
  const closed = Promise.withResolvers<string>();
  let said = "";
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: listener.port,
    socket: {
      data: (_socket, bytes) => {
        said += bytes.toString();
      },
      close: () => closed.resolve(said),
    },
  });
  socket.write("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
  expect(await closed.promise).toEndWith("slow");
  await listener.stop(0);
});

test("listenOnBun() hands over bodies beyond Bun's own limit of 128 MiB, for routes to refuse", async () => {
  const fetchBody = async (request: Request) =>
    Response.json({ own: true }, { status: request.body ? 413 : 200 });
  const listener = await listenOnBun({ hostname: "127.0.0.1", port: 0, fetch: fetchBody });
  const said = Promise.withResolvers<string>();
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: listener.port,
    socket: { data: (_socket, bytes) => said.resolve(bytes.toString()) },
  });
  socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${2 ** 32}\r\n\r\n{`);
  expect(await said.promise).toContain('{"own":true}');
  socket.end();
  await listener.stop(0);
});

async function untilRefused(url: string): Promise<string> {
  await until(async () => (await fetchText(`${url}/`)) === "refused");
  return "refused";
}

async function fetchText(url: string): Promise<string> {
  try {
    return await (await fetch(url)).text();
  } catch {
    return "refused";
  }
}

async function startOnBun(port: number, graceMs: number, hostname = "127.0.0.1"): Promise<Server> {
  const { answer, release } = createAnswers();
  const listener = await listenOnBun({ hostname, port, fetch: answer }, IDLE_SECONDS);
  return { url: listener.url, release, stop: () => listener.stop(graceMs) };
}

async function startOnDeno(port: number, graceMs: number, hostname = "127.0.0.1"): Promise<Server> {
  const script = `${import.meta.dir}/listen-on-deno.ts`;
  const command = [nativeDeno(), "run", "-A", script, String(port), String(graceMs), hostname];
  const child = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  const { value } = await child.stdout.getReader().read();
  const said = new TextDecoder().decode(value).trim();
  if (!said.startsWith("http")) throw new Error(said);
  return {
    url: said,
    release() {
      child.stdin.write("release\n");
      child.stdin.flush();
    },
    async stop() {
      child.stdin.write("stop\n");
      child.stdin.flush();
      await child.exited;
    },
  };
}

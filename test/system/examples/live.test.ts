import { afterAll, beforeAll, describe, expect } from "bun:test";
import { join } from "node:path";
import { nativeDeno } from "../../support/native-deno.ts";
import {
  closePlace,
  openPlace,
  RUNTIMES,
  readFirstKey,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { type Client, store } from "../support/client.ts";
import { test } from "../support/process-test.ts";

/* The readers of the live stream in examples/, before a server that comes and goes. */

const EXAMPLES = join(import.meta.dir, "../../../examples");
const TYPESCRIPT = join(EXAMPLES, "typescript/live.ts");
const PYTHON = Bun.which("python3");
if (PYTHON === null) console.warn("Left out: the Python reader, since there is no python3.");

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  "TypeScript on Bun": [process.execPath, TYPESCRIPT],
  "TypeScript on Deno": [nativeDeno(), "run", "--allow-net=127.0.0.1", "--allow-env", TYPESCRIPT],
  ...(PYTHON === null ? {} : { Python: [PYTHON, join(EXAMPLES, "python/live.py")] }),
};
const NAMES = Object.keys(COMMANDS);

const place = openPlace();
let server: ServerProcess;
let client: Client;
/** The readers reach the server by an address that stays. */
const front = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: passOn });

async function passOn(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const { headers, signal } = request;
  return fetch(server.url + pathname + search, { headers, signal }).catch(() =>
    Response.json({ success: false, message: "the server is away" }, { status: 502 }),
  );
}

beforeAll(async () => {
  server = await startReady(RUNTIMES[0]!, place);
  client = { url: server.url, key: readFirstKey(place) };
});

afterAll(async () => {
  await front.stop(true);
  await closePlace(place);
});

function start(name: string, key = client.key) {
  return Bun.spawn([...COMMANDS[name]!], {
    env: { ...process.env, NO_COLOR: "1", WHEREHOUSE_URL: front.url.origin, WHEREHOUSE_KEY: key },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

let latitude = 50;
const report = (device_id: string) =>
  store(client, [{ device_id, timestamp: Date.now(), latitude: latitude++ / 2, longitude: -2.5 }]);

describe("readers of the stream", () => {
  test.each(NAMES)(
    "%s shows what is there, what moves, and what moved while the server was away",
    async (name) => {
      await report("there");
      const child = start(name);
      const lines = linesOf(child.stdout);
      expect(await lines.until("there")).toMatch(/^there [\d.]+, -2.5$/);
      await report("moves");
      expect(await lines.until("moves")).toMatch(/^moves [\d.]+, -2.5$/);
      server.kill("SIGKILL");
      await server.ended;
      server = await startReady(RUNTIMES[0]!, place);
      client = { ...client, url: server.url };
      await report("back");
      expect(await lines.until("back")).toMatch(/^back [\d.]+, -2.5$/);
      child.kill();
      await child.exited;
    },
  );

  test.each(NAMES)("%s ends with the server's words where the key is wrong", async (name) => {
    const child = start(name, "wh_wrong");
    const error = await new Response(child.stderr).text();
    expect([await child.exited, error.trim()]).toEqual([1, "401: the API key is not known"]);
  });
});

/** What a program says, line by line. */
function linesOf(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let lines: string[] = [];
  let rest = "";
  return {
    /** The next line that begins with this word. */
    async until(word: string): Promise<string> {
      for (;;) {
        const found = lines.findIndex((line) => line.startsWith(`${word} `));
        if (found >= 0) return lines.splice(0, found + 1).at(-1)!;
        const { done, value } = await reader.read();
        if (done) throw new Error(`the program ended without ${word}`);
        const parts = (rest + decoder.decode(value, { stream: true })).split("\n");
        rest = parts.pop()!;
        lines = [...lines, ...parts];
      }
    },
  };
}

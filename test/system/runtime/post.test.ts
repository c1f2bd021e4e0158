import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nativeDeno } from "../../support/native-deno.ts";

/*
 * Goal: a webhook reaches the address that was checked and no other, and no receiver keeps the sender waiting.
 * Method: a sender on either runtime, and real receivers that hang, drip, redirect and break off.
 */
const POSTER = join(import.meta.dir, "poster.ts");
const RUNTIMES = { Bun: [process.execPath, POSTER], Deno: [nativeDeno(), "run", "-A", POSTER] };

const LOCAL = { allowed: ["127.0.0.1"], addresses: [["127.0.0.1"]] };

let directory = "";
let authority = { key: "", cert: "" };
let open: Server[] = [];

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "wherehouse-post-"));
  const [keyPath, certPath] = [join(directory, "key.pem"), join(directory, "cert.pem")];
  const made = Bun.spawnSync([
    ...["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
    ...["-keyout", keyPath, "-out", certPath, "-days", "2", "-subj", "/CN=hook.example"],
    ...["-addext", "subjectAltName=DNS:hook.example"],
  ]);
  expect(made.exitCode).toBe(0);
  authority = { key: readFileSync(keyPath, "utf8"), cert: readFileSync(certPath, "utf8") };
});

afterAll(() => rmSync(directory, { recursive: true }));

afterEach(() => {
  for (const server of open) {
    server.closeAllConnections();
    server.close();
  }
  open = [];
});

async function receive(listener: RequestListener, isEncrypted = false): Promise<number> {
  const server = isEncrypted ? createTlsServer(authority, listener) : createServer(listener);
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += chunk;
  return body;
}

for (const [name, command] of Object.entries(RUNTIMES)) {
  async function post(sent: object) {
    const child = Bun.spawn([...command, JSON.stringify({ ...LOCAL, ...sent })], {
      env: {
        ...process.env,
        HTTP_PROXY: "http://127.0.0.1:9",
        HTTPS_PROXY: "http://127.0.0.1:9",
        NO_PROXY: "",
      },
      stderr: "inherit",
    });
    return JSON.parse(await new Response(child.stdout).text());
  }

  describe(`on ${name}`, () => {
    test("a request carries its headers and its body to the name's own address", async () => {
      const requests: unknown[] = [];
      const port = await receive(async (request, response) => {
        const { host, "webhook-id": id } = request.headers;
        requests.push([request.method, request.url, host, id, await bodyOf(request)]);
        response.writeHead(204).end();
      });
      const { outcome, lookups } = await post({ url: `http://hook.example:${port}/a?b=c` });
      expect(outcome).toEqual({ kind: "answered", status: 204, retryAfter: null, body: "" });
      expect(requests).toEqual([["POST", "/a?b=c", `hook.example:${port}`, "one", '{"type":"enter"}']]);
      expect(lookups).toBe(1);
    });

    test("a certificate must be for the name, and from a known authority", async () => {
      const port = await receive((_, response) => response.end("ok"), true);
      const authorities = authority.cert;
      const url = `https://hook.example:${port}/`;
      expect((await post({ url, authorities })).outcome).toMatchObject({ status: 200, body: "ok" });
      expect((await post({ url })).outcome).toMatchObject({ kind: "failed" });
      const other = await post({ url: `https://other.example:${port}/`, authorities });
      expect(other.outcome.reason).toContain("the certificate is not valid");
    });

    test("a name whose addresses are all refused is not connected to", async () => {
      let connections = 0;
      const port = await receive(() => {});
      open[0]!.on("connection", () => connections++);
      const url = `http://hook.example:${port}/`;
      const refused = [["127.0.0.1"], ["::1"], ["::ffff:127.0.0.1"], ["10.0.0.1", "169.254.169.254"]];
      for (const addresses of refused)
        expect((await post({ url, allowed: [], addresses: [addresses] })).outcome.kind).toBe("refused");
      for (const literal of ["127.0.0.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "0"])
        expect((await post({ url: `http://${literal}:${port}/`, allowed: [] })).outcome.kind).toBe("refused");
      expect(connections).toBe(0);
    });

    test("only addresses that were checked are connected to, whatever the name says later", async () => {
      let connections = 0;
      const port = await receive((_, response) => response.end());
      open[0]!.on("connection", () => connections++);
      const url = `http://hook.example:${port}/`;
      // Nothing listens on the second loopback address, which alone is allowed.
      const rebinding = { url, allowed: ["127.0.0.2"], addresses: [["127.0.0.2"], ["127.0.0.1"]] };
      expect(await post(rebinding)).toMatchObject({ outcome: { kind: "failed" }, lookups: 1 });
      const both = { ...rebinding, addresses: [["127.0.0.1", "127.0.0.2"]] };
      expect(await post(both)).toMatchObject({ outcome: { kind: "failed" }, lookups: 1 });
      expect(connections).toBe(0);
    });

    test("a redirect is an answer, and not followed", async () => {
      const paths: (string | undefined)[] = [];
      const port = await receive((request, response) => {
        paths.push(request.url);
        response.writeHead(307, { location: `http://127.0.0.1:${port}/two` }).end();
      });
      expect((await post({ url: `http://hook.example:${port}/one` })).outcome.status).toBe(307);
      expect(paths).toEqual(["/one"]);
    });

    test("the status, Retry-After and the first kilobyte of an answer are kept", async () => {
      const port = await receive((request, response) => {
        response.writeHead(Number(request.url!.slice(1)), { "retry-after": "120" }).end("é".repeat(5000));
      });
      for (const status of [410, 429, 500, 503]) {
        const { outcome } = await post({ url: `http://hook.example:${port}/${status}` });
        expect(outcome).toEqual({ kind: "answered", status, retryAfter: "120", body: "é".repeat(512) });
      }
    });

    test("a receiver that hangs, before or after it accepts, fails in time", async () => {
      const port = await receive(() => {});
      const hanging = await post({ url: `http://hook.example:${port}/` });
      expect(hanging.outcome).toEqual({ kind: "failed", reason: "no answer within 15 seconds" });
      const trickling = await receive((_, response) => response.socket?.write("HTTP/1.1 2"));
      const slow = await post({ url: `http://hook.example:${trickling}/` });
      expect(slow.outcome).toEqual({ kind: "failed", reason: "no answer within 15 seconds" });
    });

    test("an answer counts although its body never ends, or breaks off", async () => {
      const port = await receive((request, response) => {
        response.writeHead(200, { "content-length": 500 });
        response.write("so far", () => request.url === "/break" && response.destroy());
      });
      for (const path of ["hang", "break"]) {
        const { outcome } = await post({ url: `http://hook.example:${port}/${path}` });
        expect(outcome).toEqual({ kind: "answered", status: 200, retryAfter: null, body: "so far" });
      }
    });

    test("a proxy gets requests as they are, and neither it nor a receiver behind it keeps the sender waiting", async () => {
      const requests: unknown[] = [];
      const port = await receive(async (request, response) => {
        const { host, "webhook-id": id } = request.headers;
        requests.push([request.method, request.url, host, id, await bodyOf(request)]);
        if (request.url!.endsWith("/hang")) return;
        response
          .writeHead(307, { location: "http://elsewhere.example/", "retry-after": "7" })
          .end("é".repeat(5000));
      });
      const proxy = `http://127.0.0.1:${port}`;
      const { outcome, lookups } = await post({ url: "http://hook.example/a", proxy });
      expect(outcome).toEqual({ kind: "answered", status: 307, retryAfter: "7", body: "é".repeat(512) });
      expect(requests).toEqual([
        ["POST", "http://hook.example/a", "hook.example", "one", '{"type":"enter"}'],
      ]);
      expect(lookups).toBe(0);
      const hanging = await post({ url: "http://hook.example/hang", proxy });
      expect(hanging.outcome).toEqual({ kind: "failed", reason: "no answer within 15 seconds" });
      const gone = await post({ url: "http://hook.example/", proxy: "http://127.0.0.1:9" });
      expect(gone.outcome).toEqual({ kind: "failed", reason: "the request through the proxy failed" });
    });

    test("what is no answer fails, with a reason that names no address", async () => {
      const port = await receive((_, response) => response.destroy());
      const closed = await post({ url: `http://hook.example:${port}/` });
      expect(closed.outcome).toEqual({ kind: "failed", reason: "the connection was closed" });
      const garbage = await receive((_, response) => response.socket?.end("SSH-2.0-OpenSSH\r\n\r\n"));
      expect((await post({ url: `http://hook.example:${garbage}/` })).outcome.kind).toBe("failed");
      const nowhere = await post({ url: "http://hook.example:9/", addresses: undefined });
      expect(nowhere.outcome.kind).toBe("failed");
    });
  });
}

import { afterAll, beforeAll, describe, expect } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram, hasProgram } from "../../support/programs.ts";
import {
  closePlace,
  openPlace,
  RUNTIMES,
  readFirstKey,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { Browser, OF_PAGE } from "../../unit/http/page/browser.ts";
import { test } from "../support/process-test.ts";

/* The proxies of deploy/, as they are but for addresses and TLS, before a server of ours, where they are installed. */

const DEPLOY = join(import.meta.dir, "../../../deploy");
const MIB = 1024 * 1024;

interface Proxy {
  readonly program: string;
  /** Its configuration for this machine, and how it is started with it. */
  configure(directory: string, ports: Ports, server: string): readonly string[];
}

interface Ports {
  /** In place of 443. */
  readonly port: number;
  /** In place of 80. */
  readonly plainPort: number;
}

const PROXIES: readonly Proxy[] = [
  {
    program: "caddy",
    configure(directory, { port, plainPort }, server) {
      const text = readFileSync(join(DEPLOY, "Caddyfile"), "utf8")
        .replace(/^\{/m, "{\n\tadmin off")
        .replace("http://locations.example.org {", `http://127.0.0.1:${plainPort} {`)
        .replace("locations.example.org {", `http://127.0.0.1:${port} {`)
        .replace("127.0.0.1:3000", server);
      writeFileSync(join(directory, "Caddyfile"), text);
      return ["run", "--config", join(directory, "Caddyfile"), "--adapter", "caddyfile"];
    },
  },
  {
    program: "nginx",
    configure(directory, { port, plainPort }, server) {
      const site = readFileSync(join(DEPLOY, "nginx.conf"), "utf8")
        .replace(/^ *(listen \[|ssl_).*\n/gm, "")
        .replace("listen 80;", `listen 127.0.0.1:${plainPort};`)
        .replaceAll("/var/log/nginx/access.log", join(directory, "access.log"))
        .replace("listen 443 ssl", `listen 127.0.0.1:${port}`)
        .replace("127.0.0.1:3000", server);
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (name) => `${name}_temp_path ${directory}/${name};`,
      );
      const text = `daemon off; pid ${directory}/pid; error_log stderr; ${
        process.getuid?.() === 0 ? "user root;" : ""
      } events {} http { access_log off; ${temporary.join(" ")} ${site} }`;
      writeFileSync(join(directory, "nginx.conf"), text);
      return ["-e", "stderr", "-c", join(directory, "nginx.conf")];
    },
  },
];

const installed = PROXIES.filter(({ program }) => hasProgram(program, `tests of ${program} before a server`));

const place = openPlace();
const directory = mkdtempSync(join(tmpdir(), "wherehouse-proxy-"));
let server: ServerProcess;

beforeAll(async () => {
  server = await startReady(RUNTIMES[0]!, place);
});

afterAll(async () => {
  await closePlace(place);
  rmSync(directory, { recursive: true });
});

function freePort(): number {
  const listener = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port } = listener;
  listener.stop(true);
  return port!;
}

describe.each(installed)("$program", ({ program, configure }) => {
  const [port, plainPort] = [freePort(), freePort()];
  const url = `http://127.0.0.1:${port}`;
  let proxy: ReturnType<typeof Bun.spawn>;

  beforeAll(async () => {
    const args = configure(directory, { port, plainPort }, new URL(server.url).host);
    proxy = Bun.spawn([findProgram(program)!, ...args], { stdout: "ignore", stderr: "pipe" });
    await until(async () => proxy.exitCode !== null || (await statusOf("/ready")) === 200);
    if (proxy.exitCode !== null) throw new Error(await new Response(proxy.stderr as ReadableStream).text());
  });

  afterAll(async () => {
    proxy.kill();
    await proxy.exited;
  });

  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${readFirstKey(place)}`, ...init.headers },
    });

  async function statusOf(path: string): Promise<number> {
    return ask(path).then(
      ({ status }) => status,
      () => 0,
    );
  }

  function post(body: string): Promise<Response> {
    return ask("/ingest/v1/locations", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
  }

  test("hands on bodies up to what the server takes, and lets it say itself what is too much", async () => {
    const bodyOf = (bytes: number) => '{"locations":[]}'.padEnd(bytes);
    expect((await post(bodyOf(16 * MIB))).status).toBe(200);
    const refused = await post(bodyOf(16 * MIB + 1));
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({
      success: false,
      message: expect.stringContaining("16 MiB"),
    });
  });

  test("leaves percent-encoded ids as they are", async () => {
    const report = { device_id: "a/b ü", timestamp: Date.now(), latitude: 1, longitude: 2 };
    expect(await (await post(JSON.stringify(report))).json()).toMatchObject({ rejected: [] });
    const found = await ask(`/api/v1/devices/${encodeURIComponent("a/b ü")}/locations/current`);
    expect(await found.json()).toMatchObject({ success: true, device_id: "a/b ü" });
  });

  test("lets people sign in on the map, and says itself by what their browser came", async () => {
    const browser = new Browser({ fetch: (path, init) => fetch(`${url}${path}`, init) });
    const forged = { ...OF_PAGE, "x-forwarded-proto": "https" };
    const { status, headers } = await browser.signIn({ key: readFirstKey(place) }, forged);
    expect([status, headers.get("set-cookie")?.includes("Secure")]).toEqual([200, false]);
    expect((await browser.get("/api/v1/locations/current")).status).toBe(200);
  });

  test("keeps /metrics to the inside", async () => {
    expect(await statusOf("/metrics")).toBe(404);
    expect(await statusOf("/api/v1/locations/current")).toBe(200);
  });

  test("redirects nobody who reports, since phones lose a point so", async () => {
    const plain = (path: string) =>
      fetch(`http://127.0.0.1:${plainPort}${path}`, { method: "POST", redirect: "manual" });
    for (const path of [
      "/ingest/owntracks",
      "/ingest/traccar/k/wh_key?id=phone",
      "/ingest/v1/locations",
      "/pub",
    ]) {
      const { status, headers } = await plain(path);
      expect([path, status, headers.get("retry-after")]).toEqual([path, 503, "30"]);
    }
    expect((await plain("/docs/ui")).status).toBe(308);
  });
});

const hasNginx = installed.some(({ program }) => program === "nginx");

test.if(hasNginx)("nginx: keys in URLs stay out of the access log", () => {
  const lines = readFileSync(join(directory, "access.log"), "utf8");
  expect(lines).toContain("/ingest/owntracks");
  expect(lines).not.toContain("wh_key");
});

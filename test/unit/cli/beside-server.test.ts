import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../support/until.ts";
import { type RunningServer, runCli, startServer } from "./support/run-cli.ts";

/** Commands that find the running server of their directory, and need no key for it. */

const root = mkdtempSync(join(tmpdir(), "wherehouse-beside-"));
const dataDir = join(root, "data");
let server: RunningServer;

const run = (...args: string[]) => runCli(...args, "--data-dir", dataDir);

beforeAll(async () => {
  server = await startServer(dataDir);
});

afterAll(async () => {
  await server.stop();
  rmSync(root, { recursive: true });
});

async function send(key: string, body: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const { status } = await fetch(`${server.url}/ingest/overland`, { method: "POST", headers, body });
  expect(status).toBe(200);
}

function follow(code: string): Promise<Response> {
  return fetch(`${server.url}/map/session`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "sec-fetch-site": "same-origin",
      "x-wherehouse-page": "1",
    },
    body: JSON.stringify({ code }),
  });
}

test("doctor is let in at once, also where it is the first to need a session, and with a new app", async () => {
  expect(existsSync(join(dataDir, "session-secret"))).toBe(false);
  expect(await run("doctor")).toMatchObject({ code: 0, error: "" });
  rmSync(join(dataDir, "session-secret"));
  await run("keys", "create", "--app", "new", "--permission", "read");
  const { code, out, error } = await run("doctor");
  expect([code, error]).toEqual([0, ""]);
  expect(out).toContain("App new:");
  const [{ id }] = JSON.parse((await run("keys", "list", "--json")).out).filter(
    ({ appId }: { readonly appId: string }) => appId === "new",
  );
  await run("keys", "revoke", id);
  rmSync(join(dataDir, "session-secret"));
});

test("keys link prints the address of the server of its directory, and the link is good at once", async () => {
  expect(existsSync(join(dataDir, "session-secret"))).toBe(false); // Which the link is the first to need.
  const { code, out } = await run("keys", "link");
  expect(code).toBe(0);
  const [url, linkCode] = out.trim().split("/map#code=");
  expect(url).toBe(server.url);
  expect((await follow(linkCode!)).status).toBe(200);
});

test("keys link prints what --url says", async () => {
  const { out } = await run("keys", "link", "--url", "https://example.org/base");
  expect(out).toStartWith("https://example.org/base/map#code=");
});

test("quarantine list and show, and doctor, ask about all apps of the directory", async () => {
  const first = readFileSync(join(dataDir, "first-key"), "utf8").trim();
  await send(first, "{ of default");
  const onlyOne = await run("doctor", "--json");
  expect(JSON.parse(onlyOne.out)).toMatchObject({ url: server.url, app_id: "default", problems: [] });
  const permissions = ["--permission", "read", "--permission", "write"];
  const second = (await run("keys", "create", "--app", "shop", ...permissions)).out.trim();
  await until(async () => (await fetch(`${server.url}/api/v1/locations/current`, bearer(second))).ok);
  await send(second, "{ of shop");

  const listed = await run("quarantine", "list");
  expect([listed.code, listed.error]).toEqual([0, ""]);
  expect(listed.out).toMatch(/^app +id +last came/);
  expect(listed.out).toMatch(/^shop .*\n^default /m);
  const [shop, main] = JSON.parse((await run("quarantine", "list", "--json")).out);
  expect([shop.app_id, main.app_id]).toEqual(["shop", "default"]);
  const ofShop = JSON.parse((await run("quarantine", "list", "--json", "--app", "shop")).out);
  expect(ofShop).toEqual([shop]);
  for (const [{ id }, body] of [
    [shop, "{ of shop"],
    [main, "{ of default"],
  ])
    expect((await run("quarantine", "show", id)).out).toBe(`${body}\n`);
  expect(await run("quarantine", "show", "nobody")).toMatchObject({ code: 1, out: "" });

  // With a key it is that key's app, at the same server.
  expect(JSON.parse((await run("quarantine", "list", "--json", "--key", second)).out)).toMatchObject([
    { id: shop.id },
  ]);
  expect(JSON.parse((await run("doctor", "--json", "--key", second)).out)).toMatchObject({
    url: server.url,
    app_id: "shop",
  });
  expect((await run("quarantine", "delete", shop.id, "--key", second)).out).toBe("1 of 1 deleted.\n");
  expect((await run("quarantine", "replay", "--all", "--key", first)).out).toBe("0 of 1 stored.\n");

  const { code, out, error } = await run("doctor");
  expect([code, error]).toEqual([0, ""]);
  expect(out).toMatch(/^App default:\n.*\nApp shop:\n/s);
  expect(await run("doctor", "--json")).toEqual({
    code: 1,
    out: "",
    error: "--json prints one app, and the directory has default, shop: choose one with --app.\n",
  });
  expect(JSON.parse((await run("doctor", "--json", "--app", "shop")).out)).toMatchObject({ app_id: "shop" });
});

test("an app without a key that may read is said to be one", async () => {
  expect(await run("doctor", "--app", "ghost")).toEqual({
    code: 1,
    out: "",
    error: 'There is no unbound key of app "ghost" that may read. keys list shows all keys.\n',
  });
});

test("without a running server the commands say so", async () => {
  await server.stop();
  for (const words of [["doctor"], ["quarantine", "list"], ["quarantine", "show", "x"]]) {
    const { code, out, error } = await run(...words);
    expect([code, out]).toEqual([1, ""]);
    expect(error).toBe(
      `No server runs over the data directory "${dataDir}". Start it, or name one with --url and --key.\n`,
    );
  }
  const link = await run("keys", "link");
  expect(link.out).toStartWith("http://127.0.0.1:3000/map#code=");
  expect(link.error).toContain("No server runs over this directory");
});

function bearer(key: string): RequestInit {
  return { headers: { authorization: `Bearer ${key}` } };
}

import { expect } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createWebhookSecret, signedHeaders } from "../../../src/model/webhooks/signing.ts";
import { nativeDeno } from "../../support/native-deno.ts";
import { until } from "../../support/until.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: the receivers of docs/webhooks.md take what is signed, once, and nothing else.
 * Method: their code as the page has it, in processes of their own, and requests as the server signs them.
 */

const PAGE = readFileSync(join(import.meta.dir, "../../../docs/webhooks.md"), "utf8");

const codeOf = (language: string) => PAGE.split(`\`\`\`${language}\n`)[1]!.split("\n```")[0]!;

test.each([
  ["TypeScript on Bun", "ts", [process.execPath]],
  ["TypeScript on Deno", "ts", [nativeDeno(), "run", "-A"]],
  ["Python", "python", ["python3"]],
] as const)("the receiver in %s", async (_, language, command) => {
  const directory = mkdtempSync(join(tmpdir(), "wherehouse-receiver-"));
  const path = join(directory, `receiver.${language === "ts" ? "mts" : "py"}`);
  writeFileSync(path, codeOf(language));
  const port = await freePort();
  const secret = createWebhookSecret();
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret };
  const child = Bun.spawn([...command, path], { env, stdout: "pipe", stderr: "pipe" });
  try {
    const nowSeconds = Math.floor(Date.now() / 1000);
    const send = async (body: string, secrets = [secret], timestampSeconds = nowSeconds) => {
      const headers = signedHeaders({ id: "e_1", timestampSeconds, body }, secrets);
      return (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body, headers })).status;
    };
    const isUp = () => send('{"type":"test","data":{}}').catch(() => 0);
    await until(async () => (await isUp()) === 204);
    const event = (revision: number, more: object = {}) =>
      JSON.stringify({ type: "enter", data: { id: "e", revision, device_id: "bus", timestamp: 0, ...more } });
    expect(await send(event(1))).toBe(204);
    expect(await send(event(1))).toBe(204);
    expect(await send(event(3), [createWebhookSecret()])).toBe(401);
    expect(await send(event(3), [secret], nowSeconds - 3600)).toBe(401);
    expect(await send(event(2, { withdrawn: true }), [createWebhookSecret(), secret])).toBe(204);
  } finally {
    child.kill();
    await child.exited;
    rmSync(directory, { recursive: true });
  }
  const lines = (await new Response(child.stdout).text()).trim().split("\n");
  expect(lines.map((line) => line.split(" ").slice(0, 2).join(" "))).toEqual(["enter bus", "withdrawn bus"]);
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { nativeDeno } from "../../support/native-deno.ts";
import { until } from "../../support/until.ts";

const DESCRIPTORS = 64;
const SCRIPT = join(import.meta.dir, "listen-on-deno.ts");

function openConnection(url: URL): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(Number(url.port), url.hostname);
    socket.on("connect", () => resolve(socket));
    socket.on("error", () => resolve(socket));
  });
}

test("listenOnDeno() listens again after idle connections took all descriptors", async () => {
  const command = `ulimit -n ${DESCRIPTORS}; exec "${nativeDeno()}" run -A "${SCRIPT}" 0 1000`;
  const child = Bun.spawn(["sh", "-c", command], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  const { value } = await child.stdout.getReader().read();
  const url = new URL(new TextDecoder().decode(value).trim());
  const idle = await Promise.all(Array.from({ length: 100 }, () => openConnection(url)));
  // The accept loop fails at the next of them, and nothing tells of it.
  await until(() => child.exitCode !== null || readdirSync(`/proc/${child.pid}/fd`).length >= DESCRIPTORS);
  for (const socket of idle) socket.destroy();

  let answer = "";
  await until(async () => {
    answer = await fetch(new URL("/quick", url))
      .then((response) => response.text())
      .catch(() => "");
    return answer !== "" || child.exitCode !== null;
  });
  expect(answer).toBe("quick");
  child.stdin.write("stop\n");
  child.stdin.flush();
  expect(await child.exited).toBe(0);
});

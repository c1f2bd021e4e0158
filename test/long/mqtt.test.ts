import { expect, test } from "bun:test";
import { resolve } from "node:path";
import { hasMosquitto } from "../system/mqtt/support/mosquitto.ts";

/* Many more messages across crashes than the system tier has. */

const ROOT = resolve(import.meta.dir, "../..");
const MESSAGES = 50_000;

test.skipIf(!hasMosquitto("long tests of MQTT across crashes"))(
  `${MESSAGES} messages of a broker`,
  async () => {
    const file = "./test/system/mqtt/durability.test.ts";
    const child = Bun.spawn([process.execPath, "test", file], {
      cwd: ROOT,
      env: { ...process.env, WHEREHOUSE_MQTT_MESSAGES: String(MESSAGES) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const texts = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    if ((await child.exited) !== 0)
      console.error(texts.join("\n").replaceAll(/^ *\d+ (pass|fail)$/gm, "of them: $&"));
    expect(child.exitCode).toBe(0);
  },
);

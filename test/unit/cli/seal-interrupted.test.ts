import { afterAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { seal } from "../../../src/cli/directory/seal.ts";
import { createPlatform } from "../../../src/runtime/platform.ts";
import type { Terminal } from "../../../src/runtime/process.ts";
import { createArchiveApp, removeArchiveApps } from "../../support/archive-app.ts";

afterAll(removeArchiveApps);

const DAY_MS = 86_400_000;

test("seal stops if the signal came before the directory was open, and archives nothing", async () => {
  const { store, close, clock, dataDir } = await createArchiveApp();
  await store([{ device_id: "a", timestamp: clock.nowMs() - 20 * DAY_MS, latitude: 1, longitude: 2 }]);
  await close();
  const said: string[] = [];
  const terminal = { out: () => {}, error: (text: string) => said.push(text) } as unknown as Terminal;
  const stopSignal = () => AbortSignal.abort();
  const context = { platform: createPlatform(), clock, terminal, program: "wherehouse", stopSignal };
  expect(await seal({ dataDir, json: false }, context)).toBe(1);
  expect(said.join("")).toContain("Interrupted. Nothing is lost");
  expect(readdirSync(join(dataDir, "archive")).filter((name) => name.startsWith("day="))).toEqual([]);
});

import { afterAll, beforeAll, expect } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packServer, SERVER_NAME } from "../../../deploy/release/server-package.ts";
import manifest from "../../../package.json" with { type: "json" };
import { MODULES } from "../../../src/http/page/packages.ts";
import {
  closePlace,
  openPlace,
  type Runtime,
  readFirstKey,
  startReady,
} from "../../support/server-process.ts";
import { get, store } from "../support/client.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: the npm package serves where it is installed, without the project. Method: its file, installed by npm into an
 * empty project, which no install script may help; then the server that its command starts.
 */

const place = openPlace();
const made = mkdtempSync(join(tmpdir(), "wherehouse-server-package-"));
const project = mkdtempSync(join(tmpdir(), "wherehouse-server-user-"));
const installed: Runtime = {
  name: "Bun",
  command: () => [join(project, `node_modules/.bin/${SERVER_NAME}`)],
};

beforeAll(() => {
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "user" }));
  const flags = ["--ignore-scripts", "--no-audit", "--prefer-offline"];
  const { status, stderr } = spawnSync("npm", ["install", ...flags, packServer(made)], { cwd: project });
  expect([status, String(stderr)]).toEqual([0, expect.anything()]);
}, 120_000);

afterAll(async () => {
  await closePlace(place);
  for (const folder of [made, project]) rmSync(folder, { recursive: true });
});

test("its command takes reports, archives a day, sends the map with its packages, and stops", async () => {
  const server = await startReady(installed, place, ["--seal-every", "1s"]);
  const client = { url: server.url, key: readFirstKey(place) };
  const timestamp = Date.now() - 9 * 86_400_000;
  const report = { device_id: "tram", timestamp, latitude: 53, longitude: -2 };
  await store(client, [report]);
  const day = new Date(timestamp).toISOString().slice(0, 10);
  const history = `/api/v1/devices/tram/locations/history?start_date=${day}&end_date=${day}&places=true`;
  expect(await (await get(client, history)).json()).toMatchObject({ locations: [report] });
  await server.says(/rchived/);
  for (const path of ["/map", "/docs/ui", ...Object.values(MODULES)])
    expect([path, (await fetch(server.url + path)).status]).toEqual([path, 200]);
  expect((await server.stop()).code).toBe(0);
  expect(existsSync(join(place.dataDir, "archive"))).toBe(true);
});

test("npx runs it, and its help names it so", () => {
  const { stdout } = spawnSync("npx", ["--no-install", SERVER_NAME, "serve", "--help"], { cwd: project });
  expect(String(stdout)).toStartWith(`Usage: npx ${SERVER_NAME} serve [options]\n`);
});

test("npm publishes it, and never the project around it", () => {
  const path = join(project, "node_modules", SERVER_NAME, "package.json");
  expect(JSON.parse(readFileSync(path, "utf8"))).not.toHaveProperty("private");
  expect(manifest.private).toBe(true);
});

test("made twice, it is the same", () => {
  const again = mkdtempSync(join(made, "again-"));
  const bytes = readFileSync(packServer(again));
  expect(bytes.equals(readFileSync(packServer(made)))).toBe(true);
});

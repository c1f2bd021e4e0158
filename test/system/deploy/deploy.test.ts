import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseCommand } from "../../../src/cli/parse-command.ts";

const ROOT = join(import.meta.dir, "../../..");
const DEPLOY = join(ROOT, "deploy");

/** The variables that a file sets, as the program would see them. */
function environmentOf(assignments: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    assignments.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
}

describe("deploy/wherehouse.service", () => {
  const lines = readFileSync(join(DEPLOY, "wherehouse.service"), "utf8").split("\n");
  const valuesOf = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}=`)).map((line) => line.slice(name.length + 1));

  test("starts the server over its own directory", () => {
    const [program, main, ...args] = valuesOf("ExecStart")[0]!.split(" ");
    expect(program).toMatch(/^\/opt\/wherehouse\/node_modules\/@oven\/bun-linux-x64\/bin\/bun$/);
    expect(existsSync(join(ROOT, main!))).toBe(true);
    const parsed = parseCommand(args, environmentOf(valuesOf("Environment")));
    expect(parsed).toMatchObject({ ok: true, value: { name: "serve", options: { config: { port: 3000 } } } });
    expect(valuesOf("StateDirectory")).toEqual(["wherehouse"]);
  });

  test("is nobody's but its own, is started once it is ready, and has the time it needs to stop", () => {
    expect(valuesOf("DynamicUser")).toEqual(["yes"]);
    expect(valuesOf("UMask")).toEqual(["0077"]);
    expect(valuesOf("ExecStartPost")[0]).toContain("/ready");
    expect(Number(valuesOf("TimeoutStopSec")[0])).toBeGreaterThan(5);
  });

  test("is understood by systemd, which calls its exposure OK", () => {
    const analyze = Bun.which("systemd-analyze");
    if (analyze === null) {
      console.warn("Left out: what systemd says of the unit, since there is no systemd-analyze.");
      return;
    }
    const unit = join(DEPLOY, "wherehouse.service");
    const verified = Bun.spawnSync([analyze, "verify", unit], { stdout: "pipe", stderr: "pipe" });
    const complaints = verified.stderr.toString().split("\n");
    // Where the project is not installed there, that is all that is wrong.
    expect(
      complaints.filter((line) => line.includes("wherehouse") && !line.includes("is not executable")),
    ).toEqual([]);
    const security = Bun.spawnSync([analyze, "security", "--offline=true", "--threshold=20", unit]);
    expect(security.exitCode).toBe(0);
  });
});

describe("deploy/Containerfile", () => {
  const text = readFileSync(join(DEPLOY, "Containerfile"), "utf8").replaceAll("\\\n", " ");
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const valuesOf = (name: string) =>
    lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));

  test("starts the server over the volume, and lets it be reached from outside the container", () => {
    const [entry, command] = [valuesOf("ENTRYPOINT")[0]!, valuesOf("CMD").at(-1)!];
    const [, main, ...args] = [...JSON.parse(entry), ...JSON.parse(command)] as string[];
    expect(existsSync(join(ROOT, main!))).toBe(true);
    const parsed = parseCommand(args, environmentOf(valuesOf("ENV")[0]!.split(" ")));
    const config = { dataDir: "/data", hostname: "0.0.0.0", port: 3000 };
    expect(parsed).toMatchObject({ ok: true, value: { name: "serve", options: { config } } });
    expect(valuesOf("VOLUME")).toEqual(["/data"]);
  });

  test("copies what is there, and runs as no root", () => {
    const own = valuesOf("COPY").filter((line) => !line.startsWith("--from"));
    for (const source of own.flatMap((line) => line.split(" ").slice(0, -1))) {
      expect([source, existsSync(join(ROOT, source))]).toEqual([source, true]);
    }
    expect(Number(valuesOf("USER").at(-1))).toBeGreaterThan(0);
  });

  test("copies the names of places, which no import leads to", () => {
    expect(valuesOf("COPY")).toContain("data/places ./data/places");
  });

  test("asks /ready whether it is healthy, by a command that fails where it is not", async () => {
    const [, json] = /CMD (\[.*\])$/.exec(valuesOf("HEALTHCHECK")[0]!)!;
    const [, ...args] = JSON.parse(json!) as string[];
    let status = 200;
    const server = Bun.serve({
      port: 0,
      fetch: ({ url }) => new Response("", { status: url.endsWith("/ready") ? status : 404 }),
    });
    const env = { ...process.env, WHEREHOUSE_PORT: String(server.port) };
    const check = () => Bun.spawn([process.execPath, ...args], { env, stderr: "ignore" }).exited;
    expect(await check()).toBe(0);
    status = 503;
    expect(await check()).toBe(1);
    await server.stop();
    expect(await check()).not.toBe(0);
  });
});

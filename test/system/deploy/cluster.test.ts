import { afterAll, describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKeyText } from "../../../src/auth/api-key.ts";
import { parseCommand } from "../../../src/cli/parse-command.ts";
import { openNatsStream } from "../../../src/cluster/stream/nats-stream.ts";
import { freePorts } from "../../support/nats/free-ports.ts";
import { findNatsServer, hasNatsServer } from "../../support/nats/nats-server.ts";
import { UNIX_ENVIRONMENT } from "../../support/programs.ts";
import { rejection } from "../../support/rejection.ts";
import { until } from "../../support/until.ts";

/** What `deploy/cluster/` has. No test runs containers, but the program and nats-server take what each file says. */

const DEPLOY = join(import.meta.dir, "../../../deploy");
const CLUSTER = join(DEPLOY, "cluster");
const NODES = ["node-1", "node-2", "node-3", "node-4"];
const SERVERS = ["nats-1", "nats-2", "nats-3"];

const read = (name: string) => readFileSync(join(CLUSTER, name), "utf8");

/** New variables, as `./passwords` makes them. */
function makePasswords(): Record<string, string> {
  const { exitCode, stdout } = Bun.spawnSync(["sh", join(CLUSTER, "passwords")], { env: UNIX_ENVIRONMENT });
  expect(exitCode).toBe(0);
  const lines = stdout.toString().trim().split("\n");
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
}

const passwords = makePasswords();

interface Service {
  readonly image: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly ports?: readonly string[];
  readonly volumes: readonly string[];
  readonly networks: readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, object>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
}

describe("compose.yaml", () => {
  const text = read("compose.yaml");
  const { services, volumes, networks } = Bun.YAML.parse(text) as Compose;

  test("has three nats-servers of one version, each with the configuration, a name and a disk of its own", () => {
    expect(Object.keys(services)).toEqual([...SERVERS, ...NODES]);
    for (const name of SERVERS) {
      const server = services[name]!;
      expect(server.image).toBe("docker.io/library/nats:2.15.2");
      expect(server.command).toContain(`--name=${name}`);
      expect(server.volumes).toEqual(["./nats.conf:/etc/nats/nats.conf:ro", `${name}:/var/lib/nats`]);
      expect(server.ports).toBeUndefined();
      expect(server.networks.map((network) => networks[network]?.internal)).toEqual([true]);
    }
    const routes = [1, 2, 3].map(
      (number) => /@(nats-\d):6222$/.exec(passwords[`NATS_ROUTE_${number}`]!)![1]!,
    );
    expect(routes).toEqual(SERVERS);
  });

  test("starts nodes of one log, which others reach by their names", () => {
    for (const [index, name] of NODES.entries()) {
      const { command, build, ports, volumes: mounted, environment } = services[name]!;
      const parsed = parseCommand([...command], { ...environment, WHEREHOUSE_DATA_DIR: "/data" });
      expect(parsed).toMatchObject({
        ok: true,
        value: {
          name: "serve",
          options: {
            config: {
              cluster: {
                address: { servers: SERVERS.map((server) => `${server}:4222`), stream: "wherehouse" },
                access: { credentials: { kind: "user" } },
                advertise: `http://${name}:3000`,
              },
            },
          },
        },
      });
      expect(existsSync(join(CLUSTER, build!.context, build!.dockerfile))).toBe(true);
      expect(ports).toEqual([`127.0.0.1:300${index + 1}:3000`]);
      expect(mounted).toEqual([`${name}:/data`]);
    }
    expect(Object.keys(volumes)).toEqual([...SERVERS, ...NODES]);
  });

  test("asks for no variable that ./passwords does not make, and what that makes is in no commit", () => {
    const asked = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!));
    const config = [...read("nats.conf").matchAll(/[ []\$([A-Z_0-9]+\b)(?!\.)/g)].map(([, name]) => name!);
    expect([...asked].sort()).toEqual(Object.keys(passwords).sort());
    expect(config.filter((name) => !asked.has(name))).toEqual(["NATS_HTTP"]);
    for (const name of SERVERS) expect(services[name]!.environment.NATS_HTTP).toBe("0.0.0.0:8222");
    expect(readFileSync(join(DEPLOY, "../.gitignore"), "utf8")).toContain("deploy/cluster/.env\n");
  });
});

test("./passwords makes others each time, which nats-server takes for no numbers", () => {
  const others = makePasswords();
  for (const name of Object.keys(passwords).filter((name) => name.endsWith("PASSWORD"))) {
    expect(passwords[name]).toMatch(/^p[0-9a-f]{40}$/);
    expect(others[name]).not.toBe(passwords[name]);
  }
});

describe.if(hasNatsServer("tests of what nats-server says of deploy/cluster/nats.conf"))("nats.conf", () => {
  const directory = mkdtempSync(join(tmpdir(), "wherehouse-deploy-"));
  const running: Bun.Subprocess[] = [];
  const env = { ...process.env, ...passwords, NATS_HTTP: "127.0.0.1:8222" };

  afterAll(async () => {
    for (const server of running) server.kill("SIGKILL");
    await Promise.all(running.map((server) => server.exited));
    rmSync(directory, { recursive: true });
  });

  test("is one that nats-server takes", () => {
    const checked = Bun.spawnSync([findNatsServer()!, "-t", "--config", join(CLUSTER, "nats.conf")], {
      env,
      stderr: "pipe",
    });
    expect([checked.exitCode, checked.stderr.toString()]).toEqual([0, expect.stringContaining("is valid")]);
  });

  test("makes three servers a log that a node is content with, and that nobody opens without the password", async () => {
    const ports = await freePorts(9);
    const [clients, routes, pages] = [ports.slice(0, 3), ports.slice(3, 6), ports.slice(6)];
    const user = `nats-route://route:${passwords.NATS_ROUTE_PASSWORD}@127.0.0.1`;
    for (const [index, name] of SERVERS.entries()) {
      const path = join(directory, `${name}.conf`);
      const config = read("nats.conf")
        .replace("port: 4222", `host: "127.0.0.1"\nport: ${clients[index]}`)
        .replace("port: 6222", `host: "127.0.0.1"\n  port: ${routes[index]}`)
        .replace("/var/lib/nats", join(directory, name))
        .replace("max_file_store: 20GB", "max_file_store: 1GB");
      writeFileSync(path, config);
      const own = {
        ...env,
        ...Object.fromEntries(routes.map((port, route) => [`NATS_ROUTE_${route + 1}`, `${user}:${port}`])),
        NATS_HTTP: `127.0.0.1:${pages[index]}`,
      };
      const command = [findNatsServer()!, "--config", path, "--name", name];
      running.push(Bun.spawn(command, { env: own, stdout: "ignore", stderr: "ignore" }));
    }
    const notes: string[] = [];
    const open = (password: string) =>
      openNatsStream({
        address: {
          servers: clients.map((port) => `127.0.0.1:${port}`),
          isSecure: false,
          stream: "wherehouse",
          credentials: { kind: "user", user: passwords.WHEREHOUSE_NATS_USER!, password },
          authorities: null,
        },
        create: { firstMessage: 1, bytesMax: 500_000_000 },
        onNote: (note) => notes.push(note),
      });
    const stream = await patiently(() => open(passwords.WHEREHOUSE_NATS_PASSWORD!));
    const number = await stream.publish(new TextEncoder().encode("a report"), "1");
    const healthy = await Promise.all(pages.map((port) => fetch(`http://127.0.0.1:${port}/healthz`)));
    await stream.close();
    // No server left unsaid how it syncs, and each would have been refused that doesn't always.
    expect([number, notes]).toEqual([1, []]);
    expect(healthy.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await rejection(open("p1"))).toMatchObject({ kind: "refused" });
  });
});

/** Servers take a while to find each other. */
async function patiently<Value>(attempt: () => Promise<Value>): Promise<Value> {
  let value: Value;
  await until(async () => {
    try {
      value = await attempt();
      return true;
    } catch {
      return false;
    }
  });
  return value!;
}

describe("under systemd", () => {
  const analyze = Bun.which("systemd-analyze");
  if (analyze === null)
    console.warn("Left out: what systemd says of the units, since there is no systemd-analyze.");

  /** What systemd says of the unit that is wrong with it, and not with where this machine has its programs. */
  function complaintsOf(unit: string): string[] {
    const verified = Bun.spawnSync([analyze!, "verify", unit], { stderr: "pipe" });
    const lines = verified.stderr.toString().split("\n");
    return lines.filter(
      (line) => /nats|wherehouse|node\.conf/.test(line) && !line.includes("is not executable"),
    );
  }

  test.if(analyze !== null)(
    "units are understood, and nats-server's is as little exposed as the service",
    () => {
      const directory = mkdtempSync(join(tmpdir(), "wherehouse-units-"));
      const dropIns = join(directory, "wherehouse.service.d");
      mkdirSync(dropIns);
      cpSync(join(DEPLOY, "wherehouse.service"), join(directory, "wherehouse.service"));
      cpSync(join(CLUSTER, "node.conf"), join(dropIns, "node.conf"));
      cpSync(join(CLUSTER, "nats-server.service"), join(directory, "nats-server.service"));
      const server = join(directory, "nats-server.service");
      const complaints = [...complaintsOf(join(directory, "wherehouse.service")), ...complaintsOf(server)];
      const security = Bun.spawnSync([analyze!, "security", "--offline=true", "--threshold=20", server]);
      rmSync(directory, { recursive: true });
      expect([complaints, security.exitCode]).toEqual([[], 0]);
    },
  );

  test("node.conf starts the service as a node", () => {
    const text = read("node.conf");
    const variables = Object.fromEntries(
      [...text.matchAll(/^# {3}(WHEREHOUSE_\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]),
    );
    const [, start] = /^ExecStart=\S+\/bun src\/main\.ts (.*)$/m.exec(text)!;
    const words = start!
      .split(" ")
      .map((word) => word.replace(/^\$\{(\w+)\}$/, (_, name) => variables[name] ?? ""))
      .map((word) => word.replace("%l", "a.example"));
    expect(parseCommand(words, { ...variables, WHEREHOUSE_DATA_DIR: "/data" })).toMatchObject({
      ok: true,
      value: {
        name: "serve",
        options: {
          config: {
            cluster: { address: { servers: ["a.example:4222", "b.example:4222", "c.example:4222"] } },
          },
        },
      },
    });
  });
});

test("docs/cluster.md: what makes a node is a command that the program has", () => {
  const page = readFileSync(join(DEPLOY, "../docs/cluster.md"), "utf8");
  const [, words] = /^```sh\nbun src\/main\.ts (.*)$/m.exec(page)!;
  expect(parseCommand(words!.split(" "), {})).toMatchObject({
    ok: true,
    value: { options: { config: { cluster: { advertise: "http://node-a.example:3000" } } } },
  });
});

test("README.md: commands are such as the program has", () => {
  const blocks = [...read("README.md").matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!);
  const lines = blocks.join("\n").replaceAll("\\\n", " ").split("\n");
  const commands = lines.flatMap((line) => {
    const [, ours] = /(?:bun src\/main\.ts|node-4) ((?:keys|join|backup|serve)\b[^)]*)/.exec(line) ?? [];
    return ours === undefined ? [] : [ours.trim().split(" ")];
  });
  expect(commands.map(([name]) => name)).toEqual(["keys", "keys", "join"]);
  for (const command of commands) {
    const parsed = parseCommand(command, {
      WHEREHOUSE_KEY: createKeyText(),
      WHEREHOUSE_DATA_DIR: "/data",
    });
    expect([command, parsed]).toMatchObject([command, { ok: true }]);
  }
  const services = [...blocks.join("\n").matchAll(/\b(?:node|nats)-\d\b/g)].map(([name]) => name);
  expect(services.filter((name) => ![...NODES, ...SERVERS].includes(name))).toEqual([]);
});

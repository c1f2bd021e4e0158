import { afterAll, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../../package.json" with { type: "json" };
import { parseCommand } from "../../../src/cli/parse-command.ts";
import { closePlace, openPlace, RUNTIMES, startReady } from "../../support/server-process.ts";
import { test } from "../support/process-test.ts";

/* The add-on's description has the form that Home Assistant's Supervisor reads, and says what the program does. */

const FOLDER = join(import.meta.dir, "../../../deploy/home-assistant");

interface AddOn {
  readonly version: string;
  readonly slug: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly ports: Readonly<Record<string, number>>;
  readonly ports_description: Readonly<Record<string, string>>;
  readonly map: readonly string[];
  readonly webui: string;
  readonly watchdog: string;
}

const text = readFileSync(join(FOLDER, "config.yaml"), "utf8");
const addOn = Bun.YAML.parse(text) as AddOn;

const isText = (value: unknown) => typeof value === "string" && value !== "";
const isOneOf =
  (...choices: readonly unknown[]) =>
  (value: unknown) =>
    choices.includes(value);
const isListOf = (isRight: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.length > 0 && value.every(isRight);
const isTable = (isName: RegExp, isRight: (value: unknown) => boolean) => (value: unknown) =>
  Object.entries(value as object).every(([name, each]) => isName.test(name) && isRight(each));
const isAddress = (value: unknown) => /^https?:\/\/\[HOST\]:\[PORT:\d+\]\/\w*$/.test(String(value));
const isPort = (value: unknown) => Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536;

/** The members that the add-on has, as the developers' documentation of Home Assistant describes them. */
const MEMBERS: Readonly<Record<string, (value: unknown) => boolean>> = {
  name: isText,
  version: isText,
  slug: (value) => /^[a-z0-9_]+$/.test(String(value)),
  description: isText,
  arch: isListOf(isOneOf("aarch64", "amd64")),
  startup: isOneOf("application", "initialize", "once", "services", "system"),
  map: isListOf((value) => /^(addon_config|data|share|ssl|media|backup)(:(rw|ro))?$/.test(String(value))),
  environment: isTable(/^[A-Z_]+$/, isText),
  ports: isTable(/^\d+\/(tcp|udp)$/, isPort),
  ports_description: isTable(/^\d+\/(tcp|udp)$/, isText),
  webui: isAddress,
  watchdog: isAddress,
  backup: isOneOf("hot", "cold"),
  timeout: (value) => Number.isInteger(value) && Number(value) >= 10,
  stage: isOneOf("stable", "experimental", "deprecated"),
};
const REQUIRED = ["name", "version", "slug", "description", "arch"];

const place = openPlace();
afterAll(() => closePlace(place));

test("every member has a value that it may have, and none is missing", () => {
  const faults = Object.entries(addOn).filter(([name, value]) => MEMBERS[name]?.(value) !== true);
  expect(faults).toEqual([]);
  expect(REQUIRED.filter((name) => !Object.hasOwn(addOn, name))).toEqual([]);
  expect(Object.keys(addOn.ports_description)).toEqual(Object.keys(addOn.ports));
  expect(addOn.version).toBe(manifest.version);
});

test("its environment and its Dockerfile start a server on its port, with the data in its folder", () => {
  const dockerfile = readFileSync(join(FOLDER, "Dockerfile"), "utf8");
  const command = JSON.parse(/^CMD (.*)$/m.exec(dockerfile)![1]!) as string[];
  const parsed = parseCommand(command, addOn.environment);
  expect(parsed).toMatchObject({
    ok: true,
    value: { name: "serve", options: { config: { dataDir: "/config", hostname: "0.0.0.0", port: 3000 } } },
  });
  expect(addOn.ports["3000/tcp"]).toBe(3000);
  expect(addOn.map).toContain("addon_config:rw"); // The Supervisor puts it at /config.
});

test("a server has what its addresses name", async () => {
  const server = await startReady(RUNTIMES[0]!, place);
  for (const address of [addOn.webui, addOn.watchdog]) {
    const { pathname } = new URL(address.replace("[HOST]:[PORT:3000]", "host"));
    expect([address, (await fetch(server.url + pathname)).status]).toEqual([address, 200]);
  }
  await server.stop();
});

import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../../package.json" with { type: "json" };

/** What others wrote is here in one version each, by its content, and runs nothing when it is installed. */

const ROOT = join(import.meta.dir, "../../..");
const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
  packages: Readonly<Record<string, LockedPackage>>;
};

interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const [root, ...installed] = Object.entries(lock.packages);

test("every dependency is asked for in one exact version, and the lockfile says the same", () => {
  const asked = { ...manifest.dependencies, ...manifest.devDependencies };
  expect(Object.keys(asked).length).toBeGreaterThan(10);
  for (const [name, wanted] of Object.entries(asked)) {
    const version = ALIASES[name] === undefined ? wanted : wanted.replace(`npm:${ALIASES[name]}@`, "");
    expect(version, name).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
    expect(lock.packages[`node_modules/${name}`]?.version, name).toBe(version);
  }
  expect({ ...root![1].dependencies, ...root![1].devDependencies }).toEqual(asked);
});

/** Packages under another name than their own: a second version of one that is there. */
const ALIASES: Readonly<Record<string, string>> = { "typescript-native": "typescript" };

test("a server's packages are those that src imports", () => {
  const sources = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" });
  const imported = sources
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) => {
      const text = readFileSync(join(ROOT, "src", path), "utf8");
      return [...text.matchAll(/\b(?:from|import)[ (]"((?:@[\w-]+\/)?[a-z][\w-]*)[/"]/g)];
    })
    .map(([, name]) => name!);
  const packages = new Set([...imported, ...NOT_IMPORTED]);
  expect([...packages].sort()).toEqual(Object.keys(manifest.dependencies).sort());
});

/** The launcher starts it. */
const NOT_IMPORTED = ["bun"];

test("no package comes from a host that the lockfile names, and each is known by its hash", () => {
  expect(installed.length).toBeGreaterThan(50);
  // The lockfile names no host: packages come from where npm is told to look for them.
  expect(installed.filter(([, { resolved, link }]) => resolved !== undefined || link === true)).toEqual([]);
  const versions = installed.filter(([, { version }]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version ?? ""));
  expect(versions).toEqual([]);
  const unknown = installed.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ""));
  expect(unknown).toEqual([]);
});

test("no package may run a script when it is installed", () => {
  expect(manifest.trustedDependencies).toEqual([]);
  expect(manifest.allowScripts).toEqual({});
  const scripts = Object.keys(manifest.scripts).filter((name) =>
    /^(pre|post)?(install|prepare|pack|publish)/.test(name),
  );
  expect(scripts).toEqual([]);
  const launcher = readFileSync(join(ROOT, "src/launch.mjs"), "utf8");
  const [, body = ""] = /function installer\b.*?\{(.*?)\n\}/s.exec(launcher) ?? [];
  const commands = body.match(/return \[[^;]*;/g) ?? [];
  expect(commands).toHaveLength(2); // With npm, and with Bun.
  for (const command of commands) expect(command).toContain('"--ignore-scripts"');
});

test("those that would like to run one are known by name", () => {
  const wanting = installed
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([path]) => path.replace(/^.*node_modules\//, ""));
  expect([...new Set(wanting)].sort()).toEqual([...WANT_SCRIPTS]);
});

/**
 * Each works without: the launcher finds the binaries of `bun` and `deno`, and `@scarf/scarf` only counts downloads.
 */
const WANT_SCRIPTS = ["@scarf/scarf", "bun", "deno"];

test("the source names no other host, but in examples, links that people follow and names of namespaces", () => {
  const sources = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" }).filter((path) =>
    /\.(ts|js|mjs|html|css)$/.test(path),
  );
  const hosts = sources.flatMap((path) => {
    const text = readFileSync(join(ROOT, "src", path), "utf8");
    return [...text.matchAll(/https?:\/\/([a-z][\w.-]*\.[a-z]{2,})/g)].map(([, host]) => `${path} ${host}`);
  });
  expect([...new Set(hosts)].sort()).toEqual([...HOSTS]);
});

const HOSTS = [
  "cli/cluster/command.ts node-a.example.org",
  "cli/keys/command.ts example.org",
  "cli/keys/command.ts map.example.org",
  "cli/map/command.ts maps.example.org",
  "cli/map/flags.ts maps.example.org",
  "cli/remote/command.ts example.org",
  "cli/serve/command.ts map.example.org",
  "cli/serve/flags.ts example.org",
  "cli/serve/flags.ts proxy.example",
  "formats/write/gpx.ts www.garmin.com", // Namespaces of XML, which nobody fetches.
  "formats/write/gpx.ts www.topografix.com",
  "formats/write/kml.ts www.google.com",
  "formats/write/kml.ts www.opengis.net",
  "http/endpoints/webhooks/shapes.ts hooks.example.com",
  "http/openapi/document.ts creativecommons.org", // Licences and credits, in the document.
  "http/openapi/document.ts opensource.org",
  "http/openapi/document.ts www.geonames.org",
  "map/streets/archive-head.ts github.com", // A specification, in a comment.
  "model/record-id.ts github.com", // A comment.
  "service/webhooks/parse-webhook.ts example.com",
  "web/map/world-layers.ts creativecommons.org", // Credits on the map, for people to follow.
  "web/map/world-layers.ts www.geonames.org",
  "web/map/world-layers.ts www.naturalearthdata.com",
  "web/tools/help.ts github.com", // The same, for what the page is made of.
  "web/tools/help.ts lit.dev",
  "web/tools/help.ts maplibre.org",
  "web/tools/help.ts terradraw.io",
  "web/tools/help.ts www.geonames.org",
  "web/tools/help.ts www.naturalearthdata.com",
];

test("SECURITY.md names tests that exist, and every test of the folders about security", () => {
  const text = readFileSync(join(ROOT, "SECURITY.md"), "utf8");
  const named = [...text.matchAll(/`(test\/)?([\w/-]+\.test\.ts)`/g)].map(([, folder, path]) =>
    folder === undefined ? `test/unit/security/${path}` : `test/${path}`,
  );
  for (const path of named) expect(existsSync(join(ROOT, path)), path).toBeTrue();
  const tests = ["test/unit/security", "test/system/security"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".test.ts"))
      .map((path) => `${folder}/${path}`),
  );
  expect(tests.filter((path) => !named.includes(path))).toEqual([]);
});

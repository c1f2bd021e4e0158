import { afterAll, beforeAll, expect } from "bun:test";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type Architecture, buildExecutable } from "../../../deploy/release/executable.ts";
import { buildImage } from "../../../deploy/release/image.ts";
import { partsFor } from "../../../deploy/release/packages.ts";
import { hasDebianPrograms } from "../../../deploy/release/system-libraries.ts";
import { store } from "../support/client.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: the image has all that the executable needs and nothing that differs between two builds. Method: its layers,
 * unpacked into a folder that is the root of its process, which starts as the image's settings say.
 */

const BYTES_MAX = 90e6;
const EPOCH = 1_795_000_000;
const MS_PER_DAY = 86_400_000;

interface Settings {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Healthcheck: { readonly Test: readonly string[] };
}

const isHere =
  process.platform === "linux" &&
  process.getuid?.() === 0 &&
  hasDebianPrograms() &&
  ["chroot", "mount"].every((name) => Bun.which(name) !== null);
if (!isHere) console.warn("Left out: the image for containers, which needs root, apt-get, dpkg-deb and tar.");

const folder = mkdtempSync(join(tmpdir(), "wherehouse-images-"));
const [opened, root] = [join(folder, "opened"), join(folder, "root")];
const architecture = process.arch as Architecture;
let image: string;
let settings: Settings;
let diffIds: readonly string[];
let layers: readonly string[];
let isMounted = false;

beforeAll(async () => {
  if (!isHere) return;
  const executable = join(folder, "wherehouse");
  await buildExecutable({ architecture, outfile: executable, ...partsFor(architecture) });
  image = buildImage({ architecture, version: "0.2.0", executable, folder, epoch: EPOCH });
  for (const path of [opened, root]) mkdirSync(path);
  expect(spawnSync("tar", ["-xf", image, "-C", opened]).status).toBe(0);
  const [{ Config, Layers }] = readJson("manifest.json");
  ({
    config: settings,
    rootfs: { diff_ids: diffIds },
  } = readJson(Config));
  layers = Layers;
  for (const layer of layers)
    expect(spawnSync("tar", ["-xzpf", join(opened, layer), "-C", root]).status).toBe(0);
  mkdirSync(join(root, "proc")); // As every container has it.
  isMounted = spawnSync("mount", ["-t", "proc", "proc", join(root, "proc")]).status === 0;
}, 240_000);

afterAll(() => {
  if (isMounted) spawnSync("umount", [join(root, "proc")]);
  rmSync(folder, { recursive: true });
});

function readJson(path: string) {
  return JSON.parse(readFileSync(join(opened, path), "utf8"));
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The arguments of `env` that run a program in the image, as its user with its environment alone. */
function inImage(...words: readonly string[]): string[] {
  return ["-i", ...settings.Env, Bun.which("chroot")!, `--userspec=${settings.User}`, root, ...words];
}

function runInImage(...words: readonly string[]) {
  return spawnSync("env", inImage(...words), { encoding: "utf8" });
}

test.if(isHere)("its blobs are what their names say, and index.json leads to them", () => {
  const blobs = join(opened, "blobs/sha256");
  for (const name of readdirSync(blobs)) expect(digestOf(readFileSync(join(blobs, name)))).toBe(name);
  const hexOf = (digest: string) => digest.replace("sha256:", "");
  const [{ digest }] = readJson("index.json").manifests;
  const manifest = readJson(`blobs/sha256/${hexOf(digest)}`);
  expect(manifest.layers.map((layer: { digest: string }) => `blobs/sha256/${hexOf(layer.digest)}`)).toEqual(
    layers,
  );
  for (const { digest: each, size } of [manifest.config, ...manifest.layers])
    expect(statSync(join(blobs, hexOf(each))).size).toBe(size);
  const unpacked = layers.map((layer) => `sha256:${digestOf(gunzipSync(readFileSync(join(opened, layer))))}`);
  expect(unpacked).toEqual([...diffIds]);
  expect(statSync(image).size).toBeLessThan(BYTES_MAX);
});

/** Reads what a program writes until the pattern matches. */
async function textUntil(stream: ReadableStream<Uint8Array>, pattern: RegExp): Promise<string> {
  // The rest stays in the pipe, which must be open while the program writes.
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (!pattern.test(text)) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`It ended: ${text}`);
    text += decoder.decode(value, { stream: true });
  }
  return text;
}

test.if(isHere)(
  "its process starts as a user of its own, takes reports, is healthy, and stops; commands work on its data",
  async () => {
    expect(isMounted).toBe(true);
    const words = inImage(...settings.Entrypoint, ...settings.Cmd, "--port", "0");
    const server = Bun.spawn(["env", ...words], { stdout: "pipe", stderr: "pipe" });
    const out = await textUntil(server.stdout, /locations\/current\n/);
    await textUntil(server.stderr, /Ready after/);
    const url = `http://127.0.0.1:${/:(\d+)/.exec(out)![1]}`;
    const key = readFileSync(join(root, "data/first-key"), "utf8").trim();
    const report = { device_id: "tram", timestamp: Date.now() - 9 * MS_PER_DAY, latitude: 53, longitude: -2 };
    await store({ url, key }, [report]);
    const tst = Math.floor(Date.now() / 1000);
    const phone = { _type: "location", tid: "ab", lat: 53.1, lon: -2.1, tst };
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const sent = { method: "POST", headers, body: JSON.stringify(phone) };
    expect((await fetch(`${url}/ingest/owntracks?u=ann&d=phone`, sent)).status).toBe(200);
    expect((await fetch(`${url}/map`)).status).toBe(200);
    const [, ...check] = settings.Healthcheck.Test;
    const health = runInImage(...check);
    expect([health.status, health.stdout + health.stderr]).toEqual([0, "Ready.\n"]);
    expect(statSync(join(root, "data/wal")).uid).toBe(Number(settings.User.split(":")[0]));
    const seal = runInImage("/usr/bin/wherehouse", "seal");
    expect(seal.stderr).toContain("in use");
    server.kill("SIGTERM");
    expect(await server.exited).toBe(0);
    for (const [args, says] of [
      [["seal"], "Archived 1 record of "],
      [["export", "--app", "default", "--format", "csv", "--out", "/tmp/all.csv"], "2 records"],
      [["backup", "/tmp/backup"], "Backed up"],
      [["verify"], "Nothing is damaged."],
      [["restore", "/tmp/backup", "--data-dir", "/tmp/restored"], "Restored"],
    ] as const) {
      const { status, stdout, stderr } = runInImage("/usr/bin/wherehouse", ...args);
      expect([args[0], status, stdout + stderr]).toEqual([args[0], 0, expect.stringContaining(says)]);
    }
    expect(runInImage(...check).status).toBe(1);
  },
);

test.if(isHere)("made twice of the same executable, it is the same", () => {
  const again = join(folder, "again");
  mkdirSync(again);
  const executable = join(again, "another-name");
  copyFileSync(join(folder, "wherehouse"), executable);
  const made = buildImage({ architecture, version: "0.2.0", executable, folder: again, epoch: EPOCH });
  expect(readFileSync(made).equals(readFileSync(image))).toBe(true);
});

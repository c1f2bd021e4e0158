import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { DEBIAN_ARCHITECTURES, type DebianOptions, putExecutable } from "./debian.ts";
import { run } from "./run.ts";
import { systemLibraries } from "./system-libraries.ts";

/*
 * An image for containers with nothing but the executable and what it needs: an OCI layout in a tar file, with the
 * list that older Docker reads. The lower layer has the C libraries and a user, the upper one the executable.
 */

/** The user's number, and its group's. */
const USER = 10_001;

const READY: readonly string[] = ["/usr/bin/wherehouse", "doctor", "--ready"];
const NS_PER_S = 1e9;

/** As the Containerfile has it. */
const SETTINGS = {
  User: `${USER}:${USER}`,
  Env: ["PATH=/usr/bin", "HOME=/tmp", "WHEREHOUSE_DATA_DIR=/data", "WHEREHOUSE_HOST=0.0.0.0"],
  Entrypoint: ["/usr/bin/wherehouse"],
  Cmd: ["serve"],
  WorkingDir: "/data",
  Volumes: { "/data": {} },
  ExposedPorts: { "3000/tcp": {} },
  StopSignal: "SIGTERM",
  // Healthy once every acknowledged record can be queried.
  Healthcheck: {
    Test: ["CMD", ...READY],
    Interval: 10 * NS_PER_S,
    Timeout: 5 * NS_PER_S,
    StartPeriod: 600 * NS_PER_S,
    StartInterval: NS_PER_S,
  },
};

/** Returns the path of the image, which `podman load` and `docker load` take. */
export function buildImage({ architecture, version, executable, folder, epoch }: DebianOptions): string {
  const path = join(folder, `wherehouse-${version}-image-${architecture}.tar`);
  const scratch = mkdtempSync(join(tmpdir(), "wherehouse-image-"));
  try {
    const system = join(scratch, "system");
    cpSync(systemLibraries(architecture), system, { recursive: true });
    putUser(system);
    const program = join(scratch, "program");
    putExecutable(executable, program);
    const layout = new Layout(join(scratch, "layout"));
    const layers = [system, program].map((each) => layout.putLayer(each, scratch, epoch));
    const config = {
      created: new Date(epoch * 1000).toISOString(),
      architecture: DEBIAN_ARCHITECTURES[architecture],
      os: "linux",
      config: SETTINGS,
      rootfs: { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) },
    };
    layout.finish(config, layers, version);
    rmSync(path, { force: true });
    pack(layout.folder, ["."], path, epoch, 0);
    return path;
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function putUser(system: string): void {
  const files = {
    passwd: `root:x:0:0:root:/:/\nwherehouse:x:${USER}:${USER}:wherehouse:/data:/\n`,
    group: `root:x:0:\nwherehouse:x:${USER}:\n`,
    "nsswitch.conf": "hosts: files dns\n",
  };
  mkdirSync(join(system, "etc"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(system, "etc", name), text);
  for (const [name, mode] of [
    ["tmp", 0o1777],
    ["data", 0o700],
  ] as const) {
    mkdirSync(join(system, name));
    chmodSync(join(system, name), mode);
  }
}

/** Adds files of a folder to a tar file. The bytes do not depend on the time or on the user of the build. */
function pack(folder: string, names: readonly string[], path: string, epoch: number, owner: number): void {
  const same = ["--sort=name", `--mtime=@${epoch}`, "--numeric-owner", "--format=gnu"];
  const owned = [`--owner=${owner}`, `--group=${owner}`, `--directory=${folder}`];
  run("tar", ["--append", `--file=${path}`, ...same, ...owned, ...names]);
}

interface Blob {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

interface Layer extends Blob {
  /** The digest of its tar file before it is compressed. */
  readonly diffId: string;
}

/** The folder of an image: blobs by their digests, and the files that name the first of them. */
class Layout {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(join(folder, "blobs/sha256"), { recursive: true });
  }

  putLayer(files: string, scratch: string, epoch: number): Layer {
    const archive = join(mkdtempSync(join(scratch, "layer-")), "layer.tar");
    const names = readdirSync(files).sort();
    const ofRoot = names.filter((name) => name !== "data");
    pack(files, ofRoot, archive, epoch, 0);
    if (names.includes("data")) pack(files, ["data"], archive, epoch, USER);
    const bytes = readFileSync(archive);
    const blob = this.#put("application/vnd.oci.image.layer.v1.tar+gzip", gzipSync(bytes));
    return { ...blob, diffId: digestOf(bytes) };
  }

  finish(config: object, layers: readonly Layer[], version: string): void {
    const configBlob = this.#putJson("application/vnd.oci.image.config.v1+json", config);
    const manifest = this.#putJson("application/vnd.oci.image.manifest.v1+json", {
      schemaVersion: 2,
      mediaType: "application/vnd.oci.image.manifest.v1+json",
      config: configBlob,
      layers: layers.map(({ mediaType, digest, size }) => ({ mediaType, digest, size })),
    });
    const annotations = {
      "org.opencontainers.image.ref.name": version,
      "io.containerd.image.name": `docker.io/library/wherehouse:${version}`,
    };
    this.#write("oci-layout", { imageLayoutVersion: "1.0.0" });
    this.#write("index.json", {
      schemaVersion: 2,
      mediaType: "application/vnd.oci.image.index.v1+json",
      manifests: [{ ...manifest, annotations }],
    });
    const paths = { Config: pathOf(configBlob), Layers: layers.map(pathOf) };
    this.#write("manifest.json", [{ ...paths, RepoTags: [`wherehouse:${version}`] }]);
  }

  #put(mediaType: string, bytes: Uint8Array): Blob {
    const blob = { mediaType, digest: digestOf(bytes), size: bytes.length };
    writeFileSync(join(this.folder, pathOf(blob)), bytes);
    return blob;
  }

  #putJson(mediaType: string, value: object): Blob {
    return this.#put(mediaType, new TextEncoder().encode(JSON.stringify(value)));
  }

  #write(name: string, value: object): void {
    writeFileSync(join(this.folder, name), JSON.stringify(value));
  }
}

function pathOf({ digest }: Blob): string {
  return join("blobs", ...digest.split(":"));
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

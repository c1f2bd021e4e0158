import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { ROOT } from "./assets.ts";
import { DEBIAN_ARCHITECTURES } from "./debian.ts";
import type { Architecture } from "./executable.ts";
import { run } from "./run.ts";

/* The C libraries that an executable needs, from Debian's packages, which apt downloads and checks. */

const CACHE = join(ROOT, "node_modules/.cache/wherehouse-release");

const TRIPLETS: Readonly<Record<Architecture, string>> = {
  x64: "x86_64-linux-gnu",
  arm64: "aarch64-linux-gnu",
};

/** The path of the loader, which is part of an executable. */
const LOADERS: Readonly<Record<Architecture, string>> = {
  x64: "lib64/ld-linux-x86-64.so.2",
  arm64: "lib/ld-linux-aarch64.so.1",
};

const PACKAGES = ["libc6", "libgcc-s1", "libstdc++6"];

/** The license of GCC's libraries is in a package whose name has GCC's version. */
const LICENSE_PACKAGE = /gcc-\d+-base/g;

const LIBRARIES = [
  ...["libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libresolv.so.2"],
  ...["libgcc_s.so.1", "libstdc++.so.6"],
];

/** Whether this machine has the programs that fetch and open Debian's packages. */
export function hasDebianPrograms(): boolean {
  return ["apt-get", "dpkg-deb", "tar"].every((name) => Bun.which(name) !== null);
}

/** Returns a folder whose files belong at the root of a file system. They are downloaded once. */
export function systemLibraries(architecture: Architecture): string {
  const folder = join(CACHE, `libraries-${architecture}`);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const scratch = mkdtempSync(join(CACHE, "debian-"));
  try {
    fetchPackages(architecture, scratch);
    const opened = join(scratch, "opened");
    const all = join(scratch, "all");
    for (const path of packagesIn(scratch)) run("dpkg-deb", ["--extract", path, opened]);
    copyLibraries(architecture, opened, all);
    renameSync(all, folder);
    return folder;
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function packagesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".deb"))
    .map((name) => join(folder, name));
}

/** Has package lists of its own, so that the settings of this system do not matter and are not changed. */
function fetchPackages(architecture: Architecture, folder: string): void {
  const debian = DEBIAN_ARCHITECTURES[architecture];
  for (const name of ["state/lists/partial", "cache/archives/partial"])
    mkdirSync(join(folder, name), { recursive: true });
  const options = [
    `APT::Architecture=${debian}`,
    "APT::Architectures=",
    `APT::Architectures::=${debian}`,
    `Dir::State=${join(folder, "state")}`,
    "Dir::State::status=/dev/null",
    `Dir::Cache=${join(folder, "cache")}`,
    "APT::Sandbox::User=", // apt's own user could not write to this folder.
  ].flatMap((option) => ["-o", option]);
  run("apt-get", [...options, "-qq", "update"]);
  const download = (names: readonly string[]) =>
    run("apt-get", [...options, "-qq", "download", ...names], { cwd: folder });
  download(PACKAGES);
  const dependencies = packagesIn(folder).map((path) => run("dpkg-deb", ["--field", path, "Depends"]));
  download([...new Set(dependencies.join().match(LICENSE_PACKAGE))]);
}

function copyLibraries(architecture: Architecture, opened: string, all: string): void {
  const entries = readdirSync(opened, { recursive: true, withFileTypes: true }).filter(
    (entry) => !entry.isDirectory(),
  );
  // A file replaces a link of the same name, because links may lead to this system's own files.
  const inOrder = [
    ...entries.filter((entry) => entry.isSymbolicLink()),
    ...entries.filter((entry) => entry.isFile()),
  ];
  const files = new Map(inOrder.map(({ name, parentPath }) => [name, join(parentPath, name)]));
  const libraries = LIBRARIES.map((name) => join("lib", TRIPLETS[architecture], name));
  for (const target of [...libraries, LOADERS[architecture]]) {
    const source = files.get(basename(target));
    if (source === undefined) throw new Error(`Debian's packages have no ${basename(target)}`);
    mkdirSync(dirname(join(all, target)), { recursive: true });
    copyFileSync(source, join(all, target));
    chmodSync(join(all, target), 0o755);
  }
  for (const { name, parentPath } of entries.filter((entry) => entry.isFile())) {
    if (name !== "copyright") continue;
    const target = join(all, relative(opened, parentPath));
    mkdirSync(target, { recursive: true });
    copyFileSync(join(parentPath, name), join(target, name));
  }
}

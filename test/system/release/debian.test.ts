import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { buildDebian } from "../../../deploy/release/debian.ts";
import { type Architecture, buildExecutable } from "../../../deploy/release/executable.ts";
import { partsFor } from "../../../deploy/release/packages.ts";

/*
 * Goal: the Debian package installs the server with a user of its own, keeps its data over an upgrade and a removal,
 * and takes all away when it is purged. Method: dpkg in this very system, under an overlay that is thrown away.
 */

const DATA_DIR = "/var/lib/wherehouse";

interface Ran {
  readonly code: number | null;
  readonly output: string;
}

/** A copy of this system that changes in memory alone. */
class System {
  readonly #folder = mkdtempSync(join(tmpdir(), "wherehouse-system-"));
  readonly #mounted: string[] = [];

  get root(): string {
    return join(this.#folder, "root");
  }

  /** Whether this machine lets it be made. */
  open(): boolean {
    const memory = join(this.#folder, "memory");
    for (const path of [memory, this.root]) mkdirSync(path);
    if (!this.#mount("-t", "tmpfs", "tmpfs", memory)) return false;
    const [upper, work] = [join(memory, "upper"), join(memory, "work")];
    for (const path of [upper, work]) mkdirSync(path);
    const layers = `lowerdir=/,upperdir=${upper},workdir=${work}`;
    return (
      this.#mount("-t", "overlay", "overlay", "-o", layers, this.root) &&
      this.#mount("-t", "proc", "proc", join(this.root, "proc")) &&
      this.#mount("--bind", "/dev", join(this.root, "dev"))
    );
  }

  #mount(...args: readonly string[]): boolean {
    const isMounted = spawnSync("mount", args).status === 0;
    if (isMounted) this.#mounted.push(args.at(-1)!);
    return isMounted;
  }

  run(...words: readonly string[]): Ran {
    const environment = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", DEBIAN_FRONTEND: "noninteractive" };
    const { status, stdout, stderr } = spawnSync("chroot", [this.root, ...words], {
      env: environment,
      encoding: "utf8",
    });
    return { code: status, output: stdout + stderr };
  }

  /** Runs the program as the package's user, in its directory. */
  wherehouse(...words: readonly string[]): Ran {
    const program = ["timeout", "-s", "INT", "20", "wherehouse", ...words, "--data-dir", DATA_DIR];
    return this.run("runuser", "-u", "wherehouse", "--", ...program);
  }

  close(): void {
    for (const path of this.#mounted.reverse()) spawnSync("umount", [path]);
    rmSync(this.#folder, { recursive: true });
  }
}

function hasPrograms(...names: readonly string[]): boolean {
  return names.every((name) => Bun.which(name) !== null);
}

const system = new System();
const isHere =
  process.platform === "linux" &&
  process.getuid?.() === 0 &&
  hasPrograms("dpkg", "dpkg-deb", "adduser", "curl", "chroot", "runuser") &&
  system.open();
if (!isHere)
  console.warn("Left out: the Debian package, which needs root, dpkg, adduser, curl and an overlay.");

const architecture = process.arch as Architecture;
const epoch = 1_795_000_000;
let folder: string;
const packages: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "wherehouse-packages-"));
  if (!isHere) return;
  const executable = join(folder, "wherehouse");
  await buildExecutable({ architecture, outfile: executable, ...partsFor(architecture) });
  for (const version of ["0.2.0", "0.2.1"]) {
    const made = buildDebian({ architecture, version, executable, folder, epoch });
    copyFileSync(made, join(system.root, "tmp", basename(made)));
    packages.push(join("/tmp", basename(made)));
  }
}, 120_000);
afterAll(() => {
  system.close();
  rmSync(folder, { recursive: true });
});

test.if(isHere)(
  "it is installed, upgraded, removed and purged",
  () => {
    const dpkg = (...words: readonly string[]) => {
      const { code, output } = system.run("dpkg", ...words);
      expect([words, code, output]).toEqual([words, 0, expect.anything()]);
    };
    dpkg("--install", packages[0]!);
    expect(system.run("wherehouse", "--version").code).toBe(0);
    expect(system.run("stat", "--format=%U %a", DATA_DIR).output).toBe("wherehouse 700\n");
    expect(system.wherehouse("keys", "create", "--app", "default", "--permission", "read").code).toBe(0);
    const listed = () => system.wherehouse("keys", "list").output;
    const before = listed();
    expect(before).toContain("default");
    const unit = system.run("cat", "/usr/lib/systemd/system/wherehouse.service").output;
    expect(unit).toContain("\nExecStart=/usr/bin/wherehouse serve\n");
    expect(unit).toContain("\nUser=wherehouse\n");
    expect(unit).not.toContain("/opt/");

    dpkg("--install", packages[1]!);
    expect(listed()).toBe(before);
    dpkg("--remove", "wherehouse");
    expect(system.run("wherehouse", "--version").code).not.toBe(0);
    expect(existsSync(join(system.root, DATA_DIR, "keys.json"))).toBe(true);
    dpkg("--purge", "wherehouse");
    expect(existsSync(join(system.root, DATA_DIR))).toBe(false);
    expect(system.run("id", "wherehouse").code).not.toBe(0);
  },
  120_000,
);

test.if(isHere)(
  "made twice of the same executable, it is the same",
  () => {
    const executable = join(folder, "wherehouse");
    const again = mkdtempSync(join(folder, "again-"));
    const made = buildDebian({ architecture, version: "0.2.0", executable, folder: again, epoch });
    expect(readFileSync(made).equals(readFileSync(join(folder, basename(made))))).toBe(true);
  },
  120_000,
);

import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "./assets.ts";
import type { Architecture } from "./executable.ts";
import { run } from "./run.ts";

/* A Debian package of the executable: a systemd unit, a user of its own, data in /var/lib/wherehouse. */

export const DEBIAN_ARCHITECTURES: Readonly<Record<Architecture, string>> = { x64: "amd64", arm64: "arm64" };

export interface DebianOptions {
  readonly architecture: Architecture;
  readonly version: string;
  readonly executable: string;
  readonly folder: string;
  /** Unix seconds of all files, so that the package is the same whenever it is made. */
  readonly epoch: number;
}

/** Returns the path of the package. */
export function buildDebian({ architecture, version, executable, folder, epoch }: DebianOptions): string {
  const debian = DEBIAN_ARCHITECTURES[architecture];
  const path = join(folder, `wherehouse_${version}_${debian}.deb`);
  const tree = mkdtempSync(join(tmpdir(), "wherehouse-deb-"));
  const put = (name: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(join(tree, name)), { recursive: true, mode: 0o755 });
    writeFileSync(join(tree, name), text);
    chmodSync(join(tree, name), mode);
  };
  try {
    chmodSync(tree, 0o755);
    const kilobytes = Math.ceil(statSync(executable).size / 1024);
    put("DEBIAN/control", control(version, debian, kilobytes));
    put("DEBIAN/postinst", POSTINST, 0o755);
    put("DEBIAN/prerm", PRERM, 0o755);
    put("DEBIAN/postrm", POSTRM, 0o755);
    put("usr/lib/systemd/system/wherehouse.service", unit());
    put("usr/share/doc/wherehouse/copyright", readFileSync(join(ROOT, "LICENSE"), "utf8"));
    putExecutable(executable, tree);
    run("dpkg-deb", ["--root-owner-group", "-Zzstd", "-z6", "--build", tree, path], {
      environment: { SOURCE_DATE_EPOCH: String(epoch) },
    });
    return path;
  } finally {
    rmSync(tree, { recursive: true });
  }
}

/** Copies the executable to where a system has it. */
export function putExecutable(executable: string, system: string): void {
  mkdirSync(join(system, "usr/bin"), { recursive: true, mode: 0o755 });
  copyFileSync(executable, join(system, "usr/bin/wherehouse"));
  chmodSync(join(system, "usr/bin/wherehouse"), 0o755);
}

function control(version: string, architecture: string, kilobytes: number): string {
  return `Package: wherehouse
Version: ${version}
Architecture: ${architecture}
Maintainer: Wherehouse <wherehouse@localhost>
Installed-Size: ${kilobytes}
Depends: libc6 (>= 2.28), libgcc-s1, libstdc++6, adduser, curl
Section: net
Priority: optional
Description: location tracking on one machine
 Devices report where they are; anyone with a key can ask where they are now,
 where they were, and who is near. History is kept in Parquet files.
`;
}

/** The unit for an executable in place of the project's folder, and a user that also runs commands. */
function unit(): string {
  const source = readFileSync(join(ROOT, "deploy/wherehouse.service"), "utf8");
  const changes: readonly (readonly [RegExp, string])[] = [
    [/^(#.*\n)+/, "# Flags can be given as variables in /etc/wherehouse.env: WHEREHOUSE_PORT=8080\n"],
    [/^Documentation=.*\n/m, ""],
    [/^DynamicUser=yes$/m, "User=wherehouse\nGroup=wherehouse"],
    [/^WorkingDirectory=.*$/m, "WorkingDirectory=%S/wherehouse"],
    [/^#.*\nExecStart=.*$/m, "ExecStart=/usr/bin/wherehouse serve"],
  ];
  return changes.reduce((text, [pattern, replacement]) => {
    if (!pattern.test(text)) throw new Error(`deploy/wherehouse.service has no line like ${pattern}`);
    return text.replace(pattern, replacement);
  }, source);
}

const POSTINST = `#!/bin/sh
set -e
if [ "$1" = configure ]; then
  adduser --quiet --system --group --home /var/lib/wherehouse --no-create-home wherehouse
  install -d -m 0700 -o wherehouse -g wherehouse /var/lib/wherehouse
  if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    systemctl enable --quiet wherehouse.service
    systemctl restart wherehouse.service
  fi
fi
`;

const PRERM = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl disable --quiet --now wherehouse.service
fi
`;

const POSTRM = `#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
if [ "$1" = purge ]; then
  rm -rf /var/lib/wherehouse
  if getent passwd wherehouse >/dev/null; then deluser --quiet --system wherehouse || true; fi
fi
`;

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import manifest from "../../package.json" with { type: "json" };
import { ROOT } from "./assets.ts";
import { packClient } from "./client-package.ts";
import { buildDebian } from "./debian.ts";
import { type Architecture, buildExecutable } from "./executable.ts";
import { buildImage } from "./image.ts";
import { partsFor } from "./packages.ts";
import { run } from "./run.ts";
import { packServer } from "./server-package.ts";
import { hasDebianPrograms } from "./system-libraries.ts";

/* Makes the files of a release: executables, packages, images, what they are made of, checksums, and notes. */

const USAGE = `Usage: npm run release -- --version ${manifest.version} [options]

Makes the files of a release in a folder. Needs a checkout without changes; fetches the packages of the other
architecture from npm's registry, and the C libraries of images from Debian's.

  --version VERSION  the version, which package.json must have
  --out DIRECTORY    the folder, which is emptied before (dist)
  --only ARCH        x64 or arm64 alone
`;

const ARCHITECTURES: readonly Architecture[] = ["x64", "arm64"];

const { values } = parseArgs({
  options: {
    version: { type: "string" },
    out: { type: "string", default: "dist" },
    only: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(USAGE);
else process.exitCode = await release();

async function release(): Promise<number> {
  const { version, out, only } = values;
  const architectures = ARCHITECTURES.filter((each) => only === undefined || each === only);
  if (version === undefined) return refuse("--version is required");
  if (version !== manifest.version)
    return refuse(`package.json has version ${manifest.version}, not ${version}`);
  if (architectures.length === 0) return refuse(`--only is x64 or arm64, not ${only}`);
  const changes = run("git", ["status", "--porcelain"]);
  if (changes !== "") return refuse(`the checkout has changes that are in no commit:\n${changes}`);
  const epoch = Number(run("git", ["log", "-1", "--format=%ct"]));
  const folder = join(process.cwd(), out);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const canBuildImage = hasDebianPrograms();
  const made: string[] = [];
  for (const architecture of architectures) {
    const executable = join(folder, `wherehouse-${version}-linux-${architecture}`);
    await buildExecutable({ architecture, outfile: executable, ...partsFor(architecture) });
    made.push(executable, buildDebian({ architecture, version, executable, folder, epoch }));
    say(`${basename(executable)}: ${megabytes(executable)} MB, and its Debian package`);
    if (!canBuildImage) continue;
    const image = buildImage({ architecture, version, executable, folder, epoch });
    made.push(image);
    say(`${basename(image)}: ${megabytes(image)} MB`);
  }
  made.push(await packClient(version, folder), packServer(folder));
  made.push(writeBill(join(folder, `wherehouse-${version}.cdx.json`), epoch));
  made.push(writeNotes(join(folder, "NOTES.md"), version));
  const sums = made.map((path) => `${hashOf(path)}  ${basename(path)}\n`);
  writeFileSync(join(folder, "SHA256SUMS"), sums.join(""));
  if (!canBuildImage) say("Left out: images for containers, which need apt-get, dpkg-deb and tar.");
  say(`The release is in ${folder}`);
  return 0;
}

function refuse(reason: string): number {
  process.stderr.write(`${reason}\n\n${USAGE}`);
  return 2;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function megabytes(path: string): string {
  return (statSync(path).size / 1e6).toFixed(1);
}

function hashOf(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

/** What the server is made of, in CycloneDX, with nothing in it that differs between two runs. */
function writeBill(path: string, epoch: number): string {
  const text = run("npm", ["sbom", "--sbom-format=cyclonedx", "--omit=dev", "--package-lock-only"]);
  const {
    serialNumber: _,
    metadata,
    ...bill
  } = JSON.parse(text) as { metadata: object; serialNumber: string };
  const timestamp = new Date(epoch * 1000).toISOString();
  writeFileSync(path, `${JSON.stringify({ ...bill, metadata: { ...metadata, timestamp } }, null, 2)}\n`);
  return path;
}

/** The version's section of the changelog. */
function writeNotes(path: string, version: string): string {
  const changelog = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`[${version}]`)) ?? sections[0]!;
  writeFileSync(path, `# Wherehouse ${version}\n${section.slice(section.indexOf("\n"))}`);
  return path;
}

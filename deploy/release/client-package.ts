import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { ROOT } from "./assets.ts";
import { packFolder, run } from "./run.ts";

/* The client as a package for npm: one module without types, and its types beside it. */

export const CLIENT_NAME = "@wherehouse/client";

const SOURCE = join(ROOT, "deploy/client");

/** Returns the path of the package, which `npm install` takes. */
export async function packClient(version: string, folder: string): Promise<string> {
  run(process.execPath, ["test/system/examples/write-types.ts"]);
  const scratch = mkdtempSync(join(tmpdir(), "wherehouse-client-"));
  try {
    const built = await Bun.build({
      entrypoints: [join(SOURCE, "wherehouse.ts")],
      outdir: scratch,
      target: "browser",
      minify: true,
    });
    if (!built.success) throw new AggregateError(built.logs, "the client can't be built");
    writeTypes(scratch);
    for (const name of ["README.md", "schema.d.ts"]) copyFileSync(join(SOURCE, name), join(scratch, name));
    copyFileSync(join(ROOT, "LICENSE"), join(scratch, "LICENSE"));
    writeFileSync(join(scratch, "package.json"), `${JSON.stringify(manifestOf(version), null, 2)}\n`);
    return packFolder(scratch, folder);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function manifestOf(version: string) {
  return {
    name: CLIENT_NAME,
    version,
    description: "Asks a Wherehouse server where devices are, and reports to it.",
    license: "MIT",
    type: "module",
    sideEffects: false,
    engines: { node: ">=20" },
    exports: { ".": { types: "./wherehouse.d.ts", default: "./wherehouse.js" } },
  };
}

/** What types import of other files here, with another ending or none. */
const IMPORT = /(from |import\()"(\.\/[\w-]+?)(?:\.d)?(?:\.ts)?"/g;

function writeTypes(folder: string): void {
  run("node", [
    join(ROOT, "node_modules/typescript-native/bin/tsc"),
    join(SOURCE, "wherehouse.ts"),
    ...["--declaration", "--emitDeclarationOnly", "--allowImportingTsExtensions", "--skipLibCheck"],
    ...["--target", "esnext", "--module", "esnext", "--moduleResolution", "bundler", "--strict"],
    ...["--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"],
    ...[
      "--ignoreConfig",
      "--types",
      "",
      "--lib",
      "esnext,dom,dom.iterable,dom.asynciterable",
      "--outDir",
      folder,
    ],
  ]);
  for (const name of readdirSync(folder).filter((each) => each.endsWith(".d.ts"))) {
    const text = readFileSync(join(folder, name), "utf8");
    writeFileSync(join(folder, name), text.replaceAll(IMPORT, '$1"$2.js"'));
  }
}

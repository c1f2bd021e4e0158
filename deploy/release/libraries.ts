import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join, resolve, sep } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { zstdDecompress } from "node:zlib";
import { libraries, librariesHash } from "wherehouse:embedded";
import { FileError, type Files, readIfThere } from "../../src/runtime/files.ts";
import { createNodeFiles } from "../../src/runtime/node-files.ts";

/*
 * DuckDB inside of the executable. The system loads libraries from files alone, so they are unpacked once into a folder
 * that only its owner can enter, and their hashes are compared before each load.
 */

/** Names the folder to helper processes too, which get none of the program's own variables. */
const FOLDER_VARIABLE = "DUCKDB_LIBRARIES";

const ADVICE = "If the folder's disk runs no programs (noexec), set WHEREHOUSE_LIB_DIR to one elsewhere.";

/** Chooses where libraries are unpacked: `WHEREHOUSE_LIB_DIR`, the data directory, or the user's cache. */
export function chooseLibraryFolder(dataDir: string | null): void {
  const { WHEREHOUSE_LIB_DIR: chosen, XDG_CACHE_HOME: cache = join(homedir(), ".cache") } = process.env;
  const parent = chosen ?? (dataDir === null ? join(cache, "wherehouse", "lib") : join(dataDir, "lib"));
  process.env[FOLDER_VARIABLE] = join(resolve(parent), librariesHash);
}

/** In another thread, since a server may go on answering meanwhile. */
const unpacked = promisify(zstdDecompress);

export async function unpackIntoFolder(): Promise<void> {
  const files = createNodeFiles();
  const folder = process.env[FOLDER_VARIABLE]!;
  for (const { name, packed, sha256 } of libraries) {
    const path = join(folder, name);
    if ((await hashOf(files, path)) === sha256) continue;
    await files.makeDirectory(folder);
    await files.replace(path, await unpacked(await files.read(packed)));
  }
}

/** Throws if the folder can't be made, or if its disk runs no programs, before a seal needs it. */
export async function checkFolder(): Promise<void> {
  const files = createNodeFiles();
  const folder = process.env[FOLDER_VARIABLE]!;
  await files.makeDirectory(folder);
  const mounts = await readIfThere(files, "/proc/self/mountinfo");
  if (mounts !== null && isNoExec(new TextDecoder().decode(mounts), realpathSync(folder)))
    throw new FileError("load libraries from", folder, "EACCES", undefined, ADVICE);
}

/** Whether a path is below a mount that is `noexec`, by proc_pid_mountinfo(5). The longest and latest one counts. */
function isNoExec(mounts: string, path: string): boolean {
  let [longest, options] = ["", ""];
  for (const line of mounts.trimEnd().split("\n")) {
    const [, , , , escaped = "", own = ""] = line.split(" ");
    const mount = escaped.replaceAll(/\\(\d{3})/g, (_, code: string) =>
      String.fromCharCode(parseInt(code, 8)),
    );
    const isAbove = `${path}${sep}`.startsWith(mount === sep ? mount : `${mount}${sep}`);
    if (isAbove && mount.length >= longest.length) [longest, options] = [mount, own];
  }
  return options.split(",").includes("noexec");
}

/** Null if there is no such file. */
async function hashOf(files: Files, path: string): Promise<string | null> {
  if (!(await files.exists(path))) return null;
  const hash = createHash("sha256");
  for await (const piece of files.readPieces(path)) hash.update(piece);
  return hash.digest("hex");
}

/** Loads DuckDB's binding, whose library lies beside it. */
export function loadBinding(): unknown {
  const path = join(process.env[FOLDER_VARIABLE]!, "duckdb.node");
  try {
    return createRequire(import.meta.url)(path);
  } catch (cause) {
    const { code = "unknown", message } = cause as { readonly code?: string; readonly message: string };
    throw new FileError("load", path, code, cause, `${message}. ${ADVICE}`);
  }
}

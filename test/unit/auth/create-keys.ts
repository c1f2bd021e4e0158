/** Creates keys in a real directory: `create-keys.ts KEYS_JSON COUNT`. Run several to see them share a file. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { openKeyStore } from "../../../src/auth/key-store.ts";
import type { SharedFileDependencies } from "../../../src/directory/shared-file.ts";
import { UNBOUND } from "../../../src/model/binding.ts";
import type { AppId } from "../../../src/model/ids.ts";
import { systemClock } from "../../../src/model/time/clock.ts";
import { FileError } from "../../../src/runtime/files.ts";
import { acquireSqliteLock } from "../../../src/runtime/sqlite-lock.ts";

const files: SharedFileDependencies["files"] = {
  async read(path) {
    try {
      return readFileSync(path);
    } catch {
      throw new FileError("read", path, "ENOENT");
    }
  },
  async replace(path, bytes) {
    writeFileSync(`${path}.${process.pid}`, bytes);
    renameSync(`${path}.${process.pid}`, path);
  },
  async makeDirectory(path) {
    mkdirSync(path, { recursive: true });
  },
};

const [path = "", count = ""] = process.argv.slice(2);
const store = await openKeyStore({
  files,
  path,
  clock: systemClock,
  acquireLock: acquireSqliteLock,
  process: { pid: process.pid, command: "keys create" },
});
for (let i = 0; i < Number(count); i++) {
  const created = await store.create({
    appId: "default" as AppId,
    permissions: ["read"],
    view: null,
    tier: "free",
    label: "",
    ...UNBOUND,
    expiresMs: null,
  });
  if (!created.ok) throw new Error(created.error.kind);
}

import type { Clock } from "../../../src/model/time/clock.ts";
import { backUp } from "../../../src/operator/backup/backup.ts";
import { restore } from "../../../src/operator/backup/restore.ts";
import type { Files } from "../../../src/runtime/files.ts";
import { createRunDisk, type RunDisk } from "../../unit/simulation/disk/disk.ts";
import type { SimulationEngine } from "../../unit/simulation/run/engine.ts";
import { copyNoSqlite } from "../disk/memory-sqlite.ts";
import { SIMULATED_DATA_DIR } from "../disk/mirrored-disk.ts";

const BACKUP = "/backup";
const RESTORED = "/restored";

/** Backs up the directory of a service that runs, restores it, and puts the copy on a disk of its own. */
export async function backedUpDisk(
  files: Files,
  disk: RunDisk,
  engine: SimulationEngine,
  clock: Clock,
): Promise<RunDisk> {
  const common = {
    ...{ files, directory: BACKUP, onProgress: () => {} },
    async take(directory: string) {
      await files.makeDirectory(directory);
      return () => {};
    },
  };
  const made = await backUp({
    ...common,
    copySqlite: copyNoSqlite,
    clock,
    program: "life",
    dataDir: SIMULATED_DATA_DIR,
  });
  // It may have problems: a first seal that failed leaves files without a manifest.
  if (!made.ok) throw new Error(`a backup is not made: ${made.error}`);
  const restored = await restore({ ...common, dataDir: RESTORED });
  if (!restored.ok) throw new Error(`a backup is not restored: ${restored.error.message}`);
  const copy = createRunDisk(engine);
  for (const [path, bytes] of disk.contents())
    if (path.startsWith(`${RESTORED}/`)) copy.damage(path.replace(RESTORED, SIMULATED_DATA_DIR), bytes);
  return copy;
}

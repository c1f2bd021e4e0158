import { readAcknowledged, writeAcknowledged } from "../../../../src/directory/damaged-files.ts";
import { heldByPart } from "../disk/flips.ts";
import type { RunContext } from "./context.ts";
import { ARCHIVE_DIRECTORY, DAMAGED_DIRECTORY } from "./service.ts";

/** Gives up the damaged parts of the archive, as `verify --acknowledge` does; false where there are none. */
export async function acknowledgeDamage(run: RunContext): Promise<boolean> {
  const { damage, disk, engine } = run;
  const { directory, files } = run.service;
  const given = [...directory.archive.damaged.keys()];
  if (given.length === 0) return false;
  run.tell(`given up: ${given.join(", ")}`);
  const contents = disk.contents();
  const parts = await Promise.all(
    given.map((file) => heldByPart(`${ARCHIVE_DIRECTORY}/${file}`, contents, engine)),
  );
  let isSure = true;
  try {
    const known = await readAcknowledged(files, DAMAGED_DIRECTORY);
    const more = given.map((name) => ({ name, bytes: 0 }));
    await writeAcknowledged(files, DAMAGED_DIRECTORY, [...known, ...more]);
  } catch {
    isSure = false;
  }
  const known = parts.filter((part) => part !== null);
  damage.noteAcknowledged(given, known, isSure);
  return true;
}

import { DEFAULT_RETENTION, FixedRetention, type Retention } from "../../model/time/retention.ts";
import { type Files, readIfThere } from "../../runtime/files.ts";
import { archivePaths } from "../archive-files.ts";
import { parseManifest } from "../manifest.ts";

/**
 * The retention that the last seal went by, for a directory whose setting is lost: ten years must not go for the want
 * of a small file. The default where no manifest says, as before the first seal; whoever opens the archive tells of one
 * that is damaged or newer.
 */
export async function sealedRetention(files: Pick<Files, "read">, directory: string): Promise<Retention> {
  const bytes = await readIfThere(files, archivePaths(directory).manifest);
  if (bytes === null) return DEFAULT_RETENTION;
  const manifest = parseManifest(bytes);
  if (!manifest.ok || manifest.value.retention === null) return DEFAULT_RETENTION;
  const retention = FixedRetention.parse(manifest.value.retention);
  return retention.ok ? retention.value : FixedRetention.FOREVER; // Of a newer program: nothing is given up by guess.
}

import { dirname, join } from "node:path";
import { isInArchive, parseDayFolder, parsePartName } from "../../archive/archive-files.ts";
import { isDamageFile } from "../../directory/damaged-files.ts";
import { isInRoot, listTemporaryFiles } from "../../directory/temporary-files.ts";
import type { Files } from "../../runtime/files.ts";
import { isInQuarantine } from "../../service/quarantine/segment.ts";
import { isSegmentName } from "../../wal/segment.ts";

/** The paths of a data directory at which files are put in place. */
export interface WrittenPaths {
  readonly log: string;
  readonly archive: string;
  readonly quarantine: string;
  readonly damaged: string;
  readonly lock: string;
}

/** Temporary files of a data directory: of a crash, or of a process that writes just now. */
export async function findTemporaryFiles(
  files: Pick<Files, "list">,
  { log, archive, quarantine, damaged, lock }: WrittenPaths,
): Promise<string[]> {
  const partFolders = (await files.list(archive)).filter(
    (name) => name === "latest" || parseDayFolder(name) !== null,
  );
  const folders: readonly (readonly [string, (file: string) => boolean])[] = [
    [dirname(lock), isInRoot],
    [archive, isInArchive],
    ...partFolders.map((name) => [join(archive, name), isPart] as const),
    [log, isSegmentName],
    [quarantine, isInQuarantine],
    [damaged, isDamageFile],
  ];
  const found: string[] = [];
  for (const [folder, isOurs] of folders) {
    const names = await listTemporaryFiles(files, folder, isOurs);
    found.push(...names.map((name) => join(folder, name)));
  }
  return found;
}

function isPart(file: string): boolean {
  return parsePartName(file) !== null;
}

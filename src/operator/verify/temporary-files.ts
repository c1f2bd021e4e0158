import { dirname, join } from "node:path";
import { isInArchive, parseDayFolder, parsePartName } from "../../archive/archive-files.ts";
import { isDamageFile } from "../../directory/damaged-files.ts";
import { isErasureReport } from "../../directory/erasure-ledger.ts";
import { isInRoot, listTemporaryFiles } from "../../directory/temporary-files.ts";
import type { Files } from "../../runtime/files.ts";
import { isInQuarantine } from "../../service/quarantine/message-file.ts";
import { isSegmentName } from "../../wal/segment.ts";

/** The paths of a data directory where files are written and then renamed. */
export interface WrittenPaths {
  readonly log: string;
  readonly archive: string;
  readonly quarantine: string;
  readonly damaged: string;
  readonly erasureReports: string;
  readonly lock: string;
}

/** Temporary files of a data directory, left by a crash or by a write in progress. */
export async function findTemporaryFiles(
  files: Pick<Files, "list">,
  { log, archive, quarantine, damaged, erasureReports, lock }: WrittenPaths,
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
    [erasureReports, isErasureReport],
  ];
  const temporary: string[] = [];
  for (const [folder, isOurs] of folders) {
    const names = await listTemporaryFiles(files, folder, isOurs);
    temporary.push(...names.map((name) => join(folder, name)));
  }
  return temporary;
}

function isPart(file: string): boolean {
  return parsePartName(file) !== null;
}

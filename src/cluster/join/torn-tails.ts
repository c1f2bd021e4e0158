import { basename, dirname } from "node:path";
import { HEAD_BYTES } from "../../lib/frames/head.ts";
import type { Files } from "../../runtime/files.ts";
import { readSegments } from "../../service/quarantine/read-segments.ts";
import type { CopyPath } from "./copy-path.ts";
import type { JoiningDirectory } from "./joining-directory.ts";

/**
 * The peer may have been writing to any of these segments while it was read: an entry that was cut short is taken off,
 * and comes over the log. Resolves with what else is wrong with them, a line each.
 */
export async function cutTornTails(
  files: Files,
  target: JoiningDirectory,
  segments: readonly CopyPath[],
): Promise<string[]> {
  const [first] = segments;
  if (first === undefined) return [];
  const problems: string[] = [];
  for (const { path, bytes, isReadable, damage, tornTail } of await readSegments(
    files,
    dirname(target.pathOf(first)),
  )) {
    const file = `quarantine/${basename(path)}`;
    if (!isReadable) {
      problems.push(`${file}: it can't be read`);
      continue;
    }
    const last = tornTail ?? damage.at(-1);
    const isTail = last !== undefined && last.offset >= HEAD_BYTES && last.offset + last.bytes === bytes;
    if (isTail) await cut(files, path, last.offset);
    for (const range of damage) {
      if (!isTail || range !== last)
        problems.push(`${file}: ${range.bytes} damaged bytes at ${range.offset}`);
    }
  }
  return problems;
}

async function cut(files: Files, path: string, bytes: number): Promise<void> {
  const file = await files.openAppend(path);
  try {
    await file.truncate(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

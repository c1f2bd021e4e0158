import { createHash } from "node:crypto";
import { dirname } from "node:path";
import type { Source } from "pmtiles";
import { isObject } from "../../lib/is-object.ts";
import { type AppendFile, type Files, moveDurably, readIfThere } from "../../runtime/files.ts";
import type { CopyPlan, PlannedRequest } from "./copy-plan.ts";
import { REQUESTS_AT_ONCE } from "./remote-archive.ts";

/*
 * Writes the new archive beside its place, from its start to its end, and renames it when it is complete. A small state
 * file says how much of it is on the disk, so that an interrupted copy can continue.
 */

export interface CopyTarget {
  /** Where the complete archive goes. */
  readonly path: string;
  /** Identifies the source; empty if it is not certain that it never changes unnoticed, so nothing is continued. */
  readonly sourceId: string;
}

export interface CopyParts {
  readonly files: Files;
  readonly source: Source;
  readonly signal: AbortSignal;
  /** Checks the complete file before it gets its name. */
  readonly check: (path: string) => Promise<void>;
  onProgress(doneBytes: number): void;
}

interface CopyState {
  readonly sourceId: string;
  readonly headHash: string;
  /** Bytes of the partial file that are on the disk. */
  readonly bytes: number;
}

/** How many bytes an interrupted copy transfers again at most. */
const SYNC_BYTES = 16 * 1024 * 1024;

export function partialPath(path: string): string {
  return `${path}.part`;
}

function statePath(path: string): string {
  return `${path}.part.json`;
}

/** Copies the tiles of a plan. Returns the bytes that an earlier, interrupted copy had left. */
export async function copyArchive(plan: CopyPlan, target: CopyTarget, parts: CopyParts): Promise<number> {
  const { files } = parts;
  const part = partialPath(target.path);
  await files.makeDirectory(dirname(target.path));
  const headHash = createHash("sha256").update(plan.head).digest("base64url");
  const earlierBytes = await continuableBytes(plan, target, headHash, files);
  if (earlierBytes === 0) await files.removeAll(part);
  const file = await files.openAppend(part);
  try {
    if (earlierBytes === 0) await file.append([plan.head]);
    else await file.truncate(earlierBytes);
    const save = async (bytes: number) => {
      await file.sync();
      const state: CopyState = { sourceId: target.sourceId, headHash, bytes };
      await files.replace(statePath(target.path), new TextEncoder().encode(`${JSON.stringify(state)}\n`));
    };
    await copyTiles(plan, earlierBytes, file, save, parts);
  } finally {
    await file.close();
  }
  await parts.check(part);
  await moveDurably(files, part, target.path);
  await files.removeAll(statePath(target.path));
  return earlierBytes;
}

/** How much of the partial file the plan can continue; 0 to begin anew. */
async function continuableBytes(
  plan: CopyPlan,
  { path, sourceId }: CopyTarget,
  headHash: string,
  files: Files,
): Promise<number> {
  const stateBytes = await readIfThere(files, statePath(path));
  const state = stateBytes === null ? null : parseState(stateBytes);
  if (state === null || sourceId === "" || !(await files.exists(partialPath(path)))) return 0;
  const isSame = state.sourceId === sourceId && state.headHash === headHash;
  const isThere = (await files.size(partialPath(path))) >= state.bytes;
  return isSame && isThere && firstRequest(plan, state.bytes) !== -1 ? state.bytes : 0;
}

function parseState(bytes: Uint8Array): CopyState | null {
  try {
    const state: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (!isObject(state)) return null;
    const { sourceId, headHash, bytes: count } = state;
    const isValid = typeof sourceId === "string" && typeof headHash === "string" && typeof count === "number";
    return isValid ? { sourceId, headHash, bytes: count } : null;
  } catch {
    return null; // The copy begins anew.
  }
}

/** The request whose tiles begin after this number of bytes; their count at the end of the archive; -1 if none does. */
function firstRequest({ head, requests, archiveBytes }: CopyPlan, bytes: number): number {
  if (bytes === archiveBytes) return requests.length;
  return requests.findIndex(({ target }) => head.length + target === bytes);
}

async function copyTiles(
  plan: CopyPlan,
  earlierBytes: number,
  file: AppendFile,
  save: (bytes: number) => Promise<void>,
  { source, signal, onProgress }: CopyParts,
): Promise<void> {
  const { requests } = plan;
  const begin = earlierBytes === 0 ? 0 : firstRequest(plan, earlierBytes);
  const running: Promise<Uint8Array>[] = [];
  let begun = begin;
  let bytes = earlierBytes === 0 ? plan.head.length : earlierBytes;
  let savedBytes = earlierBytes;
  let doneBytes = requests.slice(0, begin).reduce((sum, { length }) => sum + length, 0);
  let isWritten = true; // Whether the file ends where a request does.
  try {
    for (const request of requests.slice(begin)) {
      onProgress(doneBytes);
      for (; begun < requests.length && running.length < REQUESTS_AT_ONCE; begun++)
        running.push(fetchRequest(source, requests[begun]!));
      const range = await running.shift()!;
      signal.throwIfAborted();
      isWritten = false;
      const pieces = request.pieces.map(([start, length]) => range.subarray(start, start + length));
      await file.append(pieces);
      isWritten = true;
      bytes += pieces.reduce((sum, { length }) => sum + length, 0);
      doneBytes += request.length;
      if (bytes - savedBytes < SYNC_BYTES) continue;
      await save(bytes);
      savedBytes = bytes;
    }
  } catch (error) {
    // What was written before a full disk or a lost connection is kept.
    if (isWritten && bytes > savedBytes) await save(bytes).catch(() => undefined);
    throw error;
  }
  await file.sync();
}

/** Its failure is reported when its turn comes, perhaps never. */
function fetchRequest(source: Source, { offset, length }: PlannedRequest): Promise<Uint8Array> {
  const range = source.getBytes(offset, length).then(({ data }) => new Uint8Array(data));
  range.catch(() => undefined);
  return range;
}

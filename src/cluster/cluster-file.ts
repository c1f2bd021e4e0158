import { randomBytes } from "node:crypto";
import { directoryPaths } from "../directory/paths.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import { parseHostPort } from "../lib/text/links.ts";
import { parseVersionedJson } from "../lib/text/versioned-json.ts";
import { type Files, readIfThere } from "../runtime/files.ts";
import type { ClusterAddress } from "./cluster-config.ts";
import { parseTakenMessage, type TakenMessage } from "./stream/stream.ts";

/** The cluster of a node's data directory. It holds no secrets, so backups may include it. */
export interface ClusterFile {
  /** Random, created once. Two directories with the same id can't both run. */
  readonly nodeId: string;
  readonly address: ClusterAddress;
  /** The stream's creation time, as text from its servers; null until it is first opened. */
  readonly created: string | null;
  /** The first message that the next start needs: the archive covers all earlier ones. */
  readonly floor: number;
  /** The last message applied before the latest seal. If the stream has another one there, it was restored. */
  readonly lastTaken: TakenMessage | null;
}

/** The file exists but can't be read, so the directory's cluster is unknown. */
export class ClusterFileError extends Error {
  override readonly name = "ClusterFileError";
  constructor(path: string, reason: string) {
    super(`${path} can't be used: ${reason}.`);
  }
}

const FORMAT_VERSION = 2;

const NODE_ID_BYTES = 8;
const NODE_ID = /^[0-9a-f]{16}$/;

/** Bucket and subject names begin with the stream's name. */
const STREAM_NAME = /^[A-Za-z0-9_-]{1,32}$/;

export function isStreamName(text: string): boolean {
  return STREAM_NAME.test(text);
}

export function createClusterFile(address: ClusterAddress): ClusterFile {
  return {
    nodeId: randomBytes(NODE_ID_BYTES).toString("hex"),
    address,
    created: null,
    floor: 1,
    lastTaken: null,
  };
}

/** Null for the directory of a single process. Throws a `ClusterFileError` if the file can't be used. */
export async function readClusterFile(
  files: Pick<Files, "read">,
  dataDir: string,
): Promise<ClusterFile | null> {
  const path = directoryPaths(dataDir).cluster;
  const bytes = await readIfThere(files, path);
  if (bytes === null) return null;
  const parsed = parseClusterFile(bytes);
  if (!parsed.ok) throw new ClusterFileError(path, parsed.error);
  return parsed.value;
}

export async function writeClusterFile(
  files: Pick<Files, "replace">,
  dataDir: string,
  content: ClusterFile,
): Promise<void> {
  await files.replace(directoryPaths(dataDir).cluster, encodeClusterFile(content));
}

export function encodeClusterFile({ nodeId, address, created, floor, lastTaken }: ClusterFile): Uint8Array {
  const { servers, isSecure, stream } = address;
  const members = { version: FORMAT_VERSION, nodeId, servers, isSecure, stream, created, floor, lastTaken };
  return new TextEncoder().encode(`${JSON.stringify(members, null, 2)}\n`);
}

export function parseClusterFile(bytes: Uint8Array): Result<ClusterFile, string> {
  const content = parseVersionedJson(bytes, FORMAT_VERSION);
  return content.ok ? parseClusterMembers(content.value) : content;
}

/** Parses the members of the file, or of a peer's answer. */
export function parseClusterMembers(members: Readonly<Record<string, unknown>>): Result<ClusterFile, string> {
  const { nodeId, created, floor } = members;
  const address = parseAddress(members);
  if (address === null) return fail("the address of its cluster is missing");
  if (typeof nodeId !== "string" || !NODE_ID.test(nodeId)) return fail("the id of its node is missing");
  if (created !== null && typeof created !== "string") return fail("when its stream was created is missing");
  if (typeof floor !== "number" || !Number.isSafeInteger(floor) || floor < 1) {
    return fail("the first message that it needs is missing");
  }
  const lastTaken = parseTakenMessage(members.lastTaken);
  if (lastTaken === undefined) return fail("the last message that it took is missing");
  return ok({ nodeId, address, created, floor, lastTaken });
}

function parseAddress(members: Readonly<Record<string, unknown>>): ClusterAddress | null {
  const { servers, isSecure, stream } = members;
  if (!Array.isArray(servers) || servers.length === 0 || !servers.every(isServer)) return null;
  if (typeof isSecure !== "boolean") return null;
  return typeof stream === "string" && isStreamName(stream) ? { servers, isSecure, stream } : null;
}

function isServer(value: unknown): value is string {
  return typeof value === "string" && parseHostPort(value, 0) === value;
}

import { randomBytes } from "node:crypto";
import type { Files } from "../runtime/files.ts";

/*
 * A data directory's own name: for brokers, which keep messages for it, and for the cluster that it moves into.
 */

const ID_BYTES = 8;
const ID = /^[0-9a-f]{16}$/;

/** Made where there is none that can be used; the same from then on, and no other directory's. */
export async function readDirectoryId(files: Files, path: string): Promise<string> {
  if (await files.exists(path)) {
    const id = parseDirectoryId(await files.read(path));
    if (id !== null) return id;
  }
  const id = randomBytes(ID_BYTES).toString("hex");
  await files.replace(path, new TextEncoder().encode(`${id}\n`));
  return id;
}

/** Null where these bytes are none. */
export function parseDirectoryId(bytes: Uint8Array): string | null {
  const id = new TextDecoder().decode(bytes).trim();
  return ID.test(id) ? id : null;
}

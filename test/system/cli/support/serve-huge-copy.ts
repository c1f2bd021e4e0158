import { mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { encodeManifest, type Part, parseManifest } from "../../../../src/archive/manifest.ts";
import { removeArchiveApps } from "../../../support/archive-app.ts";
import { serveCopies } from "../../../unit/cluster/join/serve-copies.ts";

/**
 * Serves a node's directory whose archive has a part of so many zeros, which take no room on the disk, until its
 * standard input ends. Prints where, and the key that opens it.
 */

const bytes = Number(process.argv[2]);
const served = await serveCopies();
const archive = join(served.source.dataDir, "archive");
const parsed = parseManifest(readFileSync(join(archive, "manifest.json")));
if (!parsed.ok) throw new Error("the manifest is damaged");
const file = "latest/00000777-000.parquet";
mkdirSync(dirname(join(archive, file)), { recursive: true });
writeFileSync(join(archive, file), "");
truncateSync(join(archive, file), bytes);
const part: Part = { file, rows: 1, bytes, crc: crcOfZeros(bytes), apps: new Map(), columns: "" };
writeFileSync(join(archive, "manifest.json"), encodeManifest({ ...parsed.value, latest: [part] }));
console.log(JSON.stringify({ url: served.url, key: served.keys.operator }));
for await (const _ of Bun.stdin.stream());
await served.close();
await removeArchiveApps();
process.exit(0);

function crcOfZeros(bytes: number): number {
  const zeros = new Uint8Array(1_000_000);
  let crc = 0;
  for (let at = 0; at < bytes; at += zeros.length) crc = Bun.hash.crc32(zeros, crc);
  return crc;
}

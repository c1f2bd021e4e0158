import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { AppId } from "../model/ids.ts";
import type { Files } from "../runtime/files.ts";
import type { UtcDay } from "../time/utc-day.ts";
import type { Connection } from "./duckdb.ts";
import type { Manifest, Part, SealedDay } from "./manifest.ts";
import { parseDayFolder, parsePartName } from "./paths.ts";

/**
 * Makes a manifest from the files alone, where the manifest is lost: each says which entries of the log it covers
 * and which files it replaced. A file that was written for a seal that never came to its swap counts too: it
 * says the same as the log. Files that can't be read are left out, and stay where they are.
 */
export async function rebuildManifest(
  files: Files,
  directory: string,
  connection: Connection,
): Promise<Manifest> {
  const found: FoundPart[] = [];
  for (const folder of await files.list(directory)) {
    const day = parseDayFolder(folder);
    if (day === null) continue;
    for (const name of await files.list(join(directory, folder))) {
      const seal = parsePartName(name);
      if (seal === null) continue;
      const part = await describePart(files, directory, `${folder}/${name}`, connection);
      if (part !== null) found.push({ ...part, day, seal });
    }
  }
  const replaced = new Set(found.flatMap(({ replaces }) => replaces));
  const days = new Map<UtcDay, SealedDay>();
  for (const { part, day, sequence } of found.filter(({ part }) => !replaced.has(part.file))) {
    const known = days.get(day) ?? { sequence: 0, parts: [], lost: [] };
    days.set(day, { ...known, sequence: Math.max(known.sequence, sequence), parts: [...known.parts, part] });
  }
  return {
    seal: Math.max(0, ...found.map(({ seal }) => seal)),
    lastSequence: Math.max(0, ...found.map(({ sequence }) => sequence)),
    days,
    latest: null, // The checkpoint is found anew from the parts.
    expired: new Map(),
  };
}

interface DescribedPart {
  readonly part: Part;
  readonly sequence: number;
  readonly replaces: readonly string[];
}

interface FoundPart extends DescribedPart {
  readonly day: UtcDay;
  readonly seal: number;
}

async function describePart(
  files: Files,
  directory: string,
  file: string,
  connection: Connection,
): Promise<DescribedPart | null> {
  const path = join(directory, file);
  const bytes = await files.read(path);
  try {
    const metadata = await connection.run(
      "SELECT decode(key), decode(value) FROM parquet_kv_metadata($path)",
      { path },
    );
    const [keys, values] = [metadata.texts(0), metadata.texts(1)];
    const metadataOf = (key: string) => values[keys.indexOf(key)] ?? null;
    const sequence = Number(metadataOf("wherehouse_sequence"));
    if (metadataOf("wherehouse_format") !== "1" || !Number.isSafeInteger(sequence)) return null;
    const counts = await connection.run(
      "SELECT app_id, count(*)::DOUBLE FROM read_parquet($path) GROUP BY app_id ORDER BY app_id",
      { path },
    );
    const rowsOf = counts.numbers(1);
    const apps = new Map(counts.texts(0).map((appId, row) => [appId as AppId, rowsOf[row]!]));
    const rows = rowsOf.reduce((sum, count) => sum + count, 0);
    const replaces = JSON.parse(metadataOf("wherehouse_replaces") ?? "[]") as string[];
    return { part: { file, rows, bytes: bytes.length, crc: crc32(bytes), apps }, sequence, replaces };
  } catch {
    return null; // DuckDB can't read it: nobody knows what it says. `strayFiles` names it.
  }
}

import { WatchStore } from "../../../src/geofences/watch-store.ts";
import { viewsOf } from "../../../src/lib/frames/views.ts";
import { inOneTurn } from "../../../src/lib/schedule/steps.ts";
import type { AppId } from "../../../src/model/ids.ts";
import {
  decodeWatchEntry,
  encodeWatchEntry,
  type WatchEntry,
} from "../../../src/model/watches/watch-entry.ts";
import { LOOK_DEFAULT, RULES_DEFAULTS } from "../../../src/model/watches/watch-rules.ts";
import { createFenceCity } from "./fence-city.ts";

const MB = 1e6;

interface MemoryOptions {
  /** Whether each fence comes as a start reads it from a file, not as an import makes it. */
  readonly isStart: boolean;
  readonly fences: number;
  readonly corners: number;
  readonly seed: number;
  /** A pause after each of some garbage collections. */
  readonly settleMs: number;
}

/** Growth of a process's memory by the fences of an app, in megabytes. */
export async function measureFenceMemory(options: MemoryOptions): Promise<number> {
  const argv = [process.execPath, import.meta.path, JSON.stringify(options)];
  const child = Bun.spawn(argv, { stdout: "pipe", stderr: "inherit" });
  const said = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error("measuring the memory of fences failed");
  return Number(said);
}

if (import.meta.main) {
  const { isStart, fences, corners, seed, settleMs } = JSON.parse(process.argv[2]!) as MemoryOptions;
  const appId = "bench" as AppId;
  const store = new WatchStore();
  const before = await stableBytes(settleMs);
  const { areas } = createFenceCity(fences, corners, 0, seed);
  for (const [index, area] of areas.entries()) {
    const draft = {
      look: LOOK_DEFAULT,
      terms: { kind: "fence", rules: RULES_DEFAULTS.fence, area },
    } as const;
    const id = `01KDTV3GZ8Q3M5T7V9X${String(index).padStart(7, "0")}`;
    const entry: WatchEntry = {
      ...{ kind: "watch", appId, id, watchKind: "fence", atMs: 1, draft, part: null, past: null },
    };
    if (isStart) store.restore(throughFile(entry));
    else inOneTurn(store.apply(entry, index + 1));
  }
  console.log(((await stableBytes(settleMs)) - before) / MB);
  if (store.find(appId)?.countOf("fence") !== fences) throw new Error("a fence is missing");
}

function throughFile(entry: WatchEntry): WatchEntry {
  const bytes = encodeWatchEntry(entry, 0);
  const decoded = decodeWatchEntry(viewsOf(bytes), 0, bytes.length, "file");
  if (decoded === null) throw new Error("an entry is not as it was encoded");
  return decoded;
}

/** Resident memory after garbage collection, and after the allocator has returned pages. */
async function stableBytes(settleMs: number): Promise<number> {
  for (let i = 0; i < 5; i++) {
    Bun.gc(true);
    await Bun.sleep(settleMs);
  }
  return process.memoryUsage().rss;
}

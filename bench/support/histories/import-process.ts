import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Runtime } from "../../../test/support/server-process.ts";
import { hasProcessFigures, readProcessFigures } from "../../../test/system/soak/support/process-figures.ts";
import { bunForServer } from "../run/profiling.ts";
import type { History, HistoryOptions } from "./history.ts";

/* The whole program imports a file, in a process of its own. */

const APP = "bench";
const PEAK_POLL_MS = 50;

/** A file to import; it lies in a folder of its own. */
export interface HistoryFile {
  readonly path: string;
  readonly bytes: number;
}

export function writeHistory(history: History, options: HistoryOptions): HistoryFile {
  const path = join(mkdtempSync(join(tmpdir(), "wherehouse-bench-history-")), history.fileName);
  const file = openSync(path, "w");
  let bytes = 0;
  try {
    for (const piece of history.pieces(options)) bytes += writeSync(file, piece);
  } finally {
    closeSync(file);
  }
  return { path, bytes };
}

export function removeHistory({ path }: HistoryFile): void {
  rmSync(dirname(path), { recursive: true });
}

/** What became of an import, with what starting and ending the process took. */
export interface ImportEnd {
  readonly seconds: number;
  /** Resident, at its highest; zero where the system does not tell. */
  readonly peakBytes: number;
  /** Positions that are in the directory now, or would be. */
  readonly positions: number;
}

/** Imports into a new directory, in one pass, since no position can be too old; `flags` are more of `import`. */
export async function importHistory(
  runtime: Runtime,
  { path }: HistoryFile,
  flags: readonly string[] = [],
): Promise<ImportEnd> {
  const directory = mkdtempSync(join(tmpdir(), "wherehouse-bench-import-"));
  const [program, ...words] = runtime.command({ directory, files: [path] });
  const launcher = runtime.name === "Bun" ? bunForServer() : [program!];
  const startMs = performance.now();
  const child = Bun.spawn(
    [
      ...[...launcher, ...words, "import", path, "--app", APP, "--data-dir", join(directory, "data")],
      ...["--skip-old", "--json", ...flags],
    ],
    { stdout: "pipe", stderr: "pipe" },
  );
  const peak = watchPeak(child.pid);
  const [out, said, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  const seconds = (performance.now() - startMs) / 1000;
  rmSync(directory, { recursive: true });
  if (code !== 0) throw new Error(`import ended with ${code}: ${said}`);
  const { groups } = JSON.parse(out) as { groups: { usable: number; skipped: number }[] };
  const [{ usable, skipped } = { usable: 0, skipped: 0 }] = groups;
  if (skipped > 0) throw new Error(`${skipped} were skipped: ${said}`);
  return { seconds, peakBytes: peak.stop(), positions: usable };
}

/** What a parent is told of a process that has ended counts the parent's own memory, which it began with. */
function watchPeak(pid: number): { stop(): number } {
  let bytes = 0;
  const timer = setInterval(() => {
    if (!hasProcessFigures) return;
    try {
      bytes = Math.max(bytes, readProcessFigures(pid).peakResidentBytes || 0);
    } catch {
      clearInterval(timer); // It has ended.
    }
  }, PEAK_POLL_MS);
  return {
    stop() {
      clearInterval(timer);
      return bytes;
    },
  };
}

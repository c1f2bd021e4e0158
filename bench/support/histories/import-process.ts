import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Runtime } from "../../../test/support/server-process.ts";
import { hasProcessFigures, readProcessFigures } from "../../../test/system/soak/support/process-figures.ts";
import { bunForServer } from "../run/profiling.ts";
import type { History, HistoryOptions } from "./history.ts";

/* Runs the whole program in a separate process to import a file. */

const APP = "bench";
const PEAK_POLL_MS = 50;

/** A file to import, in a folder of its own. */
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

/** The result of an import, including start and end of the process. */
export interface ImportEnd {
  readonly seconds: number;
  /** Peak resident memory; 0 if the system does not tell. */
  readonly peakBytes: number;
  /** The number of imported positions. */
  readonly positions: number;
}

/** Imports into a new directory, in one pass, since no position is too old; `flags` are more options of `import`. */
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

/** Polls the memory, since the peak that a parent gets includes the parent's own memory at the fork. */
function watchPeak(pid: number): { stop(): number } {
  let bytes = 0;
  const timer = setInterval(() => {
    if (!hasProcessFigures) return;
    try {
      bytes = Math.max(bytes, readProcessFigures(pid).peakResidentBytes || 0);
    } catch {
      clearInterval(timer); // The process has ended.
    }
  }, PEAK_POLL_MS);
  return {
    stop() {
      clearInterval(timer);
      return bytes;
    },
  };
}

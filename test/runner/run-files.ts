import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FileResult, readJunitReport } from "./junit-report.ts";

export interface RunOptions {
  readonly root: string;
  /** How many processes run files at once. */
  readonly processes: number;
  /** For a test that names no other. */
  readonly timeoutMs: number;
  readonly title: string | null;
  readonly changedSince: string | null;
  readonly savesDurations: boolean;
  /** Where goes what the tests say. */
  readonly output: "inherit" | "ignore";
  readonly env: Readonly<Record<string, string>>;
}

/** Runs test files in processes of Bun, the longest first, and says what came of each that ran. */
export async function runFiles(files: readonly string[], options: RunOptions): Promise<FileResult[]> {
  const { root, processes, timeoutMs, title, changedSince, savesDurations, output, env } = options;
  const folder = mkdtempSync(join(tmpdir(), "wherehouse-tests-"));
  const report = join(folder, "report.xml");
  const words = [
    `--timeout=${timeoutMs}`,
    "--reporter=junit",
    `--reporter-outfile=${report}`,
    `--timings=${join(root, "test/durations.json")}`,
    ...(files.length > 1 ? [`--parallel=${processes}`, "--parallel-delay=0"] : []),
    ...(savesDurations ? ["--update-timings"] : []),
    ...(title === null ? [] : ["-t", title]),
    ...(changedSince === null ? [] : [`--changed=${changedSince}`]),
  ];
  try {
    const child = Bun.spawn([process.execPath, "test", ...words, ...files.map((file) => `./${file}`)], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["ignore", output, output],
    });
    const stop = (signal: NodeJS.Signals) => child.kill(signal);
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
    const exitCode = await child.exited;
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
    const results = existsSync(report) ? readJunitReport(readFileSync(report, "utf8")) : [];
    return [...results, ...unreported(files, results, exitCode, title !== null || changedSince !== null)];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A file that could not be loaded, or whose process was ended, counts as one failed test. */
function unreported(
  files: readonly string[],
  results: readonly FileResult[],
  exitCode: number,
  isPartial: boolean,
): FileResult[] {
  const reported = new Set(results.map(({ path }) => path));
  const missing = isPartial ? [] : files.filter((file) => !reported.has(file));
  if (missing.length === 0 && exitCode !== 0 && results.every(({ failed }) => failed === 0))
    missing.push("bun test");
  return missing.map((path) => ({ path, passed: 0, failed: 1, skipped: 0, seconds: 0 }));
}
